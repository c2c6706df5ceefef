package rollout

import (
	"strings"
	"testing"
	"time"
)

// opened records that groups were opened at the middle between epoch and testNow.
func opened(in *Input, groups ...string) time.Time {
	at := epoch.Add(30 * time.Minute)
	for _, name := range groups {
		in.Record.Groups = append(in.Record.Groups, RecordedGroup{Place{"fleet", GroupKey{Name: name}}, at})
	}
	return at
}

// since makes a cluster come into the lane at a time.
func since(t *testing.T, in *Input, name string, at time.Time) {
	t.Helper()
	c := in.cluster(t, name)
	c.Created = at
	if c.Work != nil {
		c.Work.Stamps.MemberSince = at
	}
}

func TestLateJoiners(t *testing.T) {
	tests := map[string]struct {
		strategy Strategy
		fleet    []string
		late     []string
		opened   []string
		want     string
		passed   bool
		breached bool
	}{
		"one under way is not waited for":     {perGroup("0"), []string{"a g Done", "l g Progressing", "c h -"}, []string{"l"}, []string{"g"}, "c", true, false},
		"one that was there is":               {perGroup("0"), []string{"a g Done", "l g Progressing", "c h -"}, nil, []string{"g"}, "", false, false},
		"before the group opens nobody is":    {perGroup("0"), []string{"a g Done", "l g Progressing", "c h -"}, []string{"l"}, nil, "", false, false},
		"one without a work is admitted":      {perGroup("0"), []string{"a g Done", "l g -", "c h -"}, []string{"l"}, []string{"g"}, "c l", true, false},
		"its failure counts":                  {perGroup("0"), []string{"a g Done", "l g Failed", "c h -"}, []string{"l"}, []string{"g"}, "", false, true},
		"and is tolerated":                    {perGroup("1"), []string{"a g Done", "l g Failed", "c h -"}, []string{"l"}, []string{"g"}, "c", true, false},
		"it makes no percentage larger":       {perGroup("50%"), []string{"a g Failed", "b g Done", "l g Failed", "c h -"}, []string{"l"}, []string{"g"}, "", false, true},
		"a number as large as the group":      {perGroup("1"), []string{"a g Failed", "l g Failed", "c h -"}, []string{"l"}, []string{"g"}, "", false, true},
		"more than the size tolerates it too": {perGroup("2"), []string{"a g Failed", "l g Failed", "m g Failed", "c h -"}, []string{"l", "m"}, []string{"g"}, "c", true, false},
		"a group of nobody else is passed":    {perGroup("0"), []string{"l g Progressing", "c h -"}, []string{"l"}, []string{"g"}, "c", true, false},
		"it takes the last slot":              {eachGroup(perGroup("0"), "1"), []string{"a g -", "z g -"}, []string{"a"}, []string{"g"}, "z", false, false},
		"it is counted in flight":             {eachGroup(perGroup("0"), "1"), []string{"a g Soaking", "z g -"}, []string{"a"}, []string{"g"}, "", false, false},
		"a percentage of slots without it":    {eachGroup(perGroup("0"), "50%"), []string{"a g -", "b g -", "l g -", "m g -"}, []string{"l", "m"}, []string{"g"}, "a", false, false},
		"in a queue":                          {queueOf("1", "0"), []string{"a g -", "z h -"}, []string{"a"}, []string{"g", "h"}, "z", true, false},
		"its failure counts in a queue":       {queueOf("", "50%"), []string{"a g Failed", "b g Done", "l g Failed", "c h -"}, []string{"l"}, []string{"g", "h"}, "c", true, false},
		"of a queue that is smaller":          {queueOf("", "50%"), []string{"a g Failed", "l g Failed", "c h -"}, []string{"l"}, []string{"g", "h"}, "", false, true},
		"with All":                            {Strategy{Type: All}, []string{"a g -", "l g -"}, []string{"l"}, []string{"g"}, "a l", false, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := fleetOf(tt.strategy, tt.fleet...)
			at := opened(&in, tt.opened...)
			for _, name := range tt.late {
				since(t, &in, name, at.Add(time.Second))
			}
			r := Plan(in, testNow)
			g := r.Lanes[0].Groups[0]
			if admitted(r) != tt.want || g.Passed != tt.passed || r.Breached != tt.breached {
				t.Errorf("admitted %q, passed %v, breached %v: %s", admitted(r), g.Passed, r.Breached, g.Sentence)
			}
			want := 0
			if len(tt.opened) > 0 {
				want = len(tt.late)
			}
			if g.LateJoiners != want {
				t.Errorf("%d late joiners are told", g.LateJoiners)
			}
			for _, name := range tt.late {
				if row(t, r, name).Late != (want > 0) {
					t.Errorf("%s is told late: %v", name, want == 0)
				}
			}
		})
	}
}

