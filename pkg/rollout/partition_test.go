package rollout

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// partitioned is an input with one lane of partitions and clusters written as "name
// state" or "name state PARTITION". Settings are those of a script.
func partitioned(t *testing.T, settings string, rows ...string) Input {
	t.Helper()
	in := Input{
		Bundle: "app/web", Revision: "v2", Source: Source{Name: bundleSource, Lanes: []LaneSpec{partitionLane(readPartitions(t, strings.Fields(settings)))}},
		RemovalGrace: time.Minute, Record: Record{Revision: "v2", RevisionSince: epoch},
	}
	for _, row := range rows {
		f := strings.Fields(row)
		c := clusterIn(f[0], Place{DefaultLane, GroupKey{Name: DefaultGroup}}, f[1])
		if c.Work != nil {
			c.Work.MinSuccessTime = 0
		}
		if len(f) > 2 {
			c.Partition = *number(t, f[2])
		}
		in.Clusters = append(in.Clusters, c)
	}
	return in
}

// many are n rows of clusters c001... in one state.
func many(n int, state string) []string {
	var rows []string
	for i := range n {
		rows = append(rows, fmt.Sprintf("c%04d %s", i+1, state))
	}
	return rows
}

// shapeOf lists a plan's partitions as "name: clusters/maxUnavailable".
func shapeOf(r Result) string {
	var out []string
	for _, g := range r.Lanes[0].Groups {
		out = append(out, fmt.Sprintf("%s: %d/%d", g.Label(), g.Counts.Total, g.MaxUnavailable))
	}
	return strings.Join(out, ", ")
}

// TestPartitionSizes has the vectors of Fleet's own tests of its partitions.
func TestPartitionSizes(t *testing.T) {
	tests := map[string]struct {
		settings string
		n        int
		want     string
	}{
		"auto fixed size":                     {"autoPartitionSize=100", 200, "Partition 0 - 100: 100/100, Partition 100 - 200: 100/100"},
		"less than 200":                       {"autoPartitionSize=25% maxUnavailable=1", 199, "All: 199/1"},
		"default":                             {"", 200, "Partition 0 - 50: 50/50, Partition 50 - 100: 50/50, Partition 100 - 150: 50/50, Partition 150 - 200: 50/50"},
		"remainder":                           {"autoPartitionSize=49%", 1000, "Partition 0 - 490: 490/490, Partition 490 - 980: 490/490, Partition 980 - 1000: 20/20"},
		"the strategy's maxUnavailable":       {"autoPartitionSize=50% maxUnavailable=10%", 1000, "Partition 0 - 500: 500/50, Partition 500 - 1000: 500/50"},
		"rounding":                            {"", 230, "Partition 0 - 57: 57/57, Partition 57 - 114: 57/57, Partition 114 - 171: 57/57, Partition 171 - 228: 57/57, Partition 228 - 230: 2/2"},
		"threshold 50 with 50":                {"autoPartitionThreshold=50 autoPartitionSize=50%", 50, "Partition 0 - 25: 25/25, Partition 25 - 50: 25/25"},
		"threshold 50 with 49":                {"autoPartitionThreshold=50 autoPartitionSize=50%", 49, "All: 49/49"},
		"threshold 0":                         {"autoPartitionThreshold=0", 500, "All: 500/500"},
		"a negative threshold":                {"autoPartitionThreshold=-1", 500, "All: 500/500"},
		"size 0":                              {"autoPartitionSize=0", 500, "All: 500/500"},
		"a negative size":                     {"autoPartitionSize=-1", 500, "All: 500/500"},
		"a size of all is one partition: All": {"autoPartitionSize=500", 300, "All: 300/300"},
		"maxUnavailable 10% of 2 is 1":        {"autoPartitionThreshold=4 autoPartitionSize=50% maxUnavailable=10%", 4, "Partition 0 - 2: 2/1, Partition 2 - 4: 2/1"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := shapeOf(Plan(partitioned(t, tt.settings, many(tt.n, "-")...), testNow)); got != tt.want {
				t.Errorf("partitions %s\nwant       %s", got, tt.want)
			}
		})
	}
}

