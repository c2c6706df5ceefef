package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Content is the files of a bundle, stored once and named by their hash. It is
// immutable; the agents fetch it by name and verify it.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,path=contents,categories=fleet
// +kubebuilder:printcolumn:name="Size",type=integer,JSONPath=`.size`,description="Compressed size in bytes"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Content struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// content is the gzip of the canonical JSON of the bundle's resources, base64
	// in JSON. The object's name is "s-" and the first 61 hex digits of the
	// SHA-256 of the uncompressed JSON.
	Content []byte `json:"content"`
	// sha256sum is the whole SHA-256 of the uncompressed JSON, in hex.
	SHA256Sum string `json:"sha256sum"`
	// size is the number of compressed bytes.
	Size int64 `json:"size"`
}

// ContentList is a list of Content.
//
// +kubebuilder:object:root=true
type ContentList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Content `json:"items"`
}
