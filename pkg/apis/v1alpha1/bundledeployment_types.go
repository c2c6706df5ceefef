package v1alpha1

import (
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BundleDeployment tells the agent of a managed cluster what to deploy. The hub
// sends it in a ManifestWork; its status comes back as feedback. People read it,
// nobody edits it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=bundledeployments,shortName=fbd,categories=fleet
// +kubebuilder:printcolumn:name="Bundle",type=string,JSONPath=`.spec.bundle`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.state`
// +kubebuilder:printcolumn:name="Release",type=string,JSONPath=`.status.release`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.message`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type BundleDeployment struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   BundleDeploymentSpec   `json:"spec"`
	Status BundleDeploymentStatus `json:"status,omitempty"`
}

// BundleDeploymentSpec is one admission of a bundle to one cluster.
type BundleDeploymentSpec struct {
	// bundle is "namespace/name" of the Bundle on the hub.
	Bundle string `json:"bundle"`
	// deploymentID identifies content and options: the content's name, a colon and
	// the hash of the rendered options. Equal ids deploy the same thing.
	DeploymentID string `json:"deploymentID"`
	// admission is the token of this admission; the status echoes it, so that a
	// verdict on an earlier admission is never taken for one on this.
	Admission string `json:"admission"`
	// minSuccessTime is how long the release has to be ready without a break
	// before the agent reports `soaked`. Unset means 0.
	// +optional
	MinSuccessTime *metav1.Duration `json:"minSuccessTime,omitempty"`
	// paused leaves what is deployed as it is. Unset means false.
	// +optional
	Paused bool `json:"paused,omitempty"`
	// content says where the bundle's files are.
	Content ContentSource `json:"content"`
	// options are the bundle's options merged and rendered for this cluster,
	// without Helm values.
	// +optional
	Options fleet.BundleDeploymentOptions `json:"options,omitempty"`
	// valuesSecret names the Secret beside this object whose key `values.yaml`
	// holds the Helm values. Unset: the chart's own values.
	// +optional
	ValuesSecret string `json:"valuesSecret,omitempty"`
	// valuesHash is the SHA-256 of the values in hex: the agent waits for a Secret
	// that has it, so that new options never meet old values.
	// +optional
	ValuesHash string `json:"valuesHash,omitempty"`
}

// ContentSource is where the files of a bundle are.
type ContentSource struct {
	// name of the Content on the hub; it is the hash that the agent verifies.
	Name string `json:"name"`
	// inline is the compressed content itself where it is small (8 KiB or less).
	// Unset: the agent fetches it from the hub by name.
	// +optional
	Inline []byte `json:"inline,omitempty"`
}

// Condition types of a BundleDeployment.
const (
	// BundleDeploymentReady is True when the release is deployed and all its
	// objects are ready.
	BundleDeploymentReady = "Ready"
	// BundleDeploymentDeployed is True when the release of this admission was
	// installed or upgraded.
	BundleDeploymentDeployed = "Deployed"
)

// BundleDeploymentStatus is what the agent says of the current admission. The
// hub reads the flat fields as feedback; messages are cut at 1,024 bytes and
// never hold values.
type BundleDeploymentStatus struct {
	// observedGeneration is the generation that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// admission is the token that this verdict is for.
	// +optional
	Admission string `json:"admission,omitempty"`
	// appliedDeploymentID is the id of the release that is deployed now.
	// +optional
	AppliedDeploymentID string `json:"appliedDeploymentID,omitempty"`
	// applied is true when the release of this admission is deployed.
	Applied bool `json:"applied"`
	// ready is true when applied and every object of the release is ready.
	Ready bool `json:"ready"`
	// readySince is a token in the form of an RFC 3339 time with microseconds, set
	// anew for every admission and after every loss of readiness. The hub compares
	// it for equality only.
	// +optional
	ReadySince string `json:"readySince,omitempty"`
	// soaked is the minSuccessTime, as a Go duration, that was over without a break
	// since readySince when the agent last looked; empty before.
	// +optional
	Soaked string `json:"soaked,omitempty"`
	// terminal is true when this admission failed with an error that no retry can
	// cure; it stays until the next admission.
	Terminal bool `json:"terminal"`
	// waitingForDependency is true while another bundle is waited for.
	WaitingForDependency bool `json:"waitingForDependency"`
	// state in Fleet's words: WaitApplied, ErrApplied, NotReady, Modified, Ready.
	// +optional
	State string `json:"state,omitempty"`
	// message is one sentence: what is wrong or waited for, and where.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Message string `json:"message,omitempty"`
	// release is "namespace/name:revision" of the Helm release.
	// +optional
	Release string `json:"release,omitempty"`
	// resources counts the objects of the release.
	// +optional
	Resources int32 `json:"resources,omitempty"`
	// nonReady lists up to 10 objects that are not ready.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	// +optional
	NonReady []ObjectState `json:"nonReady,omitempty"`
	// conditions are Deployed and Ready.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ObjectState is one object of a release that is not ready.
type ObjectState struct {
	// kind is "Kind" or "Kind.group".
	Kind string `json:"kind"`
	// namespace of the object; empty for a cluster-scoped one.
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// name of the object.
	Name string `json:"name"`
	// state is the kstatus word: InProgress, Failed, Terminating, NotFound, Unknown.
	State string `json:"state"`
	// message says what is missing.
	// +optional
	Message string `json:"message,omitempty"`
}

// BundleDeploymentList is a list of BundleDeployments.
//
// +kubebuilder:object:root=true
type BundleDeploymentList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []BundleDeployment `json:"items"`
}