// TestManualPartitions has Fleet's vectors where the clusters are matched; which one
// matches first is in Cluster.Partition.
func TestManualPartitions(t *testing.T) {
	tests := map[string]struct {
		settings string
		rows     []string
		want     string
		outside  string
	}{
		"by name or group": {"manual=a manual=b", []string{"c1 - 1", "c2 - 1", "c3 - 2", "c4 - 2"}, "a: 2/2, b: 2/2", ""},
		"overlapping selectors: the first wins, in Fleet a cluster is in both": {
			"manual=a manual=b", []string{"c1 - 1", "c2 - 1", "c3 - 2"}, "a: 2/2, b: 1/1", ""},
		"unmatched, and no automatic partition for the rest": {
			"manual=a autoPartitionSize=50%", []string{"c1 - 1", "c2 -", "c3 -", "c4 Old", "c5 Done"}, "a: 1/1", "c2 c3 c4"},
		"its own maxUnavailable before the strategy's": {"maxUnavailable=1 manual=a:50% manual=b", []string{"c1 - 1", "c2 - 1", "c3 - 1", "c4 - 1", "c5 - 2"}, "a: 4/2, b: 1/1", ""},
		"order as written, without empty ones":         {"manual=z manual=none manual=a", []string{"c1 - 3", "c2 - 1"}, "z: 1/1, a: 1/1", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := Plan(partitioned(t, tt.settings, tt.rows...), testNow)
			if got := shapeOf(r); got != tt.want {
				t.Errorf("partitions %s, want %s", got, tt.want)
			}
			var outside []string
			for _, c := range r.Clusters {
				if c.Reason == NotInPartition {
					outside = append(outside, c.Name)
				}
			}
			if got := strings.Join(outside, " "); got != tt.outside {
				t.Errorf("outside %q, want %q", got, tt.outside)
			}
			if named := slices.ContainsFunc(r.Warnings, func(h Hold) bool { return h.Reason == NotInPartition }); named != (tt.outside != "") {
				t.Errorf("warnings %v", r.Warnings)
			}
		})
	}
}

// TestOutside shows that a cluster in no partition is left alone, whatever it has.
func TestOutside(t *testing.T) {
	in := partitioned(t, "manual=a", "c1 Done 1", "c2 Old", "c3 Done", "c4 -")
	in.cluster(t, "c3").Work.Shape, in.cluster(t, "c1").Work.Place.Name = "old", "a"
	r := Plan(in, testNow)
	if len(r.Admit)+len(r.Refresh)+len(r.Remove) > 0 || r.Complete {
		t.Errorf("admitted %q, refreshed %q, removed %q, complete %v", admitted(r), refreshed(r), removed(r), r.Complete)
	}
	want := Hold{NotInPartition, "3 clusters are in no partition of spec.rolloutStrategy.partitions (c2, c3, c4): nothing is deployed or changed there"}
	if !slices.Contains(r.Warnings, want) {
		t.Errorf("warnings %v", r.Warnings)
	}
	if c := row(t, r, "c2"); c.Sentence != "no partition of the bundle's spec.rolloutStrategy.partitions matches the cluster: it stays as it is" || !c.Selected || c.InLane {
		t.Errorf("%+v", c)
	}
	if r.Reason != NotInPartition {
		t.Errorf("%s: %s", r.Reason, r.Sentence)
	}
}

