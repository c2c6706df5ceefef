package targeting

import (
	"errors"
	"fmt"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/content"
	"open-cluster-management.io/fleet-addon/pkg/target"
	"open-cluster-management.io/fleet-addon/pkg/work"
)

// Answer is what a bundle comes to.
type Answer struct {
	Bundle types.NamespacedName
	// Content are the bundle's files.
	Content *v1alpha1.Content
	// Implicit is true when the bundle has no targets of its own: it matches every cluster,
	// and the Placements of a RolloutPolicy say which of them get it.
	Implicit bool
	// Matches are in the order of the clusters' names.
	Matches []Match
}

// Match is a cluster that the bundle goes to.
type Match struct {
	Cluster Cluster
	// Target is the name of the target that decides.
	Target string
	// Groups are the ClusterGroups of the bundle's that the cluster is in.
	Groups []string
	// Objects are what the cluster gets, besides the Content: a Secret with the Helm
	// values, if there are any, and the BundleDeployment. Without any, Err says why.
	Objects []metav1.Object
	Err     error
}

// Ask says where a bundle with its values goes and what it brings there.
func (w *World) Ask(b *fleet.Bundle) (*Answer, error) {
	a := &Answer{Bundle: types.NamespacedName{Namespace: b.Namespace, Name: b.Name}}
	name, gz, sum, err := content.Pack(b.Spec.Resources)
	if err != nil {
		return nil, fmt.Errorf("bundle %s: spec.resources: %w", a.Bundle, err)
	}
	a.Content = &v1alpha1.Content{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Content"},
		ObjectMeta: metav1.ObjectMeta{Name: name}, Content: gz, SHA256Sum: sum, Size: int64(len(gz)),
	}
	var matches []target.Match
	if a.Implicit = !target.HasOwnTargets(b, w.Groups); a.Implicit {
		matches = target.SelectAll(b, w.targets())
	} else if matches, err = target.Select(b, w.Groups, w.targets()); err != nil {
		return nil, err
	}
	byName := map[string]Cluster{}
	for _, c := range w.Clusters {
		byName[c.Name] = c
	}
	for i := range matches {
		m := Match{Cluster: byName[matches[i].Cluster], Target: matches[i].Target}
		m.Groups = w.groupsOf(&m.Cluster.Cluster)
		m.Objects, m.Err = objects(b, a, &matches[i], m.Cluster)
		a.Matches = append(a.Matches, m)
	}
	return a, nil
}

// Errors are those of all clusters that cannot be told what to deploy.
func (a *Answer) Errors() error {
	var errs []error
	for _, m := range a.Matches {
		if m.Err != nil {
			errs = append(errs, fmt.Errorf("bundle %s: %w", a.Bundle, m.Err))
		}
	}
	return errors.Join(errs...)
}

func objects(b *fleet.Bundle, a *Answer, m *target.Match, c Cluster) ([]metav1.Object, error) {
	options, err := m.Render(&c.Cluster)
	if err != nil {
		return nil, err
	}
	id, err := target.DeploymentID(a.Content.Name, options)
	if err != nil {
		return nil, err
	}
	out, err := work.Objects(work.Deployment{
		Bundle: a.Bundle, Cluster: c.Name, AgentNamespace: c.AgentNamespace, ID: id,
		Content: v1alpha1.ContentSource{Name: a.Content.Name}, Options: options, Paused: b.Spec.Paused,
	})
	for _, o := range out {
		annotations := o.GetAnnotations()
		annotations[v1alpha1.AnnotationCluster] = c.Name
		o.SetAnnotations(annotations)
	}
	return out, err
}

// groupsOf are the names of the groups that a cluster is in. A broken group has been an
// error before, if the bundle names it.
func (w *World) groupsOf(c *target.Cluster) []string {
	var out []string
	for i := range w.Groups {
		g := &w.Groups[i]
		selector, err := metav1.LabelSelectorAsSelector(g.Spec.Selector)
		if err == nil && (g.Clusters == nil || g.Clusters[c.Name]) && selector.Matches(labels.Set(c.Labels)) {
			out = append(out, g.Name)
		}
	}
	return out
}

// Explain says of every cluster why the bundle goes there, or why not. It agrees with Ask:
// a bundle without targets of its own goes to all of them.
func (w *World) Explain(b *fleet.Bundle) ([]target.Explanation, error) {
	implicit := !target.HasOwnTargets(b, w.Groups)
	out := make([]target.Explanation, 0, len(w.Clusters))
	for i := range w.Clusters {
		e, err := target.Explain(b, w.Groups, &w.Clusters[i].Cluster)
		if err != nil {
			return nil, err
		}
		if implicit {
			e.Deploys, e.Sentence = true, "is deployed to, if the RolloutPolicy selects it: the bundle has no targets of its own"
		}
		out = append(out, e)
	}
	return out, nil
}
