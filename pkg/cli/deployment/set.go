package deployment

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/manifest"
)

// Set is what some objects say to deploy, for one cluster or for many.
type Set struct {
	// Fetch gets a Content that is not among the objects; nil says that there is no other
	// place. The error should name the Content.
	Fetch func(name string) (*v1alpha1.Content, error)

	source   string
	entries  []entry
	contents map[string]*v1alpha1.Content
	secrets  []corev1.Secret
}

// entry is one BundleDeployment, in the form of our own kind.
type entry struct {
	cluster string
	object  *v1alpha1.BundleDeployment
	// fleets is true for one of Fleet's kind, whose values are found in another way.
	fleets bool
	// inline are the values that stand in it, as JSON; only Fleet's kind has any.
	inline []byte
}

// Read reads a stream of YAML or JSON. source is how errors name it, such as the file.
// Kinds that have nothing to do with it are passed over.
func Read(source string, stream []byte) (*Set, error) {
	objects, err := manifest.Documents(stream)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	return Of(source, objects)
}

// Of takes objects that were read already.
func Of(source string, objects []*unstructured.Unstructured) (*Set, error) {
	s := &Set{source: source, contents: map[string]*v1alpha1.Content{}}
	for _, o := range objects {
		take, ok := kinds[o.GroupVersionKind().GroupKind()]
		if !ok {
			continue
		}
		raw, err := o.MarshalJSON()
		if err == nil {
			err = take(s, raw)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %s %s: %w", source, o.GetKind(), o.GetName(), err)
		}
	}
	return s, nil
}

// kinds are what is read, of any version: an unknown one fails by its fields.
var kinds = map[schema.GroupKind]func(*Set, []byte) error{
	{Group: v1alpha1.GroupName, Kind: "Content"}:                      (*Set).takeContent,
	{Group: fleet.SchemeGroupVersion.Group, Kind: "Content"}:          (*Set).takeContent,
	{Group: v1alpha1.GroupName, Kind: "BundleDeployment"}:             (*Set).takeOwn,
	{Group: fleet.SchemeGroupVersion.Group, Kind: "BundleDeployment"}: (*Set).takeFleets,
	{Group: corev1.SchemeGroupVersion.Group, Kind: "Secret"}:          (*Set).takeSecret,
}

// takeContent reads a Content of either kind: they have the same fields.
func (s *Set) takeContent(raw []byte) error {
	c := &v1alpha1.Content{}
	if err := decode(raw, c); err != nil {
		return err
	}
	s.contents[c.Name] = c
	return nil
}

func (s *Set) takeOwn(raw []byte) error {
	bd := &v1alpha1.BundleDeployment{}
	if err := decode(raw, bd); err != nil {
		return err
	}
	if bd.Spec.Bundle == "" {
		return errors.New("spec.bundle: is missing; it is NAMESPACE/NAME of the bundle")
	}
	s.entries = append(s.entries, entry{cluster: bd.Annotations[v1alpha1.AnnotationCluster], object: bd})
	return nil
}

func (s *Set) takeSecret(raw []byte) error {
	secret := corev1.Secret{}
	if err := decode(raw, &secret); err != nil {
		return err
	}
	for key, text := range secret.StringData {
		if secret.Data == nil {
			secret.Data = map[string][]byte{}
		}
		secret.Data[key] = []byte(text)
	}
	s.secrets = append(s.secrets, secret)
	return nil
}

// decode does not say what the library says, which can quote values.
func decode(raw []byte, into any) error {
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("its fields are not those of the kind: %w", fieldOf(err))
	}
	return nil
}

// Clusters names the clusters that have something to deploy, each once.
func (s *Set) Clusters() []string {
	var out []string
	for _, e := range s.entries {
		if !slices.Contains(out, e.cluster) {
			out = append(out, e.cluster)
		}
	}
	slices.Sort(out)
	return out
}

// Choose returns the one deployment for a cluster and of a name, each "" for any. The
// name is that of the BundleDeployment or of the bundle. It is an error that names the
// choices if it is not exactly one.
func (s *Set) Choose(cluster, name string) (*Deployment, error) {
	var found []entry
	for _, e := range s.entries {
		if (cluster == "" || e.cluster == cluster) && (name == "" || name == e.object.Name || name == e.bundleName()) {
			found = append(found, e)
		}
	}
	switch {
	case len(s.entries) == 0:
		return nil, fmt.Errorf("%s: no BundleDeployment in it: `fleetctl target` makes such a file of a Bundle", s.source)
	case len(found) == 0:
		return nil, fmt.Errorf("%s: no BundleDeployment for%s; there are: %s", s.source, asked(cluster, name), choices(s.entries))
	case len(found) > 1:
		return nil, fmt.Errorf("%s: %d BundleDeployments; choose one with --cluster or --name: %s", s.source, len(found), choices(found))
	}
	d, err := s.open(found[0])
	if err != nil {
		return nil, fmt.Errorf("%s: BundleDeployment %s: %w", s.source, found[0].object.Name, err)
	}
	return d, nil
}

func asked(cluster, name string) string {
	text := ""
	if cluster != "" {
		text += " cluster " + cluster
	}
	if name != "" {
		text += " name " + name
	}
	return text
}

func choices(entries []entry) string {
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.object.Name
		if e.cluster != "" {
			names[i] += " for cluster " + e.cluster
		}
	}
	return strings.Join(names, ", ")
}

func (e entry) bundleName() string {
	return e.object.Spec.Bundle[strings.LastIndex(e.object.Spec.Bundle, "/")+1:]
}
