package rollout

import (
	"fmt"
	"slices"
	"time"
)

// The guard counts removals in buckets, so that what it remembers is bounded.
const (
	bucketLength = 5 * time.Minute
	guardWindow  = time.Hour
	// guardLeast removals in an hour never need a person.
	guardLeast = 5
	// guardPercent of the most works of the last hour do not either.
	guardPercent = 10
)

// guard carries out the removals that are due as far as they are not too many at
// once, and stamps what is left alone.
func (p *planner) guard() {
	p.keepRemoving()
	p.holdBack()
	counted := false
	fresh := 0
	for _, m := range p.due {
		if m.why.Reason == RemovalGuard {
			continue
		}
		if len(p.out.Remove) == chunk {
			break
		}
		m.acted, counted = true, true
		if m.Exists && !p.isRemoving(m.Name) {
			fresh++
			p.out.Record.Removing = append(p.out.Record.Removing, m.Name)
		}
		p.out.Remove = append(p.out.Remove, Remove{Cluster: m.Name, Deleted: !m.Exists, Why: m.why.Sentence})
	}
	if counted {
		slices.Sort(p.out.Record.Removing)
		p.countRemovals(fresh)
	}
	for i := range p.members {
		p.stamp(&p.members[i])
	}
}

// keepRemoving forgets the clusters whose counted removal is over: the work is gone,
// or wanted again.
func (p *planner) keepRemoving() {
	if len(p.in.Record.Removing) == 0 {
		return
	}
	var still []string
	for i := range p.members {
		m := &p.members[i]
		if m.Work != nil && (m.unwanted || m.Work.Deleting) && p.isRemoving(m.Name) {
			still = append(still, m.Name)
		}
	}
	p.out.Record.Removing = still
}

// isRemoving tells whether the cluster's removal was counted by an earlier plan.
func (p *planner) isRemoving(cluster string) bool {
	_, found := slices.BinarySearch(p.in.Record.Removing, cluster)
	return found
}

// holdBack gives those that are due the guard's reason where too many would lose the
// bundle. Clusters that are deleted, counted before or confirmed pass.
func (p *planner) holdBack() {
	confirmed := p.confirmedRemovals()
	var ask []*member
	fresh := 0
	for _, m := range p.due {
		if !m.Exists || p.isRemoving(m.Name) {
			continue
		}
		fresh++
		if !confirmed[m.Name] {
			ask = append(ask, m)
		}
	}
	if len(ask) == 0 {
		return // Nearly always: no work is looked at for that.
	}
	why := p.tooMany(fresh)
	if why == "" {
		return
	}
	request := ConfirmRequest{Reason: RemovalGuard, Sentence: fmt.Sprintf(
		"%s; removing the bundle from %s has to be confirmed with: %s", why, plural(len(ask)), p.confirmCommand())}
	p.heldBack = &Hold{RemovalGuard, request.Sentence}
	for _, m := range ask {
		m.why = *p.heldBack
		request.Clusters = append(request.Clusters, m.Name)
	}
	p.out.Confirm = append(p.out.Confirm, request)
	for _, b := range p.recentRemovals() {
		p.at(b.expires())
	}
}

// confirmedRemovals are the clusters whose removal a person confirmed.
func (p *planner) confirmedRemovals() map[string]bool {
	out := map[string]bool{}
	for _, c := range p.in.Confirmations {
		if c.Reason != RemovalGuard || c.Revision != p.in.Revision {
			continue
		}
		for _, name := range c.Clusters {
			out[name] = true
		}
	}
	return out
}

// tooMany says why fresh more removals are too many; "" if they are not.
func (p *planner) tooMany(fresh int) string {
	works, stay := p.countWorks()
	most, removed := works, 0
	for _, b := range p.recentRemovals() {
		most, removed = max(most, b.Works), removed+b.Removed
	}
	limit := max(guardLeast, most*guardPercent/100)
	switch {
	case stay == 0 && most > 1:
		return fmt.Sprintf("no cluster of %d would keep the bundle", most)
	case removed+fresh > limit:
		return fmt.Sprintf("%d of %d clusters would lose the bundle within an hour, more than %d", removed+fresh, most, limit)
	}
	return ""
}

// countWorks counts the works, and those that nothing speaks against.
func (p *planner) countWorks() (works, stay int) {
	for i := range p.members {
		m := &p.members[i]
		if m.Work == nil || m.Work.Deleting {
			continue
		}
		works++
		if !m.unwanted {
			stay++
		}
	}
	return works, stay
}

// recentRemovals are the buckets that the last hour touches.
func (p *planner) recentRemovals() []RemovalBucket {
	var out []RemovalBucket
	for _, b := range p.out.Record.Removals {
		if p.now.Before(b.expires()) {
			out = append(out, b)
		}
	}
	return out
}

// expires is when the last removal of the bucket is an hour ago.
func (b RemovalBucket) expires() time.Time { return b.At.Add(bucketLength + guardWindow) }

// countRemovals counts the plan's removals. The works are the most only as far as
// removals made them fewer: what grows is counted when it is looked at, so that a
// rollout that comes to more clusters need not be remembered for this.
func (p *planner) countRemovals(fresh int) {
	r := &p.out.Record
	r.Removals = slices.Clone(p.recentRemovals())
	at := p.now.Truncate(bucketLength)
	i := slices.IndexFunc(r.Removals, func(b RemovalBucket) bool { return b.At.Equal(at) })
	if i < 0 {
		i = len(r.Removals)
		r.Removals = append(r.Removals, RemovalBucket{At: at})
	}
	works, _ := p.countWorks()
	r.Removals[i].Works = max(r.Removals[i].Works, works)
	r.Removals[i].Removed += fresh
}
