package rollout

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// queueOf is a Progressive strategy; "" is for no maxConcurrency.
func queueOf(maxConcurrency, maxFailures string, mandatory ...string) Strategy {
	s := perGroup(maxFailures, mandatory...)
	s.Type = Progressive
	if maxConcurrency != "" {
		limit := intstr.Parse(maxConcurrency)
		s.QueueConcurrency = &limit
	}
	return s
}

// eachGroup adds a policy's maxConcurrency for every group.
func eachGroup(s Strategy, maxConcurrency string) Strategy {
	limit := intstr.Parse(maxConcurrency)
	s.GroupConcurrency = &limit
	return s
}

// forGroup adds a policy's settings for one group, as the golden files write them.
func forGroup(t *testing.T, s Strategy, settings string) Strategy {
	t.Helper()
	if err := s.setGroup(settings); err != nil {
		t.Fatal(err)
	}
	return s
}

// superseded gives clusters the revision before, in the state they are in.
func superseded(t *testing.T, in *Input, clusters ...string) {
	t.Helper()
	for _, name := range clusters {
		w := in.cluster(t, name).Work
		w.ID, w.Revision = "v1", "v1"
	}
}

func TestMaxConcurrency(t *testing.T) {
	all := Strategy{Type: All}
	tests := map[string]struct {
		strategy Strategy
		fleet    []string
		old      []string
		want     string
		blocked  string
		says     string
	}{
		"no limit": {perGroup("0"), []string{"a g -", "b g -"}, nil, "a b", "", ""},
		"one of a group": {eachGroup(perGroup("0"), "1"), []string{"a g -", "b g -"}, nil, "a", "b",
			"maxConcurrency of group g is 1 and 1 cluster is in flight (a)"},
		"what progresses counts": {eachGroup(perGroup("0"), "2"), []string{"a g -", "b g -", "z g Progressing"}, nil, "a", "b",
			"maxConcurrency of group g is 2 and 2 clusters are in flight (z, a)"},
		"what soaks counts":              {eachGroup(perGroup("0"), "1"), []string{"a g -", "z g Soaking"}, nil, "", "a", "in flight (z)"},
		"what is done does not":          {eachGroup(perGroup("0"), "1"), []string{"a g -", "z g Done"}, nil, "a", "", ""},
		"what failed does not":           {eachGroup(perGroup("1"), "1"), []string{"a g -", "z g Failed"}, nil, "a", "", ""},
		"what recovers does not":         {eachGroup(perGroup("1"), "1"), []string{"a g -", "z g Recovering"}, nil, "a", "", ""},
		"a superseded revision counts":   {eachGroup(perGroup("0"), "1"), []string{"a g Old", "y g Old", "z g Progressing"}, []string{"z"}, "z", "a", "in flight (z)"},
		"those in flight come first":     {eachGroup(perGroup("0"), "2"), []string{"a g Old", "y g Soaking", "z g Progressing"}, []string{"y", "z"}, "y z", "a", "in flight (y, z)"},
		"and whatever the count":         {eachGroup(perGroup("0"), "1"), []string{"a g Old", "y g Soaking", "z g Progressing"}, []string{"y", "z"}, "y z", "a", "is 1 and 2 clusters are in flight (y, z)"},
		"superseded and failed is not":   {eachGroup(perGroup("0"), "1"), []string{"a g Old", "z g Failed"}, []string{"z"}, "a", "z", "in flight (a)"},
		"each group has its own":         {eachGroup(all, "1"), []string{"a g -", "b g -", "c h -", "d h -"}, nil, "a c", "b", "of group g is 1"},
		"a percentage is rounded up":     {eachGroup(perGroup("0"), "34%"), []string{"a g -", "b g -", "c g -"}, nil, "a b", "c", "is 2 and"},
		"and is at least one":            {eachGroup(perGroup("0"), "1%"), []string{"a g -", "b g -"}, nil, "a", "b", "is 1 and"},
		"a group's own wins":             {forGroup(t, eachGroup(perGroup("0"), "1"), "g:maxConcurrency=2"), []string{"a g -", "b g -", "c g -"}, nil, "a b", "c", "is 2 and"},
		"one of a queue":                 {queueOf("1", "0"), []string{"a g -", "b h -"}, nil, "a", "b", "maxConcurrency of lane fleet is 1 and 1 cluster is in flight (a)"},
		"a queue by group, then by name": {queueOf("2", "0"), []string{"z g -", "a h -", "y g -"}, nil, "y z", "a", "in flight (y, z)"},
		"a queue goes on anywhere":       {queueOf("2", "0"), []string{"a g Progressing", "b g Done", "c h -"}, nil, "c", "", ""},
		"a percentage of the lane":       {queueOf("50%", "0"), []string{"a g -", "b g -", "c h -"}, nil, "a b", "c", "is 2 and"},
		"a queue without a limit":        {queueOf("", "0"), []string{"a g -", "b g -", "c h -"}, nil, "a b c", "", ""},
		"a queue in flight in group two": {queueOf("1", "0"), []string{"a g Old", "z h Progressing"}, []string{"z"}, "z", "a", "in flight (z)"},
		"queue and group, the group's":   {eachGroup(queueOf("3", "0"), "1"), []string{"a g -", "b g -", "c h -"}, nil, "a c", "b", "maxConcurrency of group g is 1"},
		"mandatory groups are whole":     {queueOf("1", "0", "h"), []string{"a g -", "c h -", "d h -"}, nil, "c d", "", ""},
		"and are not counted":            {queueOf("1", "0", "h"), []string{"a g -", "b g -", "c h Done"}, nil, "a", "b", "in flight (a)"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := fleetOf(tt.strategy, tt.fleet...)
			superseded(t, &in, tt.old...)
			r := Plan(in, testNow)
			if admitted(r) != tt.want {
				t.Fatalf("admitted %q, want %q (%s)", admitted(r), tt.want, r.Sentence)
			}
			if tt.blocked == "" {
				return
			}
			if got := row(t, r, tt.blocked); got.Reason != MaxConcurrency || !strings.Contains(got.Sentence, tt.says) {
				t.Errorf("%s: %s %q, want %q", tt.blocked, got.Reason, got.Sentence, tt.says)
			}
		})
	}
}

