package bundle

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"
)

// options are what a fleet.yaml says.
type options struct {
	fleet.FleetYAML
	extra

	file     *yamlFile
	warnings []string
}

// extra is what Fleet takes too, although its type has no field for it.
type extra struct {
	// Annotations go to the Bundle.
	Annotations map[string]string `json:"annotations,omitempty"`
}

// notWritten are fields of a Bundle that whoever makes it sets; in a fleet.yaml they would
// point at content and values that are not those of the directory.
var notWritten = map[string]bool{"resources": true, "contentsId": true, "helmOpOptions": true, "valuesHash": true}

// readOptions decodes a fleet.yaml or a file of its kind. shown is its path for people, or
// that of the directory where there is none.
func readOptions(shown string, data []byte, lenient bool) (*options, error) {
	o := &options{}
	file, warnings, err := decode(shown, data, reflect.TypeOf(o), notWritten, lenient, &o.FleetYAML, &o.extra)
	if err != nil {
		return nil, err
	}
	o.file, o.warnings = file, warnings
	// The lenient way leaves them in.
	o.Resources, o.ContentsID, o.HelmOpOptions, o.ValuesHash = nil, "", nil, ""
	return o, o.validate(lenient)
}

// decode reads a document that has the fields of a type into one or several values, each of
// which takes what it knows. Unknown fields are an error, or warnings if lenient.
func decode(shown string, data []byte, t reflect.Type, without map[string]bool, lenient bool, into ...any) (*yamlFile, []string, error) {
	file, err := parseYAML(shown, data)
	if err != nil {
		return nil, nil, err
	}
	if file.root == nil {
		return file, nil, nil
	}
	s := shape{file: file, without: without}
	if err := s.check(file.root, t, ""); err != nil {
		return nil, nil, err
	}
	if file.second != nil {
		s.unknown = append(s.unknown, file.at(file.second)+": a second document begins here, and only the first one counts")
	}
	if len(s.unknown) > 0 && !lenient {
		return nil, nil, errors.New(strings.Join(s.unknown, "\n"))
	}
	for i := range s.unknown {
		s.unknown[i] += " (ignored)"
	}
	// The decoder of Kubernetes, and of Fleet: it knows yes and no for true and false, and
	// makes texts of some numbers where a text is needed.
	for _, one := range into {
		if err := yaml.Unmarshal(data, one); err != nil {
			if len(s.loose) > 0 {
				return nil, nil, errors.New(strings.Join(s.loose, "\n"))
			}
			return nil, nil, fmt.Errorf("%s: %w", shown, err)
		}
	}
	return file, s.unknown, nil
}

func (o *options) validate(lenient bool) error {
	if o.Name != "" {
		if problems := validation.IsDNS1123Subdomain(o.Name); len(problems) > 0 {
			return fmt.Errorf("%s: name %q cannot be the name of a Bundle: %s", o.file.find("name"), o.Name, problems[0])
		}
	}
	for i, ref := range o.DependsOn {
		if err := o.dependency(i, ref); err != nil {
			return err
		}
	}
	if len(o.ImageScans) > 0 {
		sentence := o.file.find("imageScans") + ": imageScans is not supported; remove it, and let a tool of the repository update its images"
		if !lenient {
			return errors.New(sentence)
		}
		o.warnings = append(o.warnings, sentence+" (ignored)")
	}
	return nil
}

func (o *options) dependency(i int, ref fleet.BundleRef) error {
	if ref.Name == "" && ref.Selector == nil {
		return fmt.Errorf("%s: dependsOn[%d] names no bundle; set its name or its selector", o.file.find("dependsOn", i), i)
	}
	for j, state := range ref.AcceptedStates {
		if _, known := fleet.StateRank[state]; !known {
			return fmt.Errorf("%s: dependsOn[%d].acceptedStates[%d] is %q; choose among %s",
				o.file.find("dependsOn", i, "acceptedStates", j), i, j, state, states())
		}
	}
	return nil
}

// states lists the states of a bundle, the best one first.
func states() string {
	all := make([]string, 0, len(fleet.StateRank))
	for state := range fleet.StateRank {
		all = append(all, string(state))
	}
	slices.SortFunc(all, func(a, b string) int {
		return fleet.StateRank[fleet.BundleState(a)] - fleet.StateRank[fleet.BundleState(b)]
	})
	return strings.Join(all, ", ")
}
