package rollout

import (
	"fmt"
	"slices"
)

// vanish holds the lanes that have lost a group which had clusters once: nobody would
// try a revision before the groups that come after it. What holds a lane already is
// told first, and then nothing is asked that would not help.
func (p *planner) vanish() {
	if p.held != nil {
		return
	}
	for _, l := range p.lanes {
		if l.view == nil {
			continue
		}
		gone := p.vanished(l)
		if len(gone) == 0 || l.held != nil {
			continue
		}
		for _, name := range gone {
			h := Hold{GroupVanished, fmt.Sprintf(
				"group %s of Placement %s had clusters and has none now: lane %s is held until it has some again, or until that is confirmed with: %s",
				shownGroup(name), l.Placement, l.Name, p.confirmCommand())}
			if l.held == nil {
				l.held = &h
			}
			p.out.Confirm = append(p.out.Confirm, ConfirmRequest{Reason: h.Reason, Subject: l.subject(name), Sentence: h.Sentence})
		}
	}
}

// vanished are the recorded named groups of a lane that have no members, in name
// order. Those that a person confirmed are forgotten. The unnamed rest is last and
// opens nothing when it goes: an ordinary relabel passes through it.
func (p *planner) vanished(l *lane) []string {
	present := map[string]bool{}
	for _, g := range l.groups {
		present[g.Name] = true
	}
	var gone []string
	r := &p.out.Record
	r.Groups = slices.DeleteFunc(r.Groups, func(g RecordedGroup) bool {
		if g.Lane != l.Name || g.Name == "" || present[g.Name] {
			return false
		}
		if p.agreed(GroupVanished, l.subject(g.Name)) {
			return true
		}
		if !slices.Contains(gone, g.Name) {
			gone = append(gone, g.Name)
		}
		return false
	})
	return gone
}

// subject names a group in a confirmation.
func (l *lane) subject(group string) string { return l.Name + "/" + shownGroup(group) }
