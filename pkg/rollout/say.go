package rollout

import (
	"fmt"
	"strings"
	"time"
)

// clock is a time as sentences show it: absolute, so that a sentence stays the same
// while nothing happens.
func clock(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func manyAre(n int) string {
	if n == 1 {
		return "1 cluster is"
	}
	return fmt.Sprintf("%d clusters are", n)
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func names(members []*member, most int) string { return namesOf(members, most, len(members)) }

// namesOf names the first of so many.
func namesOf(members []*member, most, total int) string {
	if len(members) == 0 || most <= 0 {
		return ""
	}
	list := make([]string, 0, most)
	for _, m := range members[:min(most, len(members))] {
		list = append(list, m.Name)
	}
	more := ""
	if n := total - len(list); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return "(" + strings.Join(list, ", ") + more + ")"
}

// progressSentence says how far the group's unsettled clusters are, naming up to
// five; or, when none is left, which failures are too many.
func (g *group) progressSentence() string {
	if len(g.holding) == 0 {
		return g.failureSentence()
	}
	by := map[State][]*member{}
	for _, m := range g.holding {
		state := m.state
		if state.Failure() {
			state = Failed // Only partitions wait for failures too.
		}
		by[state] = append(by[state], m)
	}
	var parts []string
	left := 5
	for _, s := range []struct {
		state State
		word  string
	}{{Failed, "failed"}, {Progressing, "progressing"}, {Soaking, "soaking"}, {Pending, "pending"}} {
		members := by[s.state]
		n := len(members)
		if n == 0 {
			continue
		}
		word := g.word(s.state, s.word)
		if len(parts) == 0 {
			parts = append(parts, fmt.Sprintf("%d of %s %s %s", n, plural(g.size), isAre(n), word))
		} else {
			parts = append(parts, fmt.Sprintf("%d %s %s", n, isAre(n), word))
		}
		if list := names(members, left); list != "" {
			parts[len(parts)-1] += " " + list
		}
		left -= min(n, left)
	}
	return strings.Join(parts, ", ")
}

// word is the group's word for a state, with the time that is waited for.
func (g *group) word(s State, word string) string {
	switch {
	case s == Progressing && !g.endless && !g.failsAt.IsZero():
		return word + " until " + clock(g.failsAt) + " at most"
	case s != Soaking:
		return word
	case g.soaksTo.IsZero():
		// A time that is over would make people wait for nothing.
		return "soaked and not confirmed by the cluster"
	}
	return word + " until " + clock(g.soaksTo)
}

func plural(n int) string {
	if n == 1 {
		return "1 cluster"
	}
	return fmt.Sprintf("%d clusters", n)
}

func (g *group) failureSentence() string {
	if l := g.lane; g.queued() && (g.tolerates == nil || (g.over && g.failures <= g.max)) {
		return fmt.Sprintf("%d of %s of the lane failed %s, maxFailures is %d", l.failures, plural(l.total()), names(l.failing, 5), l.max)
	}
	return fmt.Sprintf("%d of %s failed %s, maxFailures is %d", g.failures, plural(len(g.members)), names(g.failing, 5), g.max)
}

// because is the word of the first cluster that is in trouble, so that nobody has to
// look further for the cause.
func (g *group) because() string {
	if g.over {
		return g.says(g.failing[0], g.failing[0].sentence())
	}
	for _, m := range g.holding {
		switch {
		case m.state == Progressing:
			return g.says(m, m.progressSentence())
		case m.state.Failure():
			return g.says(m, m.sentence())
		}
	}
	for _, m := range g.holding {
		if m.state == Pending && m.why.Reason == MaxConcurrency {
			return g.says(m, m.why.Sentence)
		}
	}
	return ""
}

// unwaited tells of the late joiners that are not settled.
func (g *group) unwaited() string {
	if len(g.lagging) == 0 {
		return ""
	}
	return fmt.Sprintf("; %s not waited for %s: came after the group was opened", manyAre(len(g.lagging)), names(g.lagging, 5))
}

func (g *group) says(m *member, sentence string) string {
	if len(g.members) == 1 {
		return ": " + sentence
	}
	return "; " + m.Name + ": " + sentence
}

// reason of an open group that has not passed: of its first progressing cluster,
// then of a pending one, else the soak.
func (g *group) reason() Reason {
	if g.lane.Partitions != nil {
		return g.partitionReason()
	}
	if len(g.holding) == 0 {
		return FailureBudgetExceeded
	}
	var pending *member
	for _, m := range g.holding {
		if m.state == Progressing {
			return m.reason()
		}
		if m.state == Pending && pending == nil {
			pending = m
		}
	}
	if pending != nil {
		return pending.reason()
	}
	return SoakingReason
}

// short cuts somebody else's message for a sentence.
func short(message string) string {
	const most = 200
	if len(message) <= most {
		return message
	}
	return strings.ToValidUTF8(message[:most], "") + "…"
}
