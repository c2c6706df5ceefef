package work

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

// Deployment is one admission of a bundle to one cluster.
type Deployment struct {
	Bundle types.NamespacedName
	// Cluster is the ManagedCluster, whose namespace on the hub the work goes to.
	Cluster string
	// AgentNamespace is where the agent runs and looks for its BundleDeployments.
	AgentNamespace string
	// ID, Revision and Admission: what is admitted, from which revision, and the token.
	ID, Revision, Admission string
	Place                   rollout.Place
	MinSuccessTime          time.Duration
	Content                 v1alpha1.ContentSource
	// Options with their Helm values; Build does not change them.
	Options fleet.BundleDeploymentOptions
	Paused  bool
	// AddOnReady is the value of the label that makes the work agent try a work
	// again; "" leaves the label out.
	AddOnReady string
	Stamps     rollout.Stamps
}

// maxSize is what the manifests of a work may have together. OCM's webhook
// refuses 500 KiB; the rest is for what the API server adds.
const maxSize = 450 * 1024

// ErrTooLarge says that the manifests of a work are larger than OCM takes.
var ErrTooLarge = errors.New("the manifests are larger than 450 KiB")

// annotationMinSuccessTime is the minSuccessTime in the work's BundleDeployment,
// beside the workload because the manager's cache does not keep that.
const annotationMinSuccessTime = v1alpha1.GroupName + "/min-success-time"

// valuesKey is the key of the values in their Secret.
const valuesKey = "values.yaml"

// Build returns the ManifestWork of a deployment; the same one for the same
// deployment. The error is ErrTooLarge, or about options that are not JSON; both
// name the bundle and the cluster.
func Build(d Deployment) (*workv1.ManifestWork, error) {
	spec, err := specOf(d)
	if err != nil {
		return nil, err
	}
	shape, err := Shape(d)
	if err != nil {
		return nil, err
	}
	state, err := json.Marshal(d.Stamps)
	if err != nil {
		return nil, d.wrap(err)
	}
	w := &workv1.ManifestWork{
		TypeMeta: metav1.TypeMeta{APIVersion: workv1.GroupVersion.String(), Kind: "ManifestWork"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: d.Cluster,
			Name:      Name(d.Bundle),
			Labels:    Labels(d.Bundle),
			Annotations: map[string]string{
				v1alpha1.AnnotationBundle:    d.Bundle.String(),
				v1alpha1.AnnotationID:        d.ID,
				v1alpha1.AnnotationRevision:  d.Revision,
				v1alpha1.AnnotationAdmission: d.Admission,
				v1alpha1.AnnotationLane:      d.Place.Lane,
				v1alpha1.AnnotationGroup:     formatGroup(d.Place.GroupKey),
				v1alpha1.AnnotationState:     string(state),
				v1alpha1.AnnotationHash:      shape,
				annotationMinSuccessTime:     d.MinSuccessTime.String(),
			},
		},
		Spec: spec,
	}
	if d.AddOnReady != "" {
		w.Labels[v1alpha1.LabelAddOnReady] = d.AddOnReady
	}
	return w, nil
}

// Shape is the hash of all that the work of a deployment says to the cluster,
// but for what belongs to one admission: its token and its minSuccessTime.
func Shape(d Deployment) (string, error) {
	d.Admission, d.MinSuccessTime = "", 0
	spec, err := specOf(d)
	if err != nil {
		return "", err
	}
	data, err := json.Marshal(spec)
	if err != nil {
		return "", d.wrap(err)
	}
	return hash(data), nil
}

func specOf(d Deployment) (workv1.ManifestWorkSpec, error) {
	objects, err := Objects(d)
	if err != nil {
		return workv1.ManifestWorkSpec{}, err
	}
	spec := workv1.ManifestWorkSpec{
		// Foreground with keepResources too: the BundleDeployment goes, and its spec
		// tells the agent what to keep.
		DeleteOption:    &workv1.DeleteOption{PropagationPolicy: workv1.DeletePropagationPolicyTypeForeground},
		ManifestConfigs: []workv1.ManifestConfigOption{d.feedback()},
	}
	size := 0
	for _, object := range objects {
		raw, err := json.Marshal(object)
		if err != nil {
			return workv1.ManifestWorkSpec{}, d.wrap(err)
		}
		size += len(raw)
		spec.Workload.Manifests = append(spec.Workload.Manifests, workv1.Manifest{RawExtension: runtime.RawExtension{Raw: raw}})
	}
	if size > maxSize {
		return workv1.ManifestWorkSpec{}, d.wrap(fmt.Errorf("%w: %d bytes; make the Helm values smaller", ErrTooLarge, size))
	}
	return spec, nil
}

// Objects are what a work brings to the cluster, as they are written in JSON: the Secret
// with the Helm values, if there are any, and the BundleDeployment.
func Objects(d Deployment) ([]metav1.Object, error) {
	options, values, err := SplitValues(d.Options)
	if err != nil {
		return nil, d.wrap(err)
	}
	bd := v1alpha1.BundleDeploymentSpec{
		Bundle:       d.Bundle.String(),
		DeploymentID: d.ID,
		Admission:    d.Admission,
		Paused:       d.Paused,
		Content:      d.Content,
		Options:      options,
	}
	if d.MinSuccessTime != 0 {
		bd.MinSuccessTime = &metav1.Duration{Duration: d.MinSuccessTime}
	}
	var objects []metav1.Object
	if values != nil {
		bd.ValuesSecret, bd.ValuesHash = valuesName(d.Bundle), hash(values)
		objects = append(objects, d.secret(values))
	}
	// The Secret stands first: the agent would wait for it anyway, and need not.
	return append(objects, d.manifest(bd)), nil
}

// SplitValues returns the options without Helm values, and the values as YAML,
// nil if there are none. It shares the rest with the options that it is given.
func SplitValues(o fleet.BundleDeploymentOptions) (fleet.BundleDeploymentOptions, []byte, error) {
	if o.Helm != nil && len(o.Helm.TemplateValues) > 0 {
		// They would stand in clear where values do not.
		return o, nil, errors.New("spec.helm.templateValues were not rendered for the cluster")
	}
	if o.Helm == nil || o.Helm.Values == nil {
		return o, nil, nil
	}
	values := o.Helm.Values.Data
	helm := *o.Helm
	helm.Values, o.Helm = nil, &helm
	if len(values) == 0 {
		return o, nil, nil
	}
	data, err := yaml.Marshal(values)
	if err != nil {
		// The library's error can show the value.
		return o, nil, errors.New("spec.helm.values cannot be written as YAML")
	}
	return o, data, nil
}

func (d Deployment) secret(values []byte) *corev1.Secret {
	return &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: d.meta(valuesName(d.Bundle)),
		Type:       corev1.SecretTypeOpaque,
		Data:       map[string][]byte{valuesKey: values},
	}
}

// manifest is a BundleDeployment without its status, which is the agent's.
type manifest struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              v1alpha1.BundleDeploymentSpec `json:"spec"`
}

func (d Deployment) manifest(spec v1alpha1.BundleDeploymentSpec) *manifest {
	return &manifest{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "BundleDeployment"},
		ObjectMeta: d.meta(Name(d.Bundle)),
		Spec:       spec,
	}
}

func (d Deployment) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace:   d.AgentNamespace,
		Name:        name,
		Labels:      Labels(d.Bundle),
		Annotations: map[string]string{v1alpha1.AnnotationBundle: d.Bundle.String()},
	}
}

func (d Deployment) wrap(err error) error {
	return fmt.Errorf("work of Bundle %s for cluster %s: %w", d.Bundle, d.Cluster, err)
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
