package rollout

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// fleetSettings gives a history Fleet's limits inside the groups of its lane, or makes
// the lane one of Fleet's partitions.
func (h *history) fleetSettings() {
	limits := h.someLimits()
	switch h.choose(5, "fleet settings") {
	case 0:
		h.limits = &limits
	case 1:
		h.lanes = []LaneSpec{partitionLane(h.somePartitions(limits))}
	}
}

func (h *history) someLimits() Limits {
	maxNew := 1 + h.choose(3, "maxNew")
	values := []string{"", "0", "1", "2", "50%", "34%"}
	return Limits{MaxUnavailable: amount(values[h.choose(len(values), "maxUnavailable")]), MaxNew: &maxNew}
}

func (h *history) somePartitions(limits Limits) *Partitions {
	threshold, zero := 2+h.choose(5, "threshold"), intstr.FromInt32(int32(h.choose(2, "maxUnavailablePartitions")))
	size := intstr.FromInt32(int32(1 + h.choose(3, "size")))
	p := &Partitions{Limits: limits, MaxUnavailablePartitions: &zero, AutoSize: &size, AutoThreshold: &threshold}
	if h.choose(2, "manual") == 0 {
		p.Manual = []ManualPartition{{Name: "a"}, {Name: "b", MaxUnavailable: amount([]string{"", "0", "1"}[h.choose(3, "own")])}}
	}
	return p
}

// unavailable: no admission of an available cluster makes more unavailable than
// maxUnavailable allows; with 0 one at a time. First installs of the
// same plan have their own batches.
func (j *judgeOfPlans) unavailable(in Input, r Result) error {
	type key struct {
		lane string
		GroupKey
	}
	down, size, worsened := map[key]int{}, map[key]int{}, map[key]string{}
	for _, c := range r.Clusters {
		if c.InLane {
			size[key{c.Place.Lane, c.Place.GroupKey}]++
		}
	}
	admitted := map[string]bool{}
	for _, a := range r.Admit {
		admitted[a.Cluster] = true
	}
	for _, c := range r.Clusters {
		row, at := j.s.clusters[c.Name], key{c.Place.Lane, c.Place.GroupKey}
		if !c.InLane {
			continue
		}
		up := row.Work != nil && row.Available && row.Work.Verdict.Admission == row.Work.Admission && row.Work.Verdict.Ready && row.Work.Verdict.Applied
		tolerated := in.Source.Limits != nil && c.State.Failure()
		if row.Work != nil && (admitted[c.Name] || (!up && !tolerated)) {
			down[at]++
		}
		if admitted[c.Name] && up {
			worsened[at] = c.Name
		}
	}
	for at, name := range worsened {
		value := maxUnavailableOf(in, at.lane, at.GroupKey)
		if value == nil {
			continue
		}
		most := max(1, value.IntValue())
		if value.Type == intstr.String {
			// 50% or 34% of at most the clusters that are there now.
			most = max(1, size[at]*map[string]int{"50%": 50, "34%": 34}[value.StrVal]/100)
		}
		if down[at] > most {
			return fmt.Errorf("%s admitted although %d of group %s are unavailable with it and %d may be", name, down[at], at.Name, most)
		}
	}
	return nil
}

func maxUnavailableOf(in Input, lane string, group GroupKey) *intstr.IntOrString {
	for _, l := range in.Source.Lanes {
		switch {
		case l.Name != lane:
		case l.Partitions == nil && in.Source.Limits != nil:
			return in.Source.Limits.MaxUnavailable
		case l.Partitions != nil:
			for _, m := range l.Partitions.Manual {
				if m.Name == group.Name && m.MaxUnavailable != nil {
					return m.MaxUnavailable
				}
			}
			return l.Partitions.MaxUnavailable
		}
	}
	return nil
}