// TestClustersPerDecisionGroup: the Placement's number is the default of a queue.
func TestClustersPerDecisionGroup(t *testing.T) {
	for text, want := range map[string]string{"0": "a b c", "100%": "a b c", "2": "a b", "1%": "a", "67%": "a b c"} {
		in := fleetOf(queueOf("", "0"), "a g -", "b g -", "c g -")
		in.Views["app/fleet"].believed.PerGroup = intstr.Parse(text)
		r := Plan(in, testNow)
		if admitted(r) != want {
			t.Errorf("%s: admitted %q, want %q", text, admitted(r), want)
		}
		if says := "clustersPerDecisionGroup of Placement app/fleet is 2"; text == "2" && !strings.Contains(row(t, r, "c").Sentence, says) {
			t.Errorf("%q does not say %q", row(t, r, "c").Sentence, says)
		}
	}
}

// TestFlightInGroups: what is told of limits, after the plan.
func TestFlightInGroups(t *testing.T) {
	tests := map[string]struct {
		strategy Strategy
		want     string
	}{
		"no limit":             {perGroup("0"), "g -1/2 h -1/0"},
		"a group's":            {eachGroup(Strategy{Type: All}, "1"), "g 1/1 h 1/1"},
		"the queue's":          {queueOf("2", "0"), "g 2/2 h 2/2"},
		"the smaller of both":  {eachGroup(queueOf("2", "0"), "1"), "g 1/1 h 1/1"},
		"a mandatory one's":    {queueOf("1", "0", "g"), "g -1/2 h 1/0"},
		"what is not in force": {eachGroup(queueOf("1", "0"), "2"), "g 1/1 h 1/1"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := fleetOf(tt.strategy, "a g -", "b g Progressing", "c h -")
			in.Clusters[1].Work = nil
			var got []string
			for _, g := range Plan(in, testNow).Lanes[0].Groups {
				got = append(got, fmt.Sprintf("%s %d/%d", g.Name, g.MaxConcurrency, g.InFlight))
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestPausedSaysNext: a paused plan says what it would admit, within the limits.
func TestPausedSaysNext(t *testing.T) {
	in := fleetOf(queueOf("2", "0"), "a g Progressing", "b g -", "c g -", "d h -")
	in.Pauses = []string{"the Rollout"}
	r := Plan(in, testNow)
	g := r.Lanes[0].Groups[0]
	if len(r.Admit) > 0 || strings.Join(g.Next, " ") != "b" || g.InFlight != 1 {
		t.Errorf("admit %v, next %v, in flight %d", r.Admit, g.Next, g.InFlight)
	}
	if b, c := row(t, r, "b"), row(t, r, "c"); b.Reason != Paused || c.Reason != MaxConcurrency {
		t.Errorf("b %s, c %s", b.Reason, c.Reason)
	}
	in.Blocks = []Hold{{TooLarge, "x"}}
	if r := Plan(in, testNow); len(r.Lanes[0].Groups[0].Next) > 0 || row(t, r, "b").Reason != TooLarge {
		t.Errorf("held and next %v", r.Lanes[0].Groups[0].Next)
	}
}

// TestUnwrittenComeLast: works that cannot be written do not fill every chunk.
func TestUnwrittenComeLast(t *testing.T) {
	var rows []string
	for i := range 2 * chunk {
		rows = append(rows, fmt.Sprintf("a%03d g -", i))
	}
	in := fleetOf(perGroup("0"), append(rows, "z g -")...)
	for i := range in.Clusters {
		if in.Clusters[i].Name != "z" {
			in.Clusters[i].Unwritten = "the webhook says no"
		}
	}
	if r := Plan(in, testNow); len(r.Admit) != chunk || r.Admit[0].Cluster != "z" || r.Admit[1].Cluster != "a000" {
		t.Errorf("%d admitted: %s", len(r.Admit), admitted(r)[:20])
	}
}

// TestQueueFailures: Progressive judges the whole lane.
func TestQueueFailures(t *testing.T) {
	tests := map[string]struct {
		strategy  Strategy
		fleet     []string
		want      string
		breached  bool
		says      string
		breachers string
	}{
		"within the number":        {queueOf("", "2"), []string{"a g Failed", "b h TimedOut", "c h -"}, "c", false, "", ""},
		"one too many":             {queueOf("", "1"), []string{"a g Failed", "b h TimedOut", "c h -"}, "", true, "2 of 3 clusters of the lane failed (a, b), maxFailures is 1", "g h"},
		"a percentage of the lane": {queueOf("", "34%"), []string{"a g Failed", "b h TimedOut", "c h -"}, "c", false, "", ""},
		"recovering counts":        {queueOf("", "0"), []string{"a g Recovering", "c h -"}, "", true, "1 of 2 clusters of the lane failed (a)", "g"},
		"a group's own is more":    {forGroup(t, queueOf("", "2"), "g:maxFailures=0"), []string{"a g Failed", "c h -"}, "", true, "1 of 1 cluster failed (a), maxFailures is 0", "g"},
		"a group's own saves none": {forGroup(t, queueOf("", "0"), "g:maxFailures=1"), []string{"a g Failed", "c h -"}, "", true, "1 of 2 clusters of the lane failed (a), maxFailures is 0", "g"},
		"a mandatory failure":      {queueOf("", "100%", "g"), []string{"a g Failed", "c h -"}, "", true, "1 of 1 cluster failed (a), maxFailures is 0", "g"},
		"a mandatory one waits":    {queueOf("", "0", "g"), []string{"a g Soaking", "c h -"}, "", false, "waiting for group g", ""},
		"more than all":            {queueOf("", "9"), []string{"a g Failed", "b g Failed", "c h -"}, "c", false, "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := Plan(fleetOf(tt.strategy, tt.fleet...), testNow)
			var breachers []string
			for _, g := range r.Lanes[0].Groups {
				if g.Breached {
					breachers = append(breachers, g.Name)
				}
			}
			if admitted(r) != tt.want || r.Breached != tt.breached || !strings.Contains(r.Sentence, tt.says) || strings.Join(breachers, " ") != tt.breachers {
				t.Errorf("admitted %q, breached %v by %v: %s", admitted(r), r.Breached, breachers, r.Sentence)
			}
		})
	}
}

// TestGroupSettings: what a policy says of one group holds for that one alone.
func TestGroupSettings(t *testing.T) {
	s := forGroup(t, perGroup("0"), "g:minSuccessTime=5s;maxFailures=1;progressDeadline=10s")
	in := fleetOf(s, "a g Soaking", "b g Progressing", "c h Soaking")
	in.Clusters[0].Work.MinSuccessTime, in.Clusters[1].Work.MinSuccessTime = 5*time.Second, 5*time.Second
	in.Clusters[0].Work.Verdict.Soaked, in.Clusters[0].Work.Verdict.SoakedKnown = 5*time.Second, true
	r := Plan(in, testNow)
	g, h := r.Lanes[0].Groups[0], r.Lanes[0].Groups[1]
	if a, b, c := row(t, r, "a").State, row(t, r, "b").State, row(t, r, "c").State; a != Done || b != TimedOut || c != Soaking || !g.Passed || !h.Open {
		t.Errorf("a %s, b %s, c %s: %s", a, b, c, r.Sentence)
	}
	if g.MinSuccessTime != 5*time.Second || g.ProgressDeadline != 10*time.Second || g.MaxFailures != 1 || h.MinSuccessTime != testSoak || h.MaxFailures != 0 {
		t.Errorf("told %+v and %+v", g, h)
	}
	in = fleetOf(s, "a g -", "b h Done")
	if r := Plan(in, testNow); len(r.Admit) != 1 || r.Admit[0].MinSuccessTime != 5*time.Second {
		t.Errorf("admitted %v", r.Admit)
	}
}

// TestUnknownGroupSettings: a name that nobody has is told, as it may be mistyped.
func TestUnknownGroupSettings(t *testing.T) {
	s := forGroup(t, forGroup(t, forGroup(t, perGroup("0"), "g:maxFailures=1"), "deve:maxFailures=1"), "later:maxFailures=1")
	in := fleetOf(s, "a g Done")
	in.Views["app/fleet"].believed.Declared = []string{"g", "later"}
	r := Plan(in, testNow)
	if len(r.Warnings) != 1 || r.Warnings[0].Reason != GroupNotFound || !strings.Contains(r.Warnings[0].Sentence, "lane fleet has settings for deve,") {
		t.Errorf("warnings %v", r.Warnings)
	}
}
