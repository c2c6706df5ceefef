package rollout

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// chooser is where a random history takes its decisions from: rapid, or a seed.
type chooser func(n int, label string) int

// history plays random things on a small fleet, checks every plan, and in the end
// heals everything and expects the rollout to complete.
type history struct {
	*sim
	choose chooser
	judge  *judgeOfPlans
	err    error
	serial int
}

func newHistory(choose chooser) *history {
	h := &history{sim: newSim(), choose: choose}
	h.judge = newJudge(h.sim)
	h.onPlan = func(in Input, r Result) {
		if h.err == nil {
			h.err = h.judge.check(in, r)
		}
	}
	h.newLane("fleet")
	h.declared["fleet"] = []string{"dev", "stg", "prod"}
	h.fleetSettings()
	if h.lanes[0].Partitions == nil && choose(3, "second lane") == 0 {
		h.newLane("strict")
		h.declared["strict"] = []string{"dev", "prod"}
	}
	h.implicit = h.lanes[0].Partitions == nil && choose(2, "implicit") == 0
	for range 3 + choose(4, "clusters") {
		h.join()
	}
	h.revision = "v0"
	return h
}

func (h *history) newLane(name string) {
	types := []StrategyType{ProgressivePerGroup, ProgressivePerGroup, Progressive, All}
	s := Strategy{
		Type:             types[h.choose(len(types), "type")],
		MinSuccessTime:   []time.Duration{0, 7 * time.Second, 15 * time.Second}[h.choose(3, "soak")],
		ProgressDeadline: []time.Duration{0, 20 * time.Second}[h.choose(2, "deadline")],
		MaxFailures:      []intstr.IntOrString{intstr.FromInt32(0), intstr.FromInt32(1), intstr.FromString("50%")}[h.choose(3, "budget")],
	}
	if s.Type == Progressive {
		s.QueueConcurrency = h.anyLimit()
	}
	s.GroupConcurrency = h.anyLimit()
	if h.choose(4, "mandatory") == 0 && s.Type != All {
		s.Mandatory = []MandatoryGroup{{Name: "prod"}}
	}
	if h.choose(4, "settings of a group") == 0 {
		soak, budget := 3*time.Second, intstr.FromInt32(1)
		s.Groups = map[string]GroupTerms{"stg": {MinSuccessTime: &soak, MaxFailures: &budget, MaxConcurrency: h.anyLimit()}}
	}
	h.lanes = append(h.lanes, LaneSpec{Name: name, Placement: "app/" + name, Strategy: s})
}

func (h *history) anyLimit() *intstr.IntOrString {
	limits := []intstr.IntOrString{intstr.FromInt32(1), intstr.FromInt32(2), intstr.FromString("50%")}
	if n := h.choose(5, "limit"); n < len(limits) {
		return &limits[n]
	}
	return nil
}

func (h *history) join() {
	h.serial++
	groups := map[string]string{}
	for _, l := range h.lanes {
		if l.Name == "fleet" || h.choose(2, "in lane") == 0 {
			groups[l.Name] = h.anyGroup()
		}
	}
	// Half of the names sort before those that are there.
	name := fmt.Sprintf("c%02d", h.serial)
	if h.choose(2, "name") == 0 {
		name = fmt.Sprintf("b%02d", 99-h.serial)
	}
	c := h.addCluster(name, groups)
	if h.choose(2, "created") == 0 {
		c.Created = h.now
	}
	if h.lanes[0].Partitions != nil {
		c.Partition = 1 + h.choose(2, "partition")
	}
}

func (h *history) anyGroup() string {
	return []string{"dev", "stg", "prod", "", "old"}[h.choose(5, "group")]
}

// play runs n random events and the healing.
func (h *history) play(n int) error {
	for range n {
		h.event()
		if h.err != nil {
			return h.err
		}
		if err := h.run(1 + h.choose(12, "seconds")); err != nil {
			return err
		}
	}
	h.heal()
	// Joins must not starve those that are there.
	joins := h.choose(4, "joins") == 0
	for n := range 50 {
		if err := h.run(10); err != nil {
			return err
		}
		// Somebody confirms what waits, as soon as it does.
		if len(h.last.Confirm) > 0 {
			h.confirm()
			h.dirty = true
		}
		if joins && n%5 == 4 && n < 30 {
			h.join()
			h.dirty = true
		}
	}
	if !h.last.Complete && len(h.last.Clusters) > 0 && h.last.Reason != NoClusters {
		return fmt.Errorf("not complete although everything is well: %s %s", h.last.Reason, h.last.Sentence)
	}
	return nil
}

