package simulate

import (
	"cmp"
	"slices"
	"time"

	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

// Down is the worst there was, each at its own moment. A cluster is in at most one of
// Updating, Offline and Installing.
type Down struct {
	// Updating: the bundle was ready there before, the cluster is reachable, and what is
	// admitted to it now is not ready: from its admission to its success, or for good if
	// it fails.
	Updating Peak `json:"updating"`
	// Total: Updating, and the clusters that are offline and where the bundle was ready
	// before.
	Total Peak `json:"total"`
	// Installing: something is admitted and the bundle was never ready there.
	Installing Peak `json:"installing"`
}

// Peak is a number of clusters at the moment at which it was reached first.
type Peak struct {
	Count int      `json:"count"`
	At    Duration `json:"at"`
	// Lane and Group had most of them, InGroup.
	Lane    string `json:"lane,omitempty"`
	Group   string `json:"group,omitempty"`
	InGroup int    `json:"inGroup,omitempty"`
}

// downCount finds the peaks, of the fleet and of each group.
type downCount struct {
	Down
	groups map[rollout.Place]int
	// now is used anew at each moment.
	updating, total, installing map[rollout.Place]int
}

func newDownCount() downCount {
	return downCount{
		groups: map[rollout.Place]int{}, updating: map[rollout.Place]int{}, total: map[rollout.Place]int{}, installing: map[rollout.Place]int{},
	}
}

// count looks at the fleet after a moment's plans. Before the start it only learns
// where the bundle ran.
func (d *downCount) count(s *sim) {
	clear(d.updating)
	clear(d.total)
	clear(d.installing)
	for _, n := range s.nodes {
		switch {
		case n.row.Work == nil:
		case n.success():
			n.ran = true
		case !n.ran:
			d.installing[n.row.Work.Place]++
		case n.row.Available:
			d.updating[n.row.Work.Place]++
			d.total[n.row.Work.Place]++
		default:
			d.total[n.row.Work.Place]++
		}
	}
	if s.now < 0 {
		return
	}
	d.Updating.reach(d.updating, s.now)
	d.Total.reach(d.total, s.now)
	d.Installing.reach(d.installing, s.now)
	for place, n := range d.updating {
		d.groups[place] = max(d.groups[place], n)
	}
}

// reach notes a moment that is worse than all before.
func (p *Peak) reach(groups map[rollout.Place]int, now time.Duration) {
	count := 0
	for _, n := range groups {
		count += n
	}
	if count <= p.Count {
		return
	}
	type row struct {
		place rollout.Place
		count int
	}
	var rows []row
	for place, n := range groups {
		rows = append(rows, row{place, n})
	}
	worst := slices.MinFunc(rows, func(a, b row) int {
		return cmp.Or(-cmp.Compare(a.count, b.count), cmp.Compare(a.place.Lane, b.place.Lane), cmp.Compare(a.place.Name, b.place.Name), cmp.Compare(a.place.Index, b.place.Index))
	})
	*p = Peak{Count: count, At: Duration(now), Lane: worst.place.Lane, Group: worst.place.Label(), InGroup: worst.count}
}
