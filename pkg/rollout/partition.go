package rollout

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// Fleet's defaults of automatic partitions.
const defaultAutoThreshold = 200

var defaultAutoSize = intstr.FromString("25%")

// shares is how a lane is cut into partitions in this plan.
type shares struct {
	cut        PartitionCut
	partitions int
	// all clusters of the lane in name order; outside are those in no partition.
	all, outside []*member
	whole        *budget
}

// partition cuts the lanes of Fleet's partitions: gather has put all their clusters
// into one group each.
func (p *planner) partition() {
	for _, l := range p.lanes {
		if l.Partitions != nil {
			p.cutLane(l)
		}
	}
}

// cutLane puts each cluster into its partition.
func (p *planner) cutLane(l *lane) {
	l.groups, l.byKey, l.shares = nil, map[GroupKey]*group{}, &shares{}
	in := make([]*member, 0, len(p.members))
	for i := range p.members {
		if m := &p.members[i]; m.lane == l {
			in = append(in, m)
		}
	}
	if len(in) == 0 {
		return
	}
	cut := p.cutOf(l, in)
	keys := l.Partitions.keys(cut)
	*l.shares = shares{cut: cut, partitions: len(keys), all: in}
	groups := make([]*group, len(keys))
	for rank, m := range in {
		i := l.Partitions.place(cut, keys, rank, m)
		if i < 0 {
			m.outside(l)
			continue
		}
		if groups[i] == nil {
			groups[i] = &group{GroupKey: keys[i], lane: l, partition: i}
			l.byKey[keys[i]] = groups[i]
		}
		m.group, m.key = groups[i], keys[i]
		m.stale = p.refreshable(m) && p.differs(m)
		groups[i].members = append(groups[i].members, m)
	}
	for _, g := range groups {
		if g != nil {
			l.groups = append(l.groups, g)
		}
	}
	p.forgetOldPartitions(l)
}

// outside leaves a cluster that no manual partition matches where it is.
func (m *member) outside(l *lane) {
	m.group, m.lane, m.stale = nil, nil, false
	if m.wanted() {
		l.shares.outside = append(l.shares.outside, m)
		m.kept = &Hold{NotInPartition, "no partition of the bundle's spec.rolloutStrategy.partitions matches the cluster: it stays as it is"}
	}
}

// forgetOldPartitions drops what is recorded of partitions that the present cut does
// not have: their names come from its numbers.
func (p *planner) forgetOldPartitions(l *lane) {
	if p.held != nil {
		return
	}
	p.out.Record.Groups = slices.DeleteFunc(p.out.Record.Groups, func(g RecordedGroup) bool {
		return g.Lane == l.Name && l.byKey[g.GroupKey] == nil
	})
}

// cutOf is the lane's cut: the recorded one while it fits, else one of the clusters
// that are there now. It stays the same while clusters come and go, so that the
// partitions keep their names and their gates.
func (p *planner) cutOf(l *lane, in []*member) PartitionCut {
	r := &p.out.Record
	i := slices.IndexFunc(r.Cuts, func(c PartitionCut) bool { return c.Lane == l.Name })
	if i >= 0 && l.Partitions.fits(r.Cuts[i], len(in)) {
		return r.Cuts[i]
	}
	cut := PartitionCut{Lane: l.Name, Clusters: len(in), Size: l.Partitions.size(len(in))}
	if len(l.Partitions.Manual) > 0 {
		cut.Counts = make([]int, len(l.Partitions.Manual))
		keys := l.Partitions.keys(cut)
		for _, m := range in {
			if k := l.Partitions.place(cut, keys, 0, m); k >= 0 {
				cut.Counts[k]++
			}
		}
	}
	if p.held == nil {
		// What is not known for certain is not remembered.
		r.Cuts = slices.DeleteFunc(slices.Clone(r.Cuts), func(c PartitionCut) bool { return c.Lane == l.Name })
		r.Cuts = append(r.Cuts, cut)
		slices.SortFunc(r.Cuts, func(a, b PartitionCut) int { return cmp.Compare(a.Lane, b.Lane) })
	}
	return cut
}

// fits tells whether a cut is still good for n clusters and the present settings. Those
// that fall below the threshold stay cut for this revision: a cluster that leaves must
// not open what a bad change was to be kept out of.
func (s *Partitions) fits(cut PartitionCut, n int) bool {
	if cut.Clusters == 0 || n >= 2*cut.Clusters || len(cut.Counts) != len(s.Manual) {
		return false
	}
	if len(s.Manual) > 0 {
		return true
	}
	t := s.threshold()
	return (cut.Clusters >= t || n < t) && cut.Size == s.size(cut.Clusters)
}

func (s *Partitions) threshold() int {
	if s.AutoThreshold != nil {
		return *s.AutoThreshold
	}
	return defaultAutoThreshold
}

