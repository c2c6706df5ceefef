package revision

import (
	"encoding/json"
	"errors"
	"fmt"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/target"
	"open-cluster-management.io/fleet-addon/pkg/work"
)

// MaxValues is how many bytes of values fit into a Secret.
const MaxValues = corev1.MaxSecretSize

const (
	// SecretType of the Secrets with values.
	SecretType corev1.SecretType = v1alpha1.GroupName + "/revision-values"
	// SecretKey of the values in their Secret.
	SecretKey = "values.json"
)

// ErrMismatch says that what is kept is not what was written.
var ErrMismatch = errors.New("what is kept of it does not have its hash")

// document is the data of a ControllerRevision.
type document struct {
	// Content is the name of the Content with the files.
	Content string `json:"content"`
	// Values is true when the values stand in a Secret.
	Values bool `json:"values,omitempty"`
	// Spec is the bundle's, without files, values, and what is no part of a revision:
	// pause and rollout strategy. Strip leaves it out.
	Spec *fleet.BundleSpec `json:"spec,omitempty"`
}

// Revision is one revision of a bundle, to be kept.
type Revision struct {
	Bundle types.NamespacedName
	// Owner is the Bundle.
	Owner metav1.OwnerReference
	// Hash is target.Revision, Content the name of its files' Content.
	Hash, Content string
	// Number is the place in the bundle's history, from 1.
	Number int64
	// Commit that the bundle was made from; "" if it does not say.
	Commit string
	spec   fleet.BundleSpec
	values []byte
}

// Of returns the revision of a bundle whose files are in a Content. An error names no
// values.
func Of(b *fleet.Bundle, owner metav1.OwnerReference, content string) (*Revision, error) {
	spec := b.Spec
	// Not copied, as they can be a megabyte.
	spec.Resources, spec.RolloutStrategy, spec.Paused = nil, nil, false
	spec = *spec.DeepCopy()
	v, err := takeValues(&spec)
	if err != nil {
		return nil, fmt.Errorf("revision of Bundle %s/%s: %w", b.Namespace, b.Name, err)
	}
	return &Revision{
		Bundle: types.NamespacedName{Namespace: b.Namespace, Name: b.Name}, Owner: owner,
		Hash: target.Revision(b, content), Content: content, Commit: b.Labels[fleet.CommitLabel],
		spec: spec, values: v,
	}, nil
}

// HasValues tells whether there is a Secret to be written.
func (r *Revision) HasValues() bool { return r.values != nil }

// Size of the values in bytes.
func (r *Revision) Size() int { return len(r.values) }

// Build returns the ControllerRevision.
func (r *Revision) Build() (*appsv1.ControllerRevision, error) {
	data, err := json.Marshal(document{Content: r.Content, Values: r.HasValues(), Spec: &r.spec})
	if err != nil {
		return nil, fmt.Errorf("revision %s of Bundle %s: %w", r.Hash, r.Bundle, err)
	}
	meta := r.meta(Name(r.Bundle, r.Hash), r.Owner)
	if r.Commit != "" {
		meta.Annotations[v1alpha1.AnnotationCommit] = r.Commit
	}
	return &appsv1.ControllerRevision{ObjectMeta: meta, Data: runtime.RawExtension{Raw: data}, Revision: r.Number}, nil
}

// Secret returns the values as a Secret that goes with the ControllerRevision, once
// that has a UID. Call it only if HasValues.
func (r *Revision) Secret(cr *appsv1.ControllerRevision) *corev1.Secret {
	no, yes := false, true
	meta := r.meta(SecretName(cr.Name), metav1.OwnerReference{
		APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "ControllerRevision", Name: cr.Name, UID: cr.UID, BlockOwnerDeletion: &no,
	})
	return &corev1.Secret{ObjectMeta: meta, Immutable: &yes, Type: SecretType, Data: map[string][]byte{SecretKey: r.values}}
}

func (r *Revision) meta(name string, owner metav1.OwnerReference) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: r.Bundle.Namespace, Name: name, Labels: work.Labels(r.Bundle),
		Annotations: map[string]string{
			v1alpha1.AnnotationBundle: r.Bundle.String(), v1alpha1.AnnotationRevision: r.Hash,
		},
		OwnerReferences: []metav1.OwnerReference{owner},
	}
}

// Kept is what a ControllerRevision says of where the rest is.
type Kept struct {
	// Content with the files.
	Content string
	// Values is true when there is a Secret.
	Values bool
}

// Read returns where the rest of a ControllerRevision is, of one that Strip has been
// at as well.
func Read(cr *appsv1.ControllerRevision) (Kept, error) {
	d, err := parse(cr)
	return Kept{Content: d.Content, Values: d.Values}, err
}

// Open returns the spec that a whole ControllerRevision holds, without files, pause
// and rollout strategy. v are the values of its Secret, nil if it has none. The error
// is ErrMismatch if that is not the revision's.
func Open(cr *appsv1.ControllerRevision, v []byte) (*fleet.BundleSpec, error) {
	d, err := parse(cr)
	if err != nil {
		return nil, err
	}
	if d.Spec == nil {
		return nil, fmt.Errorf("ControllerRevision %s/%s: %w", cr.Namespace, cr.Name, ErrMismatch)
	}
	if d.Values {
		if err := putValues(d.Spec, v); err != nil {
			return nil, fmt.Errorf("ControllerRevision %s/%s: %w: %w", cr.Namespace, cr.Name, ErrMismatch, err)
		}
	}
	if got := target.Revision(&fleet.Bundle{Spec: *d.Spec}, d.Content); got != Hash(cr) {
		return nil, fmt.Errorf("ControllerRevision %s/%s: %w, but %s", cr.Namespace, cr.Name, ErrMismatch, got)
	}
	return d.Spec, nil
}

func parse(cr *appsv1.ControllerRevision) (document, error) {
	var d document
	if err := json.Unmarshal(cr.Data.Raw, &d); err != nil || len(validation.IsDNS1123Label(d.Content)) > 0 {
		// The library's error can show a part of the spec.
		return d, fmt.Errorf("ControllerRevision %s/%s: its data is not what this add-on writes", cr.Namespace, cr.Name)
	}
	return d, nil
}

// Strip is a transform for a cache of ControllerRevisions: it takes the specs out,
// which are read live when they are needed. Of what this add-on has not written
// nothing is left: anybody in the namespace can write a megabyte under its label.
func Strip(object any) (any, error) {
	cr, ok := object.(*appsv1.ControllerRevision)
	if !ok {
		return object, nil
	}
	cr.ManagedFields = nil
	d, err := parse(cr)
	if err != nil {
		cr.Data.Raw = nil
		return cr, nil //nolint:nilerr // whoever reads it finds the same error
	}
	d.Spec = nil
	data, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	cr.Data.Raw = data
	return cr, nil
}
