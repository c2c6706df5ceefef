package target

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestExplain(t *testing.T) {
	late := clusterGroup("late", "prod", map[string]string{"stage": "2"})
	lent := clusterGroup("lent", "dev", nil)
	lent.Namespace, lent.Clusters = "others", map[string]bool{"stg": true}
	groups := []Group{clusterGroup("early", "dev", map[string]string{"stage": "1"}), late, lent}
	notProd := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "env", Operator: "NotIn", Values: []string{"dev", "stg"}}}}
	stage := func(n string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{"stage": n}}
	}
	restricted := func(mode fleet.TargetCustomizationMode, env string, targets ...fleet.BundleTarget) *fleet.Bundle {
		b := bundle(targets...)
		b.Spec.TargetCustomizationMode = mode
		b.Spec.TargetRestrictions = []fleet.BundleTargetRestriction{{Name: "only", ClusterSelector: is(env)}}
		return b
	}
	cases := map[string]struct {
		bundle *fleet.Bundle
		want   []string
	}{
		"the first one": {bundle(fleet.BundleTarget{Name: "a", ClusterName: "dev"}, fleet.BundleTarget{Name: "b", ClusterSelector: everything}),
			[]string{"true is deployed to, with the options of target a",
				"+ target spec.targets[0] a matches: its options are merged over the bundle's",
				"- target spec.targets[1] b would match, but the earlier target a matched"}},
		"none at all": {bundle(), []string{"false is not deployed to: the bundle has no targets"}},
		"none that matches": {bundle(
			fleet.BundleTarget{ClusterName: "stg"}, fleet.BundleTarget{ClusterSelector: is("prod")}, fleet.BundleTarget{ClusterSelector: notProd},
			fleet.BundleTarget{ClusterSelector: stage("1")}, fleet.BundleTarget{}),
			[]string{"false is not deployed to: no target matches it",
				"- target spec.targets[0] target000 does not match: clusterName is stg",
				"- target spec.targets[1] target001 does not match: clusterSelector asks for env=prod, the cluster has env=dev",
				"- target spec.targets[2] target002 does not match: clusterSelector asks for env notin (dev,stg), the cluster has env=dev",
				"- target spec.targets[3] target003 does not match: clusterSelector asks for stage=1, the cluster has no label stage",
				"- target spec.targets[4] target004 does not match: it names no cluster: set clusterName, clusterSelector, clusterGroup or clusterGroupSelector"}},
		"groups": {bundle(
			fleet.BundleTarget{ClusterGroup: "no"}, fleet.BundleTarget{ClusterGroup: "late"}, fleet.BundleTarget{ClusterGroupSelector: stage("2")},
			fleet.BundleTarget{ClusterGroup: "early", ClusterGroupSelector: stage("2")}, fleet.BundleTarget{ClusterGroup: "lent"},
			fleet.BundleTarget{ClusterGroup: "early", ClusterName: "stg"}, fleet.BundleTarget{Name: "ok", ClusterGroup: "early"}),
			[]string{"true is deployed to, with the options of target ok",
				"- target spec.targets[0] target000 does not match: there is no ClusterGroup no that the bundle can name",
				"- target spec.targets[1] target001 does not match: the cluster is not in ClusterGroup late, which asks for env=prod",
				"- target spec.targets[2] target002 does not match: clusterGroupSelector selects no ClusterGroup of the cluster: it is in early",
				"- target spec.targets[3] target003 does not match: clusterGroupSelector asks for stage=2, ClusterGroup early has stage=1",
				"- target spec.targets[4] target004 does not match: ClusterGroup others/lent is of another namespace, which does not have this cluster",
				"- target spec.targets[5] target005 does not match: clusterName is stg",
				"+ target spec.targets[6] ok matches: its options are merged over the bundle's"}},
		"a target that says no": {bundle(fleet.BundleTarget{Name: "no", ClusterName: "dev", DoNotDeploy: true}, fleet.BundleTarget{Name: "b", ClusterName: "dev"}),
			[]string{"false is not deployed to: target no says doNotDeploy",
				"+ target spec.targets[0] no matches and says doNotDeploy",
				"- target spec.targets[1] b would match, but the earlier target no matched"}},
		"no restriction allows it": {restricted("", "prod", fleet.BundleTarget{Name: "a", ClusterName: "dev"}),
			[]string{"false is not deployed to: no restriction allows it",
				"- restriction spec.targetRestrictions[0] only does not allow the cluster: clusterSelector asks for env=prod, the cluster has env=dev",
				"- target spec.targets[0] a would match, but no restriction allows the cluster"}},
		"the first customization": {restricted("", "dev", fleet.BundleTarget{Name: "c", ClusterName: "stg"}, fleet.BundleTarget{Name: "d", ClusterName: "dev"},
			fleet.BundleTarget{Name: "e", ClusterName: "dev", DoNotDeploy: true}, fleet.BundleTarget{Name: "a", ClusterSelector: everything}),
			[]string{"true is deployed to, with the options of customization d",
				"+ restriction spec.targetRestrictions[0] only allows the cluster",
				"+ target spec.targets[3] a matches: its options are merged over the bundle's",
				"- customization spec.targets[0] c does not match: clusterName is stg",
				"+ customization spec.targets[1] d matches: its options are used in place of those of target a",
				"- customization spec.targets[2] e would match, but the earlier customization d matched, and only the first one counts (targetCustomizationMode: AllMatches merges all of them)"}},
		"all customizations": {restricted("AllMatches", "dev", fleet.BundleTarget{Name: "c", ClusterName: "dev"}, fleet.BundleTarget{Name: "d", ClusterSelector: everything},
			fleet.BundleTarget{Name: "a", ClusterSelector: everything}),
			[]string{"true is deployed to, with the options of target a, then customization c, then customization d",
				"+ restriction spec.targetRestrictions[0] only allows the cluster",
				"+ target spec.targets[2] a matches: its options are merged over the bundle's",
				"+ customization spec.targets[0] c matches: its options are merged over those before it",
				"+ customization spec.targets[1] d matches: its options are merged over those before it"}},
		"one of all that says no": {restricted("AllMatches", "dev", fleet.BundleTarget{Name: "c", ClusterName: "dev"}, fleet.BundleTarget{Name: "d", ClusterName: "dev", DoNotDeploy: true},
			fleet.BundleTarget{Name: "e", ClusterName: "dev"}, fleet.BundleTarget{Name: "a", ClusterSelector: everything}),
			[]string{"false is not deployed to: customization d says doNotDeploy",
				"+ restriction spec.targetRestrictions[0] only allows the cluster",
				"+ target spec.targets[3] a matches: its options are merged over the bundle's",
				"+ customization spec.targets[0] c matches: its options are merged over those before it",
				"+ customization spec.targets[1] d matches and says doNotDeploy",
				"- customization spec.targets[2] e would match, but the earlier customization d says doNotDeploy"}},
		"a customization alone": {restricted("", "dev", fleet.BundleTarget{Name: "c", ClusterName: "dev"}, fleet.BundleTarget{Name: "a", ClusterName: "stg"}),
			[]string{"false is not deployed to: no target matches it",
				"+ restriction spec.targetRestrictions[0] only allows the cluster",
				"- target spec.targets[1] a does not match: clusterName is stg",
				"- customization spec.targets[0] c would match, but no target selects the cluster, and a customization does not"}},
	}
	dev := cluster("dev", "dev")
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e, err := Explain(tc.bundle, groups, &dev)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, lines(e)); diff != "" {
				t.Errorf("explanation (-want +got):\n%s", diff)
			}
			matches, err := Select(tc.bundle, groups, []Cluster{dev})
			if err != nil || (len(matches) == 1) != e.Deploys {
				t.Errorf("selected %v, %v, explained %v", names(matches), err, e.Deploys)
			}
		})
	}
}

func lines(e Explanation) []string {
	first := "false "
	if e.Deploys {
		first = "true "
	}
	out := []string{first + e.Sentence}
	for _, s := range e.Steps {
		mark := "- "
		if s.Used {
			mark = "+ "
		}
		out = append(out, mark+s.Kind+" "+s.Field+" "+s.Name+" "+s.Sentence)
	}
	return out
}