// size of each automatic partition of n clusters but the last; 0 for one of all.
func (s *Partitions) size(n int) int {
	value := &defaultAutoSize
	if s.AutoSize != nil {
		value = s.AutoSize
	}
	t, off := s.threshold(), noSize(*value)
	if len(s.Manual) > 0 || t <= 0 || n < t || off {
		return 0
	}
	if size := limit(n, value); size < n {
		return size
	}
	return 0
}

// noSize tells whether a size is a number of at most 0, which switches automatic
// partitions off.
func noSize(v intstr.IntOrString) bool {
	if v.Type == intstr.Int {
		return v.IntValue() <= 0
	}
	n, percent, err := readLimit(v)
	return err == nil && !percent && n == 0
}

// keys are the partitions' names in order. Automatic ones are named by the cut's
// numbers, so that a name stays while clusters join.
func (s *Partitions) keys(cut PartitionCut) []GroupKey {
	var keys []GroupKey
	seen := map[string]int{}
	for _, m := range s.Manual {
		keys = append(keys, GroupKey{Name: m.Name, Index: seen[m.Name]})
		seen[m.Name]++
	}
	switch {
	case len(keys) > 0:
		return keys
	case cut.Size == 0:
		return []GroupKey{{Name: DefaultGroup}}
	}
	for from := 0; from < cut.Clusters; from += cut.Size {
		keys = append(keys, GroupKey{Name: fmt.Sprintf("Partition %d - %d", from, min(from+cut.Size, cut.Clusters))})
	}
	return keys
}

// place is the number of the partition of the cluster with this rank in name order,
// from 0; -1 for none. Clusters beyond the number at the cut are in the last one.
func (s *Partitions) place(cut PartitionCut, keys []GroupKey, rank int, m *member) int {
	switch {
	case len(s.Manual) == 0 && cut.Size == 0:
		return 0
	case len(s.Manual) == 0:
		return min(rank/cut.Size, len(keys)-1)
	case m.Partition > 0 && m.Partition <= len(keys):
		return m.Partition - 1
	case m.wanted() || m.Work == nil:
		return -1
	}
	// It was deselected a moment ago: until that is certain it counts where it was.
	return slices.Index(keys, m.Work.Place.GroupKey)
}

// limitOf a partition: its own maxUnavailable, else the strategy's.
func (s *Partitions) limitOf(i int) *intstr.IntOrString {
	if i < len(s.Manual) && s.Manual[i].MaxUnavailable != nil {
		return s.Manual[i].MaxUnavailable
	}
	return s.MaxUnavailable
}

// asked tells whether somebody wrote a gate: with Fleet's defaults nobody did.
func (s *Partitions) asked() bool {
	return len(s.Manual) > 0 || s.MaxUnavailable != nil || s.MaxUnavailablePartitions != nil || s.AutoSize != nil || s.AutoThreshold != nil
}

// then is how many clusters the cut gave a partition.
func (c PartitionCut) then(i int) int {
	switch {
	case i < len(c.Counts):
		return c.Counts[i]
	case c.Size == 0:
		return c.Clusters
	}
	return min(c.Size, c.Clusters-i*c.Size)
}

// mostUnavailable is a limit of the smaller of the clusters at the cut and now, so
// that clusters which join do not widen a gate that is in use. 100% is never a gate.
func mostUnavailable(then, now int, value *intstr.IntOrString) int {
	if then > 0 && !unlimited(value) {
		now = min(then, now)
	}
	return limit(now, value)
}

// gatePartitions computes which partitions pass and are open. The next one starts only
// while at most maxUnavailablePartitions are not ready.
func (p *planner) gatePartitions(l *lane) {
	s := l.Partitions
	l.shares.whole = newBudget(nil, mostUnavailable(l.shares.cut.Clusters, len(l.shares.all), s.MaxUnavailable), s.MaxUnavailable, s.MaxNew)
	for _, m := range l.shares.all {
		if m.unavailable() {
			l.shares.whole.down = append(l.shares.whole.down, m)
		}
	}
	zero := intstr.FromInt32(0)
	most := limit(l.shares.partitions, cmp.Or(s.MaxUnavailablePartitions, &zero))
	var notReady []*group
	for _, g := range l.groups {
		p.gatePartition(g)
		if g.open = len(notReady) <= most; !g.open {
			g.closed = notReadySentence(notReady, most)
		}
		if g.budget.notReady {
			notReady = append(notReady, g)
		}
		if l.current == nil && !g.passed {
			l.current = g
		}
	}
	p.tellOutside(l)
	p.tellIneffective(l)
}