// TestWhoIsLate: what counts is when the cluster came into the lane.
func TestWhoIsLate(t *testing.T) {
	tests := map[string]struct {
		state  string
		change func(*Input, *Cluster, time.Time)
		want   bool
	}{
		"created before":        {"-", func(_ *Input, c *Cluster, at time.Time) { c.Created = at }, false},
		"created after":         {"-", func(_ *Input, c *Cluster, at time.Time) { c.Created = at.Add(1) }, true},
		"a member since before": {"Done", func(_ *Input, c *Cluster, at time.Time) { c.Work.Stamps.MemberSince = at }, false},
		"a member since after":  {"Done", func(_ *Input, c *Cluster, at time.Time) { c.Work.Stamps.MemberSince = at.Add(1) }, true},
		"from another lane":     {"Done", func(_ *Input, c *Cluster, _ time.Time) { c.Work.Place.Lane = "other" }, false},
		"from another lane, decided since after": {"Done", func(in *Input, c *Cluster, at time.Time) {
			c.Work.Place.Lane = "other"
			rejoin(in, at, testSettle)
		}, true},
		"a lost stamp is not":     {"Done", func(_ *Input, c *Cluster, _ time.Time) { c.Work.Stamps.MemberSince = time.Time{} }, false},
		"from another group":      {"Done", func(_ *Input, c *Cluster, _ time.Time) { c.Work.Place.Name = "other" }, false},
		"decided since after":     {"-", func(in *Input, _ *Cluster, at time.Time) { rejoin(in, at, testSettle) }, true},
		"missing for a moment":    {"-", func(in *Input, _ *Cluster, at time.Time) { rejoin(in, at, testSettle-1) }, false},
		"a new revision is later": {"-", func(in *Input, c *Cluster, at time.Time) { c.Created, in.Record.Revision = at.Add(1), "v1" }, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := fleetOf(perGroup("0"), "a g "+tt.state, "b g Done")
			at := opened(&in, "g")
			tt.change(&in, in.cluster(t, "a"), at)
			if got := row(t, Plan(in, testNow), "a").Late; got != tt.want {
				t.Errorf("late: %v", got)
			}
		})
	}
}

// TestNobodyIsLateForALaneThatIsNew: clusters that a lane decides when it opens its
// groups are its members, whatever lane their works still name. The next group waits
// for all of them, not only for those that were written first.
func TestNobodyIsLateForALaneThatIsNew(t *testing.T) {
	in := fleetOf(eachGroup(perGroup("0"), "1"), "a dev Old", "b dev Old", "z stg Old")
	for i := range in.Clusters {
		in.Clusters[i].Work.Place.Lane = "former"
	}
	first := Plan(in, testNow)
	if admitted(first) != "a" {
		t.Fatalf("admitted %q", admitted(first))
	}
	in.Record = first.Record
	done := clusterIn("a", Place{"fleet", GroupKey{Name: "dev"}}, string(Done))
	done.Work.Stamps.MemberSince = first.Admit[0].Stamps.MemberSince
	*in.cluster(t, "a") = done
	if r := Plan(in, testNow.Add(time.Minute)); admitted(r) != "b" || r.Lanes[0].Groups[0].LateJoiners != 0 {
		t.Errorf("admitted %q with %d late joiners: %s", admitted(r), r.Lanes[0].Groups[0].LateJoiners, r.Sentence)
	}
}

// rejoin lets cluster a leave the decisions and come back after a while.
func rejoin(in *Input, at time.Time, missing time.Duration) {
	view := in.Views["app/fleet"]
	with := view.Snapshot
	without := with
	without.Where = map[string]GroupKey{"b": with.Where["b"]}
	view = Observe(view, without, testSettle, at)
	in.Views["app/fleet"] = Observe(view, with, testSettle, at.Add(missing))
}

