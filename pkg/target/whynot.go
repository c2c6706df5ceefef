package target

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// whyNot says what of terms does not hold for the cluster.
func (e *explainer) whyNot(t terms) string {
	var why []string
	if t.clusterName != "" && t.clusterName != e.cluster.Name {
		why = append(why, fmt.Sprintf("clusterName is %s", t.clusterName))
	}
	why = append(why, missing("clusterSelector", t.clusterSelector, e.cluster.Labels, "the cluster")...)
	if t.clusterGroup != "" || t.clusterGroupSelector != nil {
		why = append(why, e.groupsMissing(t)...)
	}
	if len(why) == 0 {
		return "it names no cluster: set clusterName, clusterSelector, clusterGroup or clusterGroupSelector"
	}
	return strings.Join(why, "; ")
}

// groupsMissing says why the cluster is in no group that is asked for.
func (e *explainer) groupsMissing(t terms) []string {
	var in []string
	for _, g := range e.groups.list {
		if g.err != nil || !g.has(e.cluster) {
			continue
		}
		if wanted(g, t) {
			return nil
		}
		in = append(in, g.name)
	}
	switch {
	case t.clusterGroup != "":
		return e.groupMissing(t)
	case len(in) > 0:
		return []string{"clusterGroupSelector selects no ClusterGroup of the cluster: it is in " + strings.Join(in, ", ")}
	case len(missing("", t.clusterGroupSelector, nil, "")) == 0:
		// In no group is as good as in one without labels.
		return nil
	default:
		return []string{"clusterGroupSelector selects no ClusterGroup of the cluster: it is in no group"}
	}
}

func wanted(g *group, t terms) bool {
	return (t.clusterGroup == "" || g.name == t.clusterGroup) && len(missing("", t.clusterGroupSelector, g.labels, "")) == 0
}

// groupMissing says why the cluster is not in the group that is named.
func (e *explainer) groupMissing(t terms) []string {
	var why []string
	for _, g := range e.groups.list {
		switch {
		case g.err != nil || g.name != t.clusterGroup:
		case wanted(g, t):
			why = append(why, e.notIn(g))
		default:
			why = append(why, missing("clusterGroupSelector", t.clusterGroupSelector, g.labels, "ClusterGroup "+g.name)...)
		}
	}
	if len(why) == 0 {
		return []string{fmt.Sprintf("there is no ClusterGroup %s that the bundle can name", t.clusterGroup)}
	}
	return why
}

func (e *explainer) notIn(g *group) string {
	if g.clusters != nil && !g.clusters[e.cluster.Name] {
		return fmt.Sprintf("ClusterGroup %s/%s is of another namespace, which does not have this cluster", g.namespace, g.name)
	}
	return fmt.Sprintf("the cluster is not in ClusterGroup %s, which asks for %s", g.name, g.selector)
}

// missing says what a selector asks for and labels have not.
func missing(name string, s *metav1.LabelSelector, of labels.Set, what string) []string {
	if s == nil {
		return nil
	}
	var why []string
	for _, key := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		if has, ok := of[key]; !ok || has != s.MatchLabels[key] {
			why = append(why, fmt.Sprintf("%s asks for %s=%s, %s %s", name, key, s.MatchLabels[key], what, hasLabel(of, key)))
		}
	}
	for i := range s.MatchExpressions {
		one, err := metav1.LabelSelectorAsSelector(&metav1.LabelSelector{MatchExpressions: s.MatchExpressions[i : i+1]})
		if err == nil && !one.Matches(of) {
			why = append(why, fmt.Sprintf("%s asks for %s, %s %s", name, one, what, hasLabel(of, s.MatchExpressions[i].Key)))
		}
	}
	return why
}

func hasLabel(of labels.Set, key string) string {
	if has, ok := of[key]; ok {
		return fmt.Sprintf("has %s=%s", key, has)
	}
	return "has no label " + key
}
