package rollout

import (
	"fmt"
	"slices"
	"strings"
)

// The sources that are no object.
const (
	defaultSource = "Default"
	bundleSource  = "Bundle"
)

// takeSource records the source that the rollout is under. Another one than the one
// recorded is foreign until a person confirms it: a policy that is deleted must not
// send everything everywhere at once.
func (p *planner) takeSource() {
	r, s := &p.out.Record, &p.in.Source
	if s.Hold != nil || len(p.in.Blocks) > 0 || r.Source == s.Name {
		return
	}
	switch {
	case r.Source == "" && s.NoTargets:
	case r.Source == "":
		r.Source = s.Name
	case stricter(r.Source, s.Name) || p.agreed(RolloutSourceChanged, s.Name):
		r.Source = s.Name
		p.forgetOtherLanes()
	default:
		p.foreign = true
	}
}

// stricter tells whether a source only orders what had no order before.
func stricter(before, now string) bool { return before == defaultSource && now == bundleSource }

// forgetOtherLanes drops what is remembered of lanes that the source does not have.
func (p *planner) forgetOtherLanes() {
	known := map[string]bool{}
	for _, l := range p.in.Source.Lanes {
		known[l.Name] = true
	}
	r := &p.out.Record
	r.Groups = slices.DeleteFunc(slices.Clone(r.Groups), func(g RecordedGroup) bool { return !known[g.Lane] })
	r.Cuts = slices.DeleteFunc(slices.Clone(r.Cuts), func(c PartitionCut) bool { return !known[c.Lane] })
}

// sourceChanged holds a rollout that would come under another source than the one it
// is under.
func sourceChanged(p *planner) (Reason, string, bool) {
	if !p.foreign {
		return "", "", false
	}
	now := p.in.Source.Name
	sentence := fmt.Sprintf("the rollout would come under %s instead of %s: %s; nothing changes until that is confirmed with: %s",
		now, p.out.Record.Source, p.underSource(), p.confirmCommand())
	p.out.Confirm = append(p.out.Confirm, ConfirmRequest{Reason: RolloutSourceChanged, Subject: now, Sentence: sentence})
	return RolloutSourceChanged, sentence, true
}

// underSource says what the source would do with how many clusters.
func (p *planner) underSource() string {
	works, selected := 0, 0
	for i := range p.in.Clusters {
		c := &p.in.Clusters[i]
		if c.Work != nil {
			works++
		}
		if c.Exists && c.Selected && (!p.in.Source.ImplicitTargets || p.shows(c.Name)) {
			selected++
		}
	}
	if p.in.Source.NoTargets {
		return fmt.Sprintf("the bundle has no targets of its own and would be removed from %s", plural(works))
	}
	var lanes []string
	for _, l := range p.lanes[:min(5, len(p.lanes))] {
		lanes = append(lanes, fmt.Sprintf("%s (%s)", l.Name, l.strategyName()))
	}
	more := ""
	if n := len(p.lanes) - len(lanes); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("%s would follow %s %s%s", plural(selected), laneWord(len(p.lanes)), strings.Join(lanes, ", "), more)
}

// shows tells whether any lane's decisions show a cluster.
func (p *planner) shows(cluster string) bool {
	return slices.ContainsFunc(p.lanes, func(l *lane) bool {
		if l.view == nil {
			return true
		}
		_, in := l.view.believed.Where[cluster]
		return in
	})
}

// strategyName is the word for the lane's strategy.
func (l *lane) strategyName() StrategyType {
	if l.Partitions != nil {
		return PartitionsType
	}
	return l.Strategy.Type
}

func laneWord(n int) string {
	if n == 1 {
		return "lane"
	}
	return "lanes"
}