func TestNewcomers(t *testing.T) {
	closed := func(*Input, *Cluster) {}
	tests := map[string]struct {
		fleet  []string
		change func(*Input, *Cluster)
		want   string
	}{
		"a closed group":                   {[]string{"a dev Progressing", "n prod -"}, closed, "n=v1"},
		"an open one gets what is new":     {[]string{"a dev Done", "n prod -"}, closed, "n=v2"},
		"a breached lane":                  {[]string{"a dev Failed", "n dev -"}, closed, "n=v1"},
		"one with a work waits":            {[]string{"a dev Progressing", "n prod Old"}, closed, ""},
		"nothing was ever completed":       {[]string{"a dev Progressing", "n prod -"}, func(in *Input, _ *Cluster) { in.Record.CompletedRevision = "" }, ""},
		"this very revision was completed": {[]string{"a dev Progressing", "n prod -"}, func(in *Input, _ *Cluster) { in.Record.CompletedRevision = "v2" }, ""},
		"which does not select it":         {[]string{"a dev Progressing", "n prod -"}, func(_ *Input, c *Cluster) { c.CompletedID = "" }, ""},
		"while paused":                     {[]string{"a dev Progressing", "n prod -"}, func(in *Input, _ *Cluster) { in.Pauses = []string{"the Rollout"} }, ""},
		"while held":                       {[]string{"a dev Progressing", "n prod -"}, func(in *Input, _ *Cluster) { in.Blocks = []Hold{{TooLarge, "x"}} }, ""},
		"while the lane is held":           {[]string{"a dev Progressing", "n prod -"}, func(in *Input, _ *Cluster) { in.Source.Lanes[0].Strategy.Mandatory = []MandatoryGroup{{Name: "x"}} }, ""},
		"while its add-on goes":            {[]string{"a dev Progressing", "n prod -"}, func(_ *Input, c *Cluster) { c.AddOn = AddOnDeleting }, ""},
		"without the add-on":               {[]string{"a dev Progressing", "n prod -"}, func(_ *Input, c *Cluster) { c.AddOn = AddOnMissing }, "n=v1"},
		"nobody selects it":                {[]string{"a dev Progressing", "n prod -"}, func(_ *Input, c *Cluster) { c.Selected = false }, ""},
		"its place is not settled":         {[]string{"a dev Progressing", "n prod -", "m dev Done"}, func(in *Input, _ *Cluster) { move(in, "n", "dev") }, ""},
		"the new one cannot be rendered":   {[]string{"a dev Progressing", "n prod -"}, func(_ *Input, c *Cluster) { c.DesiredID, c.RenderError = "", "bad" }, "n=v1"},
		"within maxConcurrency": {[]string{"a dev Progressing", "m prod -", "n prod -"}, func(in *Input, _ *Cluster) {
			in.Source.Lanes[0].Strategy = eachGroup(perGroup("0"), "1")
			in.Clusters[1].CompletedID = "v1"
		}, "m=v1"},
		"the older one first": {[]string{"a dev Progressing", "m prod -", "n prod -"}, func(in *Input, c *Cluster) {
			in.Source.Lanes[0].Strategy = eachGroup(perGroup("0"), "1")
			in.Clusters[1].CompletedID, in.Clusters[1].Created = "v1", c.Created.Add(1)
		}, "n=v1"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := fleetOf(perGroup("0"), tt.fleet...)
			in.Record.CompletedRevision = "v1"
			n := in.cluster(t, "n")
			n.CompletedID = "v1"
			tt.change(&in, n)
			r := Plan(in, testNow)
			var got []string
			for _, a := range r.Admit {
				got = append(got, a.Cluster+"="+a.ID)
				if a.Revision != a.ID || a.MinSuccessTime != testSoak || a.Stamps.MemberSince.IsZero() {
					t.Errorf("%+v", a)
				}
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("admitted %v, want %s", got, tt.want)
			}
			if strings.HasSuffix(tt.want, "=v1") && in.Clusters[1].RenderError == "" {
				if c := row(t, r, "n"); c.State != Pending || (c.Reason != WaitingForGroup && c.Reason != FailureBudgetExceeded) {
					t.Errorf("%s %s %s", c.State, c.Reason, c.Sentence)
				}
			}
		})
	}
}

// move shows a cluster in another group since just now.
func move(in *Input, name, group string) {
	view := in.Views["app/fleet"]
	s := view.Snapshot
	s.Where = map[string]GroupKey{}
	for n, key := range view.Snapshot.Where {
		s.Where[n] = key
	}
	s.Where[name] = GroupKey{Name: group}
	in.Views["app/fleet"] = Observe(view, s, testSettle, testNow.Add(-time.Second))
}

// TestNewcomerStands: what runs the completed revision in a closed group is out of
// sync, in flight until it is settled, and admitted when its turn comes.
func TestNewcomerStands(t *testing.T) {
	in := fleetOf(perGroup("0"), "a dev Progressing", "n prod Soaking")
	superseded(t, &in, "n")
	r := Plan(in, testNow)
	if c := row(t, r, "n"); c.State != Pending || c.Shown != ShownOutOfSync || r.Lanes[0].Groups[1].InFlight != 1 || len(r.Admit) > 0 {
		t.Errorf("%+v, admitted %s", c, admitted(r))
	}
}

// TestSince: when a state began, as far as the stamps tell.
func TestSince(t *testing.T) {
	admittedAt := testNow.Add(-30 * time.Second)
	for state, want := range map[string]time.Time{
		"-": epoch, "Old": epoch, "Progressing": admittedAt, "Soaking": testNow.Add(-5 * time.Second), "Recovering": testNow.Add(-5 * time.Second),
		"Done": admittedAt.Add(-30 * time.Second), "Failed": admittedAt, "TimedOut": admittedAt,
	} {
		in := fleetOf(perGroup("0"), "a g "+state)
		if got := row(t, Plan(in, testNow), "a").Since; !got.Equal(want) {
			t.Errorf("%s since %s, want %s", state, got, want)
		}
	}
	in := fleetOf(perGroup("0"), "a g Done")
	in.Clusters[0].Available = false
	if got := row(t, Plan(in, testNow), "a").Since; !got.Equal(testNow) {
		t.Errorf("lost since %s", got)
	}
	in.Clusters[0].DesiredID = "v2-relabelled"
	if got := row(t, Plan(in, testNow), "a").Since; !got.IsZero() {
		t.Errorf("another id in the same revision since %s", got)
	}
}