// gatePartition judges one partition: there are no failures and no late joiners here,
// every cluster counts.
func (p *planner) gatePartition(g *group) {
	s := g.lane.Partitions
	value := s.limitOf(g.partition)
	g.label = g.Label()
	b := newBudget(g.members, mostUnavailable(g.lane.shares.cut.then(g.partition), len(g.members), value), value, s.MaxNew)
	b.whole, g.budget = g.lane.shares.whole, b
	for _, m := range g.members {
		g.counts.add(m.state)
		if m.state != Done {
			g.holding = append(g.holding, m)
		}
		if m.inFlight() {
			g.flight.add(m)
		}
		if m.unavailable() {
			b.down = append(b.down, m)
		}
	}
	// With Done needing success only, whoever holds is pending or unavailable.
	b.notReady = len(g.holding) > b.most
	g.size, g.max = len(g.members), len(g.members)
	g.passed = g.counts.Pending == 0 && !b.notReady
}

// notReadySentence is what the clusters of a partition that is not started wait for.
func notReadySentence(notReady []*group, most int) Hold {
	g := notReady[0]
	sentence := fmt.Sprintf("waiting for %s: %s not up to date %s, maxUnavailable is %d", g.called(), manyAre(len(g.holding)), names(g.holding, 5), g.budget.most)
	if most > 0 {
		sentence += fmt.Sprintf("; %d partitions are not ready, maxUnavailablePartitions is %d", len(notReady), most)
	}
	return Hold{PartitionNotReady, sentence}
}

// called is a group in a sentence: a partition is a partition.
func (g *group) called() string {
	switch {
	case g.lane.Partitions == nil:
		return "group " + g.label
	case strings.HasPrefix(g.label, "Partition "):
		return g.label
	}
	return "partition " + g.label
}

// tellOutside names the clusters that no manual partition matches.
func (p *planner) tellOutside(l *lane) {
	if n := len(l.shares.outside); n > 0 && p.held == nil {
		p.out.Warnings = append(p.out.Warnings, Hold{NotInPartition,
			fmt.Sprintf("%s in no partition of spec.rolloutStrategy.partitions %s: nothing is deployed or changed there", manyAre(n), names(l.shares.outside, 5))})
	}
}

// tellIneffective warns of partitions that somebody wrote and that can hold nothing.
func (p *planner) tellIneffective(l *lane) {
	s := l.Partitions
	if p.held != nil || !s.asked() {
		return
	}
	var idle []string
	for _, g := range l.groups {
		if !holdsSomething(s.limitOf(g.partition), len(g.members)) {
			idle = append(idle, g.called())
		}
	}
	if len(idle) == 0 {
		return
	}
	more := ""
	if n := len(idle) - 5; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	p.out.Warnings = append(p.out.Warnings, Hold{PartitionGateIneffective, fmt.Sprintf(
		"maxUnavailable of %s%s is all of its clusters, so it holds nothing back: set maxUnavailable to a smaller number, 0 for one cluster at a time",
		strings.Join(idle[:min(5, len(idle))], ", "), more)})
}

// holdsSomething tells whether a limit can hold back anything among n clusters.
func holdsSomething(value *intstr.IntOrString, n int) bool {
	return !unlimited(value) && limit(n, value) < n
}

// partitionStop is why a partition has not passed.
func (p *planner) partitionStop(g *group) (Reason, string) {
	switch {
	case g.passed && len(g.holding) == 0:
		return Complete, fmt.Sprintf("%s done", manyAre(g.counts.Done))
	case g.passed:
		return Complete, fmt.Sprintf("passed: %s not available %s, maxUnavailable is %d", manyAre(len(g.holding)), names(g.holding, 5), g.budget.most)
	case p.out.Hold != nil:
		return p.out.Hold.Reason, p.out.Hold.Sentence
	case g.lane.held != nil:
		return g.lane.held.Reason, g.lane.held.Sentence
	case !g.open:
		return g.closed.Reason, g.closed.Sentence
	}
	return g.partitionReason(), g.partitionSentence()
}

// stop is what the limits told the clusters that they kept back; empty if none.
func (b *budget) stop() Hold {
	if b.newStop != (Hold{}) {
		return b.newStop
	}
	return b.oldStop
}

// partitionReason is what keeps an open partition: its limits, while they keep
// clusters back, else its clusters.
func (g *group) partitionReason() Reason {
	if stop := g.budget.stop(); stop != (Hold{}) {
		return stop.Reason
	}
	for _, m := range g.holding {
		if m.state != Pending {
			return m.reason()
		}
	}
	return g.holding[0].reason()
}

func (g *group) partitionSentence() string {
	switch stop := g.budget.stop(); {
	case stop.Reason == MaxNew && g.budget.maxNew == 0:
		return stop.Sentence // No cluster is the cause.
	case stop != (Hold{}):
		return stop.Sentence + g.because()
	}
	return g.progressSentence() + g.because()
}
