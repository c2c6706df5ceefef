package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/fleet-addon/pkg/cli/targeting"
	"open-cluster-management.io/fleet-addon/pkg/target"
)

// targetPrinter prints what became of one bundle after the other.
type targetPrinter struct {
	out, errOut io.Writer
	format      string
	inputs      bool

	said     []string
	contents map[string]bool
	// objects and explained are printed at the end, as one list.
	objects   []any
	explained []targetData
	errs      []error
}

// notes says each sentence once.
func (p *targetPrinter) notes(sentences []string) {
	for _, s := range sentences {
		if !slices.Contains(p.said, s) {
			p.said = append(p.said, s)
			fmt.Fprintln(p.errOut, "Note:", s)
		}
	}
}

// held says why the manager would not deploy a bundle.
func (p *targetPrinter) held(b *fleet.Bundle) {
	for _, err := range target.Validate(b) {
		fmt.Fprintf(p.errOut, "Warning: the manager would hold bundle %s/%s: %v\n", b.Namespace, b.Name, err)
	}
}

// answer prints the Content of a bundle, and what each of its clusters gets.
func (p *targetPrinter) answer(a *targeting.Answer) error {
	if p.inputs {
		if err := p.list(a); err != nil {
			return err
		}
	}
	switch {
	case len(a.Matches) == 0:
		p.notes([]string{fmt.Sprintf("No cluster matches bundle %s; --explain says why.", a.Bundle)})
	case a.Implicit:
		p.notes([]string{fmt.Sprintf("Bundle %s has no targets of its own: a RolloutPolicy has to say which of the clusters get it.", a.Bundle)})
	}
	if !p.contents[a.Content.Name] {
		if p.contents == nil {
			p.contents = map[string]bool{}
		}
		p.contents[a.Content.Name] = true
		if err := p.object(a.Content); err != nil {
			return err
		}
	}
	for _, m := range a.Matches {
		for _, o := range m.Objects {
			if err := p.object(o); err != nil {
				return err
			}
		}
	}
	p.errs = append(p.errs, a.Errors())
	return nil
}

// object prints an object as a document of its own, or keeps it for the list.
func (p *targetPrinter) object(o any) error {
	plain, err := plainOf(o)
	if err != nil {
		return err
	}
	if p.format != "" {
		p.objects = append(p.objects, plain)
		return nil
	}
	data, err := yaml.Marshal(plain)
	if err == nil {
		_, err = fmt.Fprintf(p.out, "---\n%s", data)
	}
	return err
}

// plainOf is an object as people write it.
func plainOf(o any) (map[string]any, error) {
	data, err := json.Marshal(o)
	if err != nil {
		return nil, errors.New("an object cannot be written as JSON")
	}
	plain := map[string]any{}
	if err := json.Unmarshal(data, &plain); err != nil {
		return nil, errors.New("an object cannot be written as JSON")
	}
	if meta, ok := plain["metadata"].(map[string]any); ok {
		delete(meta, "creationTimestamp")
	}
	return plain, nil
}

// matched is a cluster of --dump-input-list. It has no values.
type matched struct {
	Bundle        string
	Cluster       string
	Target        string            `json:",omitempty"`
	ClusterGroups []string          `json:",omitempty"`
	Labels        map[string]string `json:",omitempty"`
	Claims        map[string]string `json:",omitempty"`
}

func (p *targetPrinter) list(a *targeting.Answer) error {
	var all []matched
	for _, m := range a.Matches {
		all = append(all, matched{
			Bundle: a.Bundle.String(), Cluster: m.Cluster.Name, Target: m.Target, ClusterGroups: m.Groups,
			Labels: m.Cluster.Labels, Claims: m.Cluster.Claims,
		})
	}
	data, err := yaml.Marshal(all)
	if err == nil {
		_, err = p.errOut.Write(data)
	}
	return err
}

// end prints the lists, and returns what was wrong with single clusters.
func (p *targetPrinter) end() error {
	var err error
	switch {
	case p.explained != nil && p.format != "":
		err = printData(p.out, p.explained, p.format)
	case p.format != "":
		err = printData(p.out, map[string]any{"apiVersion": "v1", "kind": "List", "items": p.objects}, p.format)
	}
	return errors.Join(append([]error{err}, p.errs...)...)
}

// targetData is what is said of one cluster, for scripts.
type targetData struct {
	Bundle  string     `json:"bundle"`
	Cluster string     `json:"cluster"`
	Deploys bool       `json:"deploys"`
	Message string     `json:"message"`
	Steps   []stepData `json:"steps"`
}

type stepData struct {
	Kind     string `json:"kind"`
	Field    string `json:"field"`
	Name     string `json:"name,omitempty"`
	Matches  bool   `json:"matches"`
	Used     bool   `json:"used"`
	Sentence string `json:"message"`
}

func (p *targetPrinter) explanations(b *fleet.Bundle, all []target.Explanation, implicit bool) error {
	name := b.Namespace + "/" + b.Name
	if implicit {
		p.notes([]string{fmt.Sprintf("Bundle %s has no targets of its own: a RolloutPolicy has to say which of the clusters get it.", name)})
	}
	if p.explained == nil {
		p.explained = []targetData{}
	}
	var lines []string
	for _, e := range all {
		data := targetData{Bundle: name, Cluster: e.Cluster, Deploys: e.Deploys, Message: e.Sentence, Steps: []stepData{}}
		lines = append(lines, fmt.Sprintf("Bundle %s, cluster %s: %s", name, e.Cluster, e.Sentence))
		for _, s := range e.Steps {
			data.Steps = append(data.Steps, stepData(s))
			lines = append(lines, fmt.Sprintf("  %s %s (%s) %s", s.Kind, nameOr(s.Name, "without a name"), s.Field, s.Sentence))
		}
		p.explained = append(p.explained, data)
	}
	if len(all) == 0 {
		lines = append(lines, fmt.Sprintf("Bundle %s can use no cluster.", name))
	}
	if p.format != "" {
		return nil
	}
	return printLines(p.out, lines)
}

func nameOr(name, otherwise string) string {
	if name == "" {
		return otherwise
	}
	return name
}
