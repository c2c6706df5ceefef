package simulate

import (
	"slices"
	"strings"
	"time"

	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

// What happened.
type What string

// Everything that an entry can tell. The first ones are the script's, the others what
// came of it.
const (
	Commit      What = "commit"
	Pauses      What = "paused"
	Resumes     What = "resumed"
	Confirmed   What = "confirmed"
	GoesOffline What = "offline"
	ComesBack   What = "online"
	Joins       What = "joined"
	Leaves      What = "deleted"
	Relabelled  What = "relabelled"

	Ready      What = "ready"
	Done       What = "done"
	Failed     What = "failed"
	TimedOut   What = "timed out"
	Recovers   What = "ready again"
	Lost       What = "no longer ready"
	Breached   What = "breached"
	Recovered  What = "no longer breached"
	Passed     What = "passed"
	Closed     What = "no longer passed"
	Opened     What = "opened"
	Admitted   What = "admitted"
	Newcomer   What = "given the last completed revision"
	Waits      What = "waits"
	Held       What = "held"
	Asks       What = "held until a person confirms"
	LetGo      What = "no longer held"
	Removed    What = "removed"
	IsComplete What = "complete"
)

// maxNames of clusters in one entry.
const maxNames = 5

// Entry is one line of the timeline.
type Entry struct {
	// At is the simulated time, and Seconds the same as a number.
	At      Duration `json:"at"`
	Seconds float64  `json:"seconds"`
	Lane    string   `json:"lane,omitempty"`
	Group   string   `json:"group,omitempty"`
	What    What     `json:"what"`
	// Count of clusters, and the first five.
	Count    int      `json:"count,omitempty"`
	Clusters []string `json:"clusters,omitempty"`
	Why      string   `json:"why,omitempty"`
}

// Duration is written as Go writes it, such as 1m30s.
type Duration time.Duration

// MarshalText is encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

func (d Duration) String() string { return time.Duration(d).String() }

// timeline tells what changed from moment to moment.
type timeline struct {
	entries []Entry
	// groups are what was told of them in this revision.
	revision string
	groups   map[rollout.Place]*toldGroup
	holds    map[string]rollout.Reason
	asked    map[string]bool
	complete bool
	// fresh are this moment's admissions by place.
	fresh map[rollout.Place]*admissions
}

type toldGroup struct {
	opened           time.Time
	passed, breached bool
	waits            map[rollout.Reason]bool
}

// admissions to the desired id, and of newcomers to the last completed one.
type admissions struct{ desired, completed []string }

func newTimeline() timeline {
	return timeline{
		groups: map[rollout.Place]*toldGroup{}, holds: map[string]rollout.Reason{}, asked: map[string]bool{}, fresh: map[rollout.Place]*admissions{},
	}
}

// tell adds an entry. What happens before the start is nobody's business.
func (t *timeline) tell(s *sim, e Entry) {
	if s.now < 0 {
		return
	}
	e.At, e.Seconds, e.Why = Duration(s.now), s.now.Seconds(), elapsed(e.Why)
	if len(e.Clusters) > maxNames {
		e.Clusters = e.Clusters[:maxNames]
	}
	t.entries = append(t.entries, e)
}

// names tells something of clusters, if there are any.
func (t *timeline) names(s *sim, what What, nodes []*node) {
	if len(nodes) == 0 {
		return
	}
	e := Entry{What: what, Count: len(nodes)}
	for _, n := range nodes[:min(maxNames, len(nodes))] {
		e.Clusters = append(e.Clusters, n.name)
	}
	t.tell(s, e)
}

// admitted notes the admissions of one plan; a moment can have several.
func (t *timeline) admitted(s *sim, list []rollout.Admit) {
	for i := range list {
		a := t.fresh[list[i].Place]
		if a == nil {
			a = &admissions{}
			t.fresh[list[i].Place] = a
		}
		if list[i].Revision == s.revision {
			a.desired = append(a.desired, list[i].Cluster)
		} else {
			a.completed = append(a.completed, list[i].Cluster)
		}
	}
}

// removed tells of one plan's removals, those for one reason together.
func (t *timeline) removed(s *sim, list []rollout.Remove) {
	var entries []Entry
	for i := range list {
		at := slices.IndexFunc(entries, func(e Entry) bool { return e.Why == list[i].Why })
		if at < 0 {
			at = len(entries)
			entries = append(entries, Entry{What: Removed, Why: list[i].Why})
		}
		entries[at].Count++
		entries[at].Clusters = append(entries[at].Clusters, list[i].Cluster)
	}
	for _, e := range entries {
		t.tell(s, e)
	}
}

// asks tells what waits for a person since this moment.
func (t *timeline) asks(s *sim, list []rollout.ConfirmRequest) {
	now := map[string]bool{}
	for i := range list {
		c := &list[i]
		key := string(c.Reason) + " " + c.Subject
		now[key] = true
		if !t.asked[key] {
			t.tell(s, Entry{What: Asks, Count: len(c.Clusters), Clusters: c.Clusters, Why: strings.TrimSpace(key) + ": " + c.Sentence})
		}
	}
	t.asked = now
}

// moment tells what changed since the last moment.
func (t *timeline) moment(s *sim) {
	r := &s.last
	if t.revision != s.revision {
		t.revision, t.complete = s.revision, false
		clear(t.groups)
	}
	changes := newChanges(s)
	for i := range r.Lanes {
		l := &r.Lanes[i]
		for j := range l.Groups {
			g := &l.Groups[j]
			place := rollout.Place{Lane: l.Name, GroupKey: g.GroupKey}
			changes.tell(s, place)
			t.group(s, l, g, place, changes)
		}
	}
	changes.tell(s, rollout.Place{})
	clear(t.fresh)
	t.hold(s, "", r.Hold)
	for i := range r.Lanes {
		t.hold(s, r.Lanes[i].Name, r.Lanes[i].Hold)
	}
	t.asks(s, r.Confirm)
	if r.Complete != t.complete {
		if t.complete = r.Complete; t.complete {
			t.tell(s, Entry{What: IsComplete, Count: r.Counts.Done, Why: r.Sentence})
		}
	}
}

// group tells what became of a group.
func (t *timeline) group(s *sim, l *rollout.LaneResult, g *rollout.GroupResult, place rollout.Place, c *changes) {
	told := t.groups[place]
	if told == nil {
		told = &toldGroup{waits: map[rollout.Reason]bool{}}
		t.groups[place] = told
	}
	tell := func(e Entry) {
		e.Lane, e.Group = l.Name, g.Label()
		t.tell(s, e)
	}
	if g.Breached != told.breached {
		what := map[bool]What{true: Breached, false: Recovered}[g.Breached]
		told.breached = g.Breached
		tell(Entry{What: what, Why: g.Sentence})
	}
	if !g.OpenedAt.Equal(told.opened) {
		told.opened = g.OpenedAt
		tell(Entry{What: Opened, Count: g.Counts.Total})
	}
	if a := t.fresh[place]; a != nil {
		if len(a.desired) > 0 {
			tell(Entry{What: Admitted, Count: len(a.desired), Clusters: a.desired})
		}
		if len(a.completed) > 0 {
			tell(Entry{What: Newcomer, Count: len(a.completed), Clusters: a.completed, Why: s.completed})
		}
	}
	if g.Passed != told.passed && g.Counts.Total > 0 {
		what := map[bool]What{true: Passed, false: Closed}[g.Passed]
		told.passed = g.Passed
		tell(Entry{What: what, Why: g.Sentence})
	}
	if why, ok := c.waits[place]; ok && g.Open && !told.waits[why.Reason] {
		told.waits[why.Reason] = true
		tell(Entry{What: Waits, Why: string(why.Reason) + ": " + why.Sentence})
	}
}

// hold tells that the rollout, or a lane, is held or no longer so.
func (t *timeline) hold(s *sim, lane string, h *rollout.Hold) {
	var now rollout.Reason
	if h != nil {
		now = h.Reason
	}
	if t.holds[lane] == now {
		return
	}
	t.holds[lane] = now
	if h == nil {
		t.tell(s, Entry{Lane: lane, What: LetGo})
		return
	}
	t.tell(s, Entry{Lane: lane, What: Held, Why: string(now) + ": " + h.Sentence})
}
