package deployment

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/content"
	"open-cluster-management.io/fleet-addon/pkg/target"
)

const (
	// ownKey is the key of the values in our Secrets; fleetsKey and stagedKey are those
	// in Fleet's.
	ownKey    = "values.yaml"
	fleetsKey = "values"
	stagedKey = "stagedValues"
)

// Deployment is what one cluster is to deploy of a bundle.
type Deployment struct {
	// Cluster that it is for; "" if nothing says so.
	Cluster string
	// Object is the BundleDeployment, in the form of our own kind.
	Object *v1alpha1.BundleDeployment
	Files  []content.File
	// Values for Helm as YAML; nil if there are none.
	Values []byte
}

// open gets the files and values of an entry, and verifies both.
func (s *Set) open(e entry) (*Deployment, error) {
	d := &Deployment{Cluster: e.cluster, Object: e.object.DeepCopy()}
	if err := s.nameContent(d); err != nil {
		return nil, err
	}
	gz, err := s.packed(d.Object.Spec.Content)
	if err != nil {
		return nil, err
	}
	resources, err := content.Unpack(d.Object.Spec.Content.Name, gz)
	if err != nil {
		return nil, err
	}
	if d.Files, err = content.Files(resources); err != nil {
		return nil, fmt.Errorf("content %s: %w", d.Object.Spec.Content.Name, err)
	}
	if d.Values, err = s.values(e); err != nil {
		return nil, err
	}
	return d, identify(d)
}

// nameContent finds the content of a BundleDeployment that does not name it.
func (s *Set) nameContent(d *Deployment) error {
	from := &d.Object.Spec.Content
	switch {
	case from.Name != "":
	case len(s.contents) == 1:
		for name := range s.contents {
			from.Name = name
		}
	case len(s.contents) == 0:
		return errors.New("no Content with its files: `fleetctl target` writes both into one file")
	default:
		return fmt.Errorf("it does not say which Content has its files; there are %s", s.contentNames())
	}
	return nil
}

// packed is the compressed content.
func (s *Set) packed(from v1alpha1.ContentSource) ([]byte, error) {
	if len(from.Inline) > 0 {
		return from.Inline, nil
	}
	c := s.contents[from.Name]
	if c == nil && s.Fetch != nil {
		var err error
		if c, err = s.Fetch(from.Name); err != nil {
			return nil, err
		}
		s.contents[from.Name] = c
	}
	switch {
	case c == nil && len(s.contents) == 0:
		return nil, fmt.Errorf("no Content %s with its files: `fleetctl target` writes both into one file", from.Name)
	case c == nil:
		return nil, fmt.Errorf("no Content %s with its files; there are %s", from.Name, s.contentNames())
	case c.SHA256Sum != "" && content.Name(c.SHA256Sum) != from.Name:
		return nil, fmt.Errorf("content %s: %w: sha256sum is %s", from.Name, content.ErrMismatch, c.SHA256Sum)
	}
	return c.Content, nil
}

func (s *Set) contentNames() string {
	return strings.Join(slices.Sorted(maps.Keys(s.contents)), ", ")
}

// values are those of the Secret that the entry names and that have its hash, or those
// that stand in the entry itself.
func (s *Set) values(e entry) ([]byte, error) {
	spec := e.object.Spec
	if spec.ValuesSecret == "" {
		return e.inline, nil
	}
	named := false
	for i := range s.secrets {
		if s.secrets[i].Name != spec.ValuesSecret {
			continue
		}
		named = true
		values, sum := s.secrets[i].Data[ownKey], hash(s.secrets[i].Data[ownKey])
		if e.fleets {
			// Fleet keeps what is deployed and what comes next in one Secret.
			values = s.secrets[i].Data[fleetsKey]
			sum = hash(slices.Concat(values, s.secrets[i].Data[stagedKey]))
		}
		if spec.ValuesHash == "" || sum == spec.ValuesHash {
			return values, nil
		}
	}
	if named {
		return nil, fmt.Errorf("the Secret %s does not have the values of spec.valuesHash", spec.ValuesSecret)
	}
	return nil, fmt.Errorf("no Secret %s with its Helm values: put it beside the BundleDeployment", spec.ValuesSecret)
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// identify gives an id to a BundleDeployment that has none, as one that was written by
// hand.
func identify(d *Deployment) error {
	if d.Object.Spec.DeploymentID != "" {
		return nil
	}
	id, err := target.DeploymentID(d.Object.Spec.Content.Name, d.Object.Spec.Options)
	if err != nil {
		return err
	}
	// Other values are another deployment.
	d.Object.Spec.DeploymentID = id + "-" + hash(d.Values)[:10]
	return nil
}

// ValueMap are the Helm values as a map. Its error quotes none.
func (d *Deployment) ValueMap() (map[string]any, error) {
	values := map[string]any{}
	if err := yaml.Unmarshal(d.Values, &values); err != nil {
		return nil, fmt.Errorf("the Helm values of %s are no YAML map", d.Object.Spec.Bundle)
	}
	return values, nil
}

// fieldOf says which field has the wrong type, without its value.
func fieldOf(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		return fmt.Errorf("%s is not a %s", wrong.Field, wrong.Type)
	}
	return errors.New("compare it with what `fleetctl target` writes")
}
