package rollout

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// Snapshot is one reading of a Placement and of its decisions.
type Snapshot struct {
	// Found is false when the Placement does not exist.
	Found bool
	// Inconsistent says why the decisions cannot be believed; "" if they can.
	Inconsistent string
	// Groups in order, and the group of each decided cluster.
	Groups []GroupKey
	Where  map[string]GroupKey
	// Empty are declared decision groups without clusters.
	Empty []string
	// Declared are the names of the Placement's decisionGroups, in its order.
	Declared []string
	// Indexes are the decision group indexes by group.
	Indexes map[GroupKey]int
	// PerGroup is the Placement's clustersPerDecisionGroup.
	PerGroup intstr.IntOrString
}

// NewSnapshot reads a Placement, nil if it was not found, with its decisions in any order.
//
// The placement controller writes decisions one by one, status before labels, and
// the Placement's own status last; in between a cluster can be in no group, in two,
// or in a wrong one.
func NewSnapshot(placement *clusterv1beta1.Placement, decisions []*clusterv1beta1.PlacementDecision) Snapshot {
	if placement == nil {
		return Snapshot{}
	}
	s := Snapshot{Found: true}
	for _, g := range placement.Spec.DecisionStrategy.GroupStrategy.DecisionGroups {
		s.Declared = append(s.Declared, g.GroupName)
	}
	s.PerGroup = placement.Spec.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup
	sorted := slices.Clone(decisions)
	slices.SortFunc(sorted, func(a, b *clusterv1beta1.PlacementDecision) int { return cmp.Compare(a.Name, b.Name) })
	r := reading{names: map[int]string{}, where: map[string]int{}, byName: map[string]*tally{}}
	for _, d := range sorted {
		if s.Inconsistent = r.add(d); s.Inconsistent != "" {
			return s
		}
	}
	if s.Inconsistent = r.compare(placement); s.Inconsistent != "" {
		return s
	}
	r.group(&s)
	return s
}

// reading collects decisions by index.
type reading struct {
	names  map[int]string
	where  map[string]int
	byName map[string]*tally
}

// tally is what has to be equal in decisions and status for one group name.
type tally struct {
	decisions []string
	clusters  int
}

// add takes one decision in, or says why it cannot be believed.
func (r *reading) add(d *clusterv1beta1.PlacementDecision) string {
	label, ok := d.Labels[clusterv1beta1.DecisionGroupIndexLabel]
	index, err := strconv.Atoi(label)
	if !ok || err != nil || index < 0 {
		return fmt.Sprintf("decision %s has no group index", d.Name)
	}
	name := d.Labels[clusterv1beta1.DecisionGroupNameLabel]
	if before, ok := r.names[index]; ok && before != name {
		return fmt.Sprintf("group index %d has two names, %q and %q", index, min(before, name), max(before, name))
	}
	r.names[index] = name
	t := r.tally(name)
	t.decisions = append(t.decisions, d.Name)
	for _, c := range d.Status.Decisions {
		if _, ok := r.where[c.ClusterName]; ok {
			return fmt.Sprintf("cluster %s is decided twice", c.ClusterName)
		}
		r.where[c.ClusterName] = index
		t.clusters++
	}
	return ""
}

func (r *reading) tally(name string) *tally {
	if r.byName[name] == nil {
		r.byName[name] = &tally{}
	}
	return r.byName[name]
}

// compare says what differs between the decisions and the Placement's status.
func (r *reading) compare(placement *clusterv1beta1.Placement) string {
	if len(placement.Status.DecisionGroups) == 0 && len(placement.Status.Conditions) == 0 {
		return "the Placement has no status yet"
	}
	want := map[string]*tally{}
	var names []string
	for _, g := range placement.Status.DecisionGroups {
		t := want[g.DecisionGroupName]
		if t == nil {
			t = &tally{}
			want[g.DecisionGroupName] = t
			names = append(names, g.DecisionGroupName)
		}
		t.decisions = append(t.decisions, g.Decisions...)
		t.clusters += int(g.ClustersCount)
	}
	for name := range r.byName {
		if want[name] == nil {
			names = append(names, name)
			want[name] = &tally{}
		}
	}
	slices.Sort(names)
	for _, name := range names {
		got, want := r.tally(name), want[name]
		slices.Sort(got.decisions)
		slices.Sort(want.decisions)
		if !slices.Equal(got.decisions, want.decisions) {
			return fmt.Sprintf("group %s has decisions %v, the Placement's status says %v", shownGroup(name), got.decisions, want.decisions)
		}
		if got.clusters != want.clusters {
			return fmt.Sprintf("group %s has %d clusters, the Placement's status says %d", shownGroup(name), got.clusters, want.clusters)
		}
	}
	return ""
}

// group gives every index that has clusters its identity and its place in order.
func (r *reading) group(s *Snapshot) {
	filled := map[int]bool{}
	for _, index := range r.where {
		filled[index] = true
	}
	indexes := make([]int, 0, len(filled))
	for index := range filled {
		indexes = append(indexes, index)
	}
	slices.Sort(indexes)
	keys, sameName := map[int]GroupKey{}, map[string]int{}
	s.Indexes = map[GroupKey]int{}
	for _, index := range indexes {
		name := r.names[index]
		key := GroupKey{Name: name, Index: sameName[name]}
		sameName[name]++
		keys[index], s.Indexes[key] = key, index
		s.Groups = append(s.Groups, key)
	}
	s.sortGroups(s.Groups)
	s.Where = make(map[string]GroupKey, len(r.where))
	for cluster, index := range r.where {
		s.Where[cluster] = keys[index]
	}
	for _, name := range s.Declared {
		if sameName[name] == 0 && !slices.Contains(s.Empty, name) {
			s.Empty = append(s.Empty, name)
		}
	}
}

// sortGroups sorts by declared order: a name that is not declared any more stands
// before all others, so that its members are not skipped; the unnamed rest is last.
func (s *Snapshot) sortGroups(keys []GroupKey) {
	rank := map[string]int{"": len(s.Declared) + 1}
	for i, name := range s.Declared {
		if rank[name] == 0 {
			rank[name] = i + 1
		}
	}
	slices.SortFunc(keys, func(a, b GroupKey) int {
		return cmp.Or(cmp.Compare(rank[a.Name], rank[b.Name]), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Index, b.Index))
	})
}