// TestGates: when an update goes on, and when a partition opens.
func TestGates(t *testing.T) {
	ten := func(states ...string) []string {
		var rows []string
		for i := range 10 {
			state := "Old"
			if i < len(states) {
				state = states[i]
			}
			rows = append(rows, "c"+strconv.Itoa(i)+" "+state)
		}
		return rows
	}
	halves := "autoPartitionThreshold=2 autoPartitionSize=50% "
	tests := map[string]struct {
		settings string
		rows     []string
		want     string
		held     string
		reason   Reason
		says     string
	}{
		"as many as may be unavailable": {"maxUnavailable=3", ten(), "c0 c1 c2", "c3", MaxUnavailable,
			"partition All: 3 clusters are unavailable (c0, c1, c2), maxUnavailable is 3"},
		"one that is down already is counted": {"maxUnavailable=3", ten("Progressing", "Done"), "c2 c3", "c4", MaxUnavailable, "3 clusters are unavailable (c0, c2, c3)"},
		"the whole bundle's limit too": {halves + "maxUnavailable=2 maxUnavailablePartitions=1", ten("Done", "Done", "Done", "Done", "Progressing"), "c5", "c6", MaxUnavailable,
			"the whole bundle: 2 clusters are unavailable (c4, c5), maxUnavailable is 2"},
		"a partition that is not ready holds the next": {halves + "maxUnavailable=1", ten("Done", "Done", "Done", "Progressing", "Old"), "", "c5", PartitionNotReady,
			"waiting for Partition 0 - 5: 2 clusters are not up to date (c3, c4), maxUnavailable is 1"},
		"unless so many partitions may be not ready": {halves + "maxUnavailable=1 maxUnavailablePartitions=1", ten("Done", "Done", "Done", "Progressing", "Old"), "", "c5", MaxUnavailable,
			"the whole bundle: 1 cluster is unavailable (c3), maxUnavailable is 1"},
		"0 while nobody is down": {"maxUnavailable=0", ten("Done"), "c1", "c2", MaxUnavailable, "partition All: 1 cluster is unavailable (c1), maxUnavailable is 0, so one cluster follows at a time and only while no other is unavailable"},
		"0 while one is down":    {"maxUnavailable=0", ten("Progressing"), "", "c1", MaxUnavailable, "1 cluster is unavailable (c0)"},
		"0 in a partition while one elsewhere is down": {"maxUnavailablePartitions=1 manual=a manual=b:0", []string{"c1 Progressing 1", "c2 Old 2"}, "", "c2", MaxUnavailable,
			"partition b: its maxUnavailable is 0, so one cluster follows at a time and only while no other is unavailable; elsewhere in the bundle 1 cluster is unavailable (c1)"},
		"maxNew 0 holds for ever":                              {"maxNew=0", []string{"c0 Done", "c1 -", "c2 Old"}, "c2", "c1", MaxNew, "maxNew is 0: partition All gets no first installs until the bundle's spec.rolloutStrategy.maxNew is raised"},
		"a batch that is begun is finished":                    {"maxNew=3 maxUnavailable=1", []string{"c0 Progressing", "c1 Progressing", "c2 -", "c3 -"}, "c2", "c3", MaxNew, "the next 3 first installs of partition All wait: 3 clusters are unavailable (c0, c1, c2), maxUnavailable is 1"},
		"0 starts a batch while nobody is down":                {"maxNew=2 maxUnavailable=0", []string{"c0 Done", "c1 Done", "c2 -", "c3 -", "c4 -"}, "c2 c3", "c4", MaxNew, "maxUnavailable is 0"},
		"batches follow each other as far as the limit allows": {"maxNew=2 maxUnavailable=3", []string{"c0 -", "c1 -", "c2 -", "c3 -", "c4 -"}, "c0 c1 c2 c3", "c4", MaxNew, "4 clusters are unavailable (c0, c1, c2, c3), maxUnavailable is 3"},
		"at 100 % always":                                      {"maxNew=2 maxUnavailable=100%", []string{"c0 -", "c1 -", "c2 -", "c3 -", "c4 -"}, "c0 c1 c2 c3 c4", "c4", InProgress, "admitted now"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := Plan(partitioned(t, tt.settings, tt.rows...), testNow)
			if got := admitted(r); got != tt.want {
				t.Errorf("admitted %q, want %q", got, tt.want)
			}
			if c := row(t, r, tt.held); c.Reason != tt.reason || !strings.Contains(c.Sentence, tt.says) {
				t.Errorf("%s %q, want %s %q", c.Reason, c.Sentence, tt.reason, tt.says)
			}
		})
	}
}

