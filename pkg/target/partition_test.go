package target

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestPartitions(t *testing.T) {
	env := func(value string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{"env": value}}
	}
	clusters := []Cluster{
		{Name: "a", Labels: map[string]string{"env": "dev"}},
		{Name: "b", Labels: map[string]string{"env": "stg"}},
		{Name: "c", Labels: map[string]string{"env": "prod"}},
	}
	groups := Groups([]fleet.ClusterGroup{
		{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "staging", Labels: map[string]string{"tier": "low"}},
			Spec: fleet.ClusterGroupSpec{Selector: env("stg")}},
		{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "broken"},
			Spec: fleet.ClusterGroupSpec{Selector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}}}}},
	})
	cases := map[string]struct {
		partitions []fleet.Partition
		want       map[string]int
		err        string
	}{
		"none at all":            {want: map[string]int{}},
		"by name":                {partitions: []fleet.Partition{{ClusterName: "c"}}, want: map[string]int{"c": 1}},
		"by labels":              {partitions: []fleet.Partition{{ClusterSelector: env("dev")}, {ClusterSelector: env("prod")}}, want: map[string]int{"a": 1, "c": 2}},
		"by group":               {partitions: []fleet.Partition{{ClusterGroup: "staging"}}, want: map[string]int{"b": 1}},
		"by labels of a group":   {partitions: []fleet.Partition{{ClusterGroupSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "low"}}}}, want: map[string]int{"b": 1}},
		"the first of several":   {partitions: []fleet.Partition{{ClusterName: "b"}, {ClusterSelector: &metav1.LabelSelector{}}}, want: map[string]int{"a": 2, "b": 1, "c": 2}},
		"one that says nothing":  {partitions: []fleet.Partition{{Name: "empty"}, {ClusterName: "a"}}, want: map[string]int{"a": 2}},
		"a group that is broken": {partitions: []fleet.Partition{{ClusterName: "a"}, {ClusterGroup: "broken"}}, err: "ClusterGroup team/broken: spec.selector"},
		"a selector that is not valid": {
			partitions: []fleet.Partition{{ClusterSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}}}}},
			err:        "spec.rolloutStrategy.partitions[0].clusterSelector",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := bundle()
			b.Spec.RolloutStrategy = &fleet.RolloutStrategy{Partitions: tc.partitions}
			got, err := Partitions(b, groups, clusters)
			if tc.err != "" {
				checkError(t, err, tc.err)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("partitions (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPartitionsOfNoStrategy(t *testing.T) {
	got, err := Partitions(bundle(), nil, []Cluster{{Name: "a"}})
	if len(got) > 0 || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
}
