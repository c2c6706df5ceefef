package rollout

import (
	"strings"
	"testing"
	"time"
)

// TestFleetDefects has one row for each numbered fact of Fleet's own gate. Each says
// what Fleet does and what this planner does instead, or that it does the same.
func TestFleetDefects(t *testing.T) {
	tests := map[string]func(*testing.T){
		"1: a first install passes maxUnavailable by; here the second batch waits for the first": func(t *testing.T) {
			// Fleet: 50, then the other 50 in the next pass, all unavailable.
			if got := waves(t, []string{"partitions maxUnavailable=10%", "clusters 100 c", "outcome v1 never"}, nil); got != "50" {
				t.Errorf("waves %s", got)
			}
		},
		"2a: one that is down gets the newest version at once, as in Fleet": func(t *testing.T) {
			in := partitioned(t, "maxUnavailable=1", "a Old", "b Old")
			in.cluster(t, "b").Work.Verdict.Ready = false
			if r := Plan(in, testNow); admitted(r) != "b" {
				t.Errorf("admitted %q", admitted(r))
			}
		},
		"2b: as many down as may be unavailable stall the others, as in Fleet, and the sentence names them": func(t *testing.T) {
			in := partitioned(t, "maxUnavailable=2", "a Old", "b Progressing", "c Progressing")
			r := Plan(in, testNow)
			if c := row(t, r, "a"); admitted(r) != "" || c.Reason != MaxUnavailable || !strings.Contains(c.Sentence, "(b, c)") {
				t.Errorf("admitted %q, %s %s", admitted(r), c.Reason, c.Sentence)
			}
		},
		"2c: an offline cluster that was ready is available in Fleet until it is updated; here it is not": func(t *testing.T) {
			in := partitioned(t, "maxUnavailable=1", "a Old", "b Old")
			in.cluster(t, "b").Available = false
			if r := Plan(in, testNow); admitted(r) != "b" || r.Lanes[0].Groups[0].Unavailable != 1 {
				t.Errorf("admitted %q", admitted(r))
			}
		},
		"3: maxUnavailable 0 never updates in Fleet; here one at a time": func(t *testing.T) {
			if got := waves(t, []string{"partitions maxUnavailable=0", "clusters 10 c"}, []string{}); got != "1×10" {
				t.Errorf("waves %s", got)
			}
		},
		"4a: the defaults gate no update, as in Fleet": func(t *testing.T) {
			if got := waves(t, []string{"partitions", "clusters 199 c"}, []string{"outcome v2 never"}); got != "199" {
				t.Errorf("waves %s", got)
			}
		},
		"4b: a default install is 50 per pass in Fleet; here as far as the limit allows, at 100 % all": func(t *testing.T) {
			if got := waves(t, []string{"partitions", "clusters 150 c", "outcome v1 never"}, nil); got != "150" {
				t.Errorf("waves %s", got)
			}
		},
		"5a: a partition that degrades holds the later ones and undoes nothing, as in Fleet": func(t *testing.T) {
			in := partitioned(t, "maxUnavailable=0 manual=a manual=b", "a Progressing 1", "b Done 2", "c Old 2")
			r := Plan(in, testNow)
			if admitted(r) != "" || row(t, r, "b").State != Done || row(t, r, "c").Reason != PartitionNotReady {
				t.Errorf("admitted %q, c: %s", admitted(r), row(t, r, "c").Reason)
			}
		},
		"5b: no soak and no deadline here either: lanes of a RolloutPolicy have them": func(t *testing.T) {
			in := partitioned(t, "maxUnavailable=0 manual=a manual=b", "a Soaking 1", "b Old 2", "c Progressing 1")
			in.Clusters = in.Clusters[:2]
			if r := Plan(in, testNow); admitted(r) != "b" {
				t.Errorf("admitted %q", admitted(r))
			}
			in = partitioned(t, "", "a Progressing")
			if r := Plan(in, testNow.Add(24*time.Hour)); row(t, r, "a").State != Progressing || r.RecheckAfter != 0 {
				t.Errorf("%s, recheck after %v", row(t, r, "a").State, r.RecheckAfter)
			}
		},
		"6: drift is available, as in Fleet": func(t *testing.T) {
			in := partitioned(t, "maxUnavailable=0", "a Done", "b Old")
			in.cluster(t, "a").Work.Verdict.State = string(ShownModified)
			if r := Plan(in, testNow); admitted(r) != "b" || row(t, r, "a").Shown != ShownModified {
				t.Errorf("admitted %q", admitted(r))
			}
		},
		"7: the partition's and the whole bundle's maximum both hold, as in Fleet": func(t *testing.T) {
			install := func(settings, clusters string) []string { return []string{"partitions " + settings, clusters} }
			for _, v := range []struct {
				install []string
				want    string
			}{
				{install("maxUnavailable=10%", "clusters 100 c"), "10×10"},
				{install("maxUnavailable=10%", "clusters 200 c"), "5×9 10 5×8 10 5×8 10 5×9"},
				{install("maxUnavailable=1 autoPartitionSize=5 autoPartitionThreshold=10", "clusters 10 c"), "1×10"},
				{install("maxUnavailable=10%", "clusters 230 c"), "5×11 7 5×10 7 5×10 7 5×10 3 1"},
				{install("maxUnavailable=25%", "clusters 230 c"), "14×4 15 14×3 15 14×3 15 14×3 2 1"},
			} {
				if got := waves(t, v.install, []string{}); got != v.want {
					t.Errorf("%s: waves %s, want %s", v.install, got, v.want)
				}
			}
		},
		"8: Fleet shows a partition's numbers from before the pass; here from after it": func(t *testing.T) {
			r := Plan(partitioned(t, "maxUnavailable=2", "a Old", "b Old", "c -"), testNow)
			if g := r.Lanes[0].Groups[0]; g.Unavailable != 3 || g.MaxUnavailable != 2 {
				t.Errorf("unavailable %d, at most %d; admitted %q", g.Unavailable, g.MaxUnavailable, admitted(r))
			}
		},
		"9: Fleet leaves an older staged id in later partitions; here they get the newest only": func(t *testing.T) {
			in := partitioned(t, "maxUnavailable=0 manual=a manual=b", "a Done 1", "b Old 2")
			in.cluster(t, "b").Work.ID = "v0"
			if r := Plan(in, testNow); len(r.Admit) != 1 || r.Admit[0].ID != "v2" || r.Admit[0].Cluster != "b" {
				t.Errorf("admitted %+v", r.Admit)
			}
		},
	}
	for name, test := range tests {
		t.Run(name, test)
	}
}