func (h *history) run(seconds int) error {
	for range seconds {
		h.judge.watch()
		if err := h.tick(func(Input, Result) {}); err != nil {
			return err
		}
		if h.err != nil {
			return fmt.Errorf("%s: %w", h.elapsed(), h.err)
		}
		h.now = h.now.Add(time.Second)
	}
	return nil
}

// event lets one random thing happen.
func (h *history) event() {
	h.dirty = true
	names := h.names()
	c := h.clusters[names[h.choose(len(names), "cluster")]]
	switch h.choose(24, "event") {
	case 0, 1:
		h.revision = fmt.Sprintf("v%d", h.choose(5, "version"))
	case 2:
		h.outcomes[h.revision] = outcome{kind: []string{"ok", "never", "error", "retry", "waits"}[h.choose(5, "outcome")], ready: 3 * time.Second}
	case 3, 4:
		c.kind = []string{"ok", "never", "error", "retry", "waits", ""}[h.choose(6, "kind")]
	case 5:
		c.cut = !c.cut
	case 6, 7:
		c.cut, c.Available = true, false
		c.AvailableSince += "'"
		c.Unreachable = h.choose(2, "taint") == 0
		h.hidden[c.Name] = c.Unreachable
	case 8, 9:
		c.cut, c.Available, c.Unreachable = false, true, false
		c.AvailableSince += "'"
		delete(h.hidden, c.Name)
	case 10:
		h.hidden[c.Name] = !h.hidden[c.Name]
	case 11:
		c.labels = !c.labels
	case 12:
		lane := h.lanes[h.choose(len(h.lanes), "lane")].Name
		c.groups[lane] = h.anyGroup()
	case 13:
		if h.pauses = nil; h.choose(2, "pause") == 0 {
			h.pauses = []string{"the Rollout", "RolloutPolicy main"}
		}
	case 14:
		h.restart()
	case 15:
		h.inconsistent = !h.inconsistent
	case 16:
		h.crashAfter = 1 + h.choose(3, "crash after")
	case 17:
		h.shape++
	case 18:
		h.join()
	case 19:
		h.rarer(c)
	case 20:
		// OCM lost sight of it for a moment; its agent never noticed.
		c.AvailableSince += "'"
	case 22:
		h.confirm()
	case 23:
		h.source = []string{"RolloutPolicy/main", "RolloutPolicy/main", "RolloutPolicy/other", defaultSource}[h.choose(4, "source")]
	case 21:
		// Its network dies a few seconds after such a moment, and nobody knows.
		c.AvailableSince += "'"
		if h.err = h.run(3); h.err == nil {
			c.cut, h.dirty = true, true
		}
	}
}

func (h *history) rarer(c *simCluster) {
	lane := &h.lanes[h.choose(len(h.lanes), "lane")]
	s := &lane.Strategy
	if lane.Partitions != nil {
		// They have no use for a strategy.
		s = &Strategy{}
	}
	switch h.choose(7, "rare event") {
	case 6:
		s.GroupConcurrency = h.anyLimit()
	case 0:
		s.MinSuccessTime = []time.Duration{0, 7 * time.Second, 15 * time.Second}[h.choose(3, "soak")]
	case 1:
		s.MaxFailures = intstr.FromInt32(int32(h.choose(3, "budget")))
	case 2:
		c.Exists = len(h.clusters) < 4
	case 3:
		h.gone = !h.gone
	case 4:
		c.AddOn = []AddOnState{AddOnMissing, AddOnPresent, AddOnDeleting}[h.choose(3, "add-on")]
	case 5:
		if h.blocks = nil; h.choose(2, "block") == 0 {
			h.blocks = []Hold{{BindingMissing, "no ManagedClusterSet is bound"}}
		}
	}
}

// heal makes everything well, with a version that works everywhere.
func (h *history) heal() {
	h.dirty = true
	h.inconsistent, h.gone, h.pauses, h.blocks, h.crashAfter = false, false, nil, nil, 0
	h.outcomes, h.revision = map[string]outcome{}, "last"
	for i := range h.lanes {
		// A mandatory group without clusters holds, and rightly.
		h.lanes[i].Strategy.Mandatory = nil
	}
	for _, c := range h.clusters {
		if !c.Available {
			c.AvailableSince += "'"
		}
		c.cut, c.Available, c.Unreachable, c.kind, c.labels, c.AddOn = false, true, false, "", true, AddOnPresent
		h.hidden = map[string]bool{}
	}
}