// TestCut: what a cut keeps and when it is made anew.
func TestCut(t *testing.T) {
	cut := []PartitionCut{{Lane: DefaultLane, Clusters: 200, Size: 50}}
	const cutOf200 = "Partition 0 - 50: 50/5, Partition 50 - 100: 50/5, Partition 100 - 150: 50/5, "
	tests := map[string]struct {
		settings string
		n        int
		revision string
		want     string
		clusters int
	}{
		"who joins is in the last partition, and widens no limit": {"maxUnavailable=10%", 330, "v2", cutOf200 + "Partition 150 - 200: 180/5", 200},
		"who leaves makes the last one smaller":                   {"maxUnavailable=10%", 203, "v2", cutOf200 + "Partition 150 - 200: 53/5", 200},
		"100 % is of those that are there now":                    {"", 330, "v2", "Partition 0 - 50: 50/50, Partition 50 - 100: 50/50, Partition 100 - 150: 50/50, Partition 150 - 200: 180/180", 200},
		"fewer than the threshold open no gate":                   {"maxUnavailable=10%", 199, "v2", cutOf200 + "Partition 150 - 200: 49/4", 200},
		"fewer than the threshold, and a new revision":            {"maxUnavailable=10%", 199, "v1", "All: 199/19", 199},
		"another threshold cuts anew":                             {"maxUnavailable=10% autoPartitionThreshold=300", 240, "v2", "All: 240/24", 240},
		"twice as many are cut anew":                              {"maxUnavailable=10%", 400, "v2", "Partition 0 - 100: 100/10, Partition 100 - 200: 100/10, Partition 200 - 300: 100/10, Partition 300 - 400: 100/10", 400},
		"a new revision cuts anew":                                {"maxUnavailable=10%", 240, "v1", "Partition 0 - 60: 60/6, Partition 60 - 120: 60/6, Partition 120 - 180: 60/6, Partition 180 - 240: 60/6", 240},
		"another size cuts anew":                                  {"maxUnavailable=10% autoPartitionSize=50%", 240, "v2", "Partition 0 - 120: 120/12, Partition 120 - 240: 120/12", 240},
		"manual partitions cut anew":                              {"manual=a", 240, "v2", "", 240},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := partitioned(t, tt.settings, many(tt.n, "-")...)
			in.Record.Revision, in.Record.Cuts = tt.revision, slices.Clone(cut)
			r := Plan(in, testNow)
			if got := shapeOf(r); got != tt.want {
				t.Errorf("partitions %s\nwant       %s", got, tt.want)
			}
			if len(r.Record.Cuts) != 1 || r.Record.Cuts[0].Clusters != tt.clusters {
				t.Errorf("record %+v, want one of %d", r.Record.Cuts, tt.clusters)
			}
			if diff := cmp.Diff(cut, in.Record.Cuts); diff != "" {
				t.Errorf("the input was changed: %s", diff)
			}
		})
	}
}

func TestManualCutRemembersCounts(t *testing.T) {
	in := partitioned(t, "manual=a:50% manual=b", "c1 - 1", "c2 - 1", "c3 - 2", "c4 -")
	r := Plan(in, testNow)
	want := []PartitionCut{{Lane: DefaultLane, Clusters: 4, Counts: []int{2, 1}}}
	if diff := cmp.Diff(want, r.Record.Cuts); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	in.Record.Cuts = r.Record.Cuts
	for _, name := range []string{"d1", "d2"} {
		in.Clusters = append(in.Clusters, clusterIn(name, Place{}, "-"))
		in.cluster(t, name).Partition = 1
	}
	if got := shapeOf(Plan(in, testNow)); got != "a: 4/1, b: 1/1" {
		t.Errorf("partitions %s", got)
	}
}

// TestNothingIsCutBlindly: while the input cannot be believed nothing is remembered of it.
func TestNothingIsCutBlindly(t *testing.T) {
	in := partitioned(t, "", many(3, "-")...)
	in.Blocks = []Hold{{BindingMissing, "no set"}}
	if r := Plan(in, testNow); len(r.Record.Cuts) > 0 || len(r.Admit) > 0 || shapeOf(r) != "All: 3/3" {
		t.Errorf("cuts %v, admitted %q", r.Record.Cuts, admitted(r))
	}
	in = partitioned(t, "")
	if r := Plan(in, testNow); len(r.Record.Cuts) > 0 {
		t.Errorf("a cut of no clusters: %v", r.Record.Cuts)
	}
}

// TestOldPartitionsAreForgotten: their names come from numbers and would pile up.
func TestOldPartitionsAreForgotten(t *testing.T) {
	in := partitioned(t, "", many(3, "-")...)
	in.Record.Groups = []RecordedGroup{{Place: Place{DefaultLane, GroupKey{Name: "Partition 0 - 50"}}, OpenedAt: epoch}, {Place: Place{"other", GroupKey{Name: "x"}}}}
	want := []RecordedGroup{{Place: Place{DefaultLane, GroupKey{Name: "All"}}, OpenedAt: testNow}, in.Record.Groups[1]}
	if diff := cmp.Diff(want, Plan(in, testNow).Record.Groups); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestIneffectiveGates(t *testing.T) {
	tests := map[string]struct {
		settings, want string
	}{
		"nobody asked for a gate":        {"", ""},
		"maxNew is no gate":              {"maxNew=1", ""},
		"a limit that holds":             {"maxUnavailable=1", ""},
		"0 holds":                        {"maxUnavailable=0", ""},
		"partitions without a limit":     {"manual=a manual=b:1", "maxUnavailable of partition a, partition b is all of its clusters"},
		"one cluster and a percentage":   {"maxUnavailable=10% manual=b manual=c", "maxUnavailable of partition c is all of its clusters"},
		"100 % written":                  {"maxUnavailable=100%", "maxUnavailable of partition All is all of its clusters"},
		"automatic ones without a limit": {"autoPartitionThreshold=2 autoPartitionSize=50%", "maxUnavailable of Partition 0 - 1, Partition 1 - 2, Partition 2 - 3 is all"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := Plan(partitioned(t, tt.settings, "c1 - 1", "c2 - 1", "c3 - 2"), testNow)
			got := ""
			for _, w := range r.Warnings {
				if w.Reason == PartitionGateIneffective {
					got += w.Sentence
				}
			}
			if (got == "") != (tt.want == "") || !strings.HasPrefix(got, tt.want) {
				t.Errorf("warning %q, want %q", got, tt.want)
			}
		})
	}
}

