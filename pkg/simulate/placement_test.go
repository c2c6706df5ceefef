package simulate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

func newTestPlacement(t *testing.T, spec string) *placement {
	t.Helper()
	object := &clusterv1beta1.Placement{}
	if err := yaml.Unmarshal([]byte("metadata: {name: p}\nspec: "+spec), object); err != nil {
		t.Fatal(err)
	}
	p, _, err := newPlacement(source[clusterv1beta1.Placement]{"p.yaml", object})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// nodesOf makes clusters of "name", "name=role", or "name!" for one that is offline.
func nodesOf(words ...string) []*node {
	var out []*node
	for _, word := range words {
		name, role, _ := strings.Cut(strings.TrimSuffix(word, "!"), "=")
		n := &node{name: name, labels: map[string]string{"role": role}, claims: map[string]string{"id": name}}
		n.row = rollout.Cluster{Name: name, Exists: true, Unreachable: strings.HasSuffix(word, "!")}
		out = append(out, n)
	}
	return out
}

// groupsOf writes a snapshot as "index name: clusters".
func groupsOf(s rollout.Snapshot, nodes []*node) []string {
	var out []string
	for _, key := range s.Groups {
		line := fmt.Sprintf("%d %s:", s.Indexes[key], key.Name)
		for _, n := range nodes {
			if at, ok := s.Where[n.name]; ok && at == key {
				line += " " + n.name
			}
		}
		out = append(out, line)
	}
	return out
}

const nobodyAndCanary = `{decisionStrategy: {groupStrategy: {clustersPerDecisionGroup: 2, decisionGroups: [
  {groupName: nobody, groupClusterSelector: {labelSelector: {matchLabels: {role: nobody}}}},
  {groupName: canary, groupClusterSelector: {labelSelector: {matchLabels: {role: canary}}}}]}}}`

// TestDecide: decisions as OCM's placement controller makes them.
func TestDecide(t *testing.T) {
	cases := map[string]struct {
		spec  string
		nodes []*node
		want  []string
	}{
		"a declared group without clusters does not exist, the rest is cut by name": {
			nobodyAndCanary, nodesOf("c1", "c2", "c3=canary", "c4"), []string{"0 canary: c3", "1 : c1 c2", "2 : c4"},
		},
		"one more cluster earlier in the alphabet cuts the rest anew": {
			nobodyAndCanary, nodesOf("c0", "c1", "c2", "c3=canary", "c4"), []string{"0 canary: c3", "1 : c0 c1", "2 : c2 c4"},
		},
		"a declared group that is too large is several of its name": {
			nobodyAndCanary, nodesOf("c1=canary", "c2=canary", "c3=canary"), []string{"0 canary: c1 c2", "1 canary: c3"},
		},
		"a percentage is rounded up": {
			"{decisionStrategy: {groupStrategy: {clustersPerDecisionGroup: 34%}}}", nodesOf("a", "b", "c", "d"), []string{"0 : a b", "1 : c d"},
		},
		"no size is one group": {"{}", nodesOf("a", "b", "c"), []string{"0 : a b c"}},
		"predicates are alternatives": {
			"{predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {role: x}}}}, {requiredClusterSelector: {claimSelector: {matchExpressions: [{key: id, operator: In, values: [b]}]}}}]}",
			nodesOf("a=x", "b", "c"), []string{"0 : a b"},
		},
		"one that is offline is not decided":      {"{}", nodesOf("a", "b!"), []string{"0 : a"}},
		"unless the Placement tolerates it":       {"{tolerations: [{key: cluster.open-cluster-management.io/unreachable, operator: Exists}]}", nodesOf("a", "b!"), []string{"0 : a b"}},
		"another toleration does not help":        {"{tolerations: [{key: gpu, operator: Exists}]}", nodesOf("a", "b!"), []string{"0 : a"}},
		"a number of clusters takes the first":    {"{numberOfClusters: 2}", nodesOf("a", "b", "c"), []string{"0 : a b"}},
		"no cluster is a Placement without group": {"{}", nil, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newTestPlacement(t, tc.spec).decide(tc.nodes)
			if !s.Found || s.Inconsistent != "" {
				t.Fatalf("found %v, inconsistent: %s", s.Found, s.Inconsistent)
			}
			if diff := cmp.Diff(tc.want, groupsOf(s, tc.nodes)); diff != "" {
				t.Errorf("groups (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNumberOfClustersKeepsWhatIsDecided(t *testing.T) {
	p := newTestPlacement(t, "{numberOfClusters: 2}")
	p.decide(nodesOf("b", "c", "d"))
	nodes := nodesOf("a", "b", "d")
	if diff := cmp.Diff([]string{"0 : a b"}, groupsOf(p.decide(nodes), nodes)); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
}

// TestLargeGroups: groups over 100 clusters have several decisions of one index.
func TestLargeGroups(t *testing.T) {
	var words []string
	for i := range 301 {
		words = append(words, fmt.Sprintf("c%03d", i))
	}
	nodes := nodesOf(words...)
	s := newTestPlacement(t, "{decisionStrategy: {groupStrategy: {clustersPerDecisionGroup: 50%}}}").decide(nodes)
	sizes := map[rollout.GroupKey]int{}
	for _, key := range s.Where {
		sizes[key]++
	}
	want := map[rollout.GroupKey]int{{Index: 0}: 151, {Index: 1}: 150}
	if diff := cmp.Diff(want, sizes); diff != "" || s.Inconsistent != "" {
		t.Errorf("%s (-want +got):\n%s", s.Inconsistent, diff)
	}
}