func TestPartitionSentences(t *testing.T) {
	tests := map[string]struct {
		settings string
		rows     []string
		want     []Hold
		rollout  Hold
	}{
		"done": {"manual=a", []string{"c1 Done 1"}, []Hold{{Complete, "1 cluster is done"}}, Hold{Complete, "1 cluster is done"}},
		"passed with one down": {"maxUnavailable=1 manual=a manual=b", []string{"c1 Done 1", "c2 Failed 1", "c3 Done 2"},
			[]Hold{{Complete, "passed: 1 cluster is not available (c2), maxUnavailable is 1"}, {Complete, "1 cluster is done"}},
			Hold{DeployFailed, "every group passed; 1 cluster is not done (c2): failed: chart does not render"}},
		"failed clusters hold the next": {"maxUnavailable=0 manual=a manual=b", []string{"c1 Failed 1", "c2 Old 2"},
			[]Hold{{DeployFailed, "1 of 1 cluster is failed (c1): failed: chart does not render"}, {PartitionNotReady, "waiting for partition a: 1 cluster is not up to date (c1), maxUnavailable is 0"}},
			Hold{DeployFailed, "waiting for partition a: 1 of 1 cluster is failed (c1): failed: chart does not render"}},
		"the limit": {"maxUnavailable=1", []string{"c1 Progressing", "c2 Old"},
			[]Hold{{MaxUnavailable, "partition All: 1 cluster is unavailable (c1), maxUnavailable is 1; c1: not ready yet"}},
			Hold{MaxUnavailable, "partition All: 1 cluster is unavailable (c1), maxUnavailable is 1; c1: not ready yet"}},
		"several partitions not ready": {"maxUnavailable=0 maxUnavailablePartitions=1 manual=a manual=b manual=c", []string{"c1 Progressing 1", "c2 Progressing 2", "c3 Old 3"},
			[]Hold{{NotReady, "1 of 1 cluster is progressing (c1): not ready yet"}, {NotReady, "1 of 1 cluster is progressing (c2): not ready yet"},
				{PartitionNotReady, "waiting for partition a: 1 cluster is not up to date (c1), maxUnavailable is 0; 2 partitions are not ready, maxUnavailablePartitions is 1"}},
			Hold{NotReady, "waiting for partition a: 1 of 1 cluster is progressing (c1): not ready yet"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := partitioned(t, tt.settings, tt.rows...)
			for i := range in.Clusters {
				if w := in.Clusters[i].Work; w != nil && in.Clusters[i].Partition > 0 {
					w.Place.Name = in.Source.Lanes[0].Partitions.Manual[in.Clusters[i].Partition-1].Name
				}
			}
			r := Plan(in, testNow)
			var got []Hold
			for _, g := range r.Lanes[0].Groups {
				got = append(got, Hold{g.Reason, g.Sentence})
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("partitions (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.rollout, Hold{r.Reason, r.Sentence}); diff != "" {
				t.Errorf("rollout (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDeselectedStandsWhereItStood: until it is certain that a cluster is deselected it stands where
// it stood, and its partition waits for nothing of it.
func TestDeselectedStandsWhereItStood(t *testing.T) {
	in := partitioned(t, "manual=a manual=b", "c1 Done 1", "c2 Done 2")
	in.cluster(t, "c2").Work.Place.Name = "b"
	c := in.cluster(t, "c2")
	c.Selected, c.Partition, c.DesiredID = false, 0, ""
	r := Plan(in, testNow)
	if got := row(t, r, "c2"); got.Place.Name != "b" || !got.InLane || len(r.Remove) > 0 {
		t.Errorf("%+v, removed %q", got, removed(r))
	}
}
