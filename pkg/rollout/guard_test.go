package rollout

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// bucketNow is the bucket of testNow.
var bucketNow = testNow.Truncate(5 * time.Minute)

// leaving is a fleet of n Done clusters c000… of which the first due are to be removed.
func leaving(n, due int) Input {
	var rows []string
	for i := range n {
		rows = append(rows, fmt.Sprintf("c%03d dev Done", i))
	}
	in := fleetOf(perGroup("0"), rows...)
	in.Absent = map[string]time.Time{}
	for i := range due {
		in.Clusters[i].Selected = false
		in.Absent[in.Clusters[i].Name] = epoch
	}
	return in
}

func confirmedGoing(names ...string) Confirmation {
	return Confirmation{Reason: RemovalGuard, Revision: "v2", Clusters: names}
}

// TestGuard: how many removals pass, how many wait.
func TestGuard(t *testing.T) {
	tests := map[string]struct {
		works, due    int
		change        func(*Input)
		passed, asked int
	}{
		"five always may":                      {10, 5, nil, 5, 0},
		"six of ten may not":                   {10, 6, nil, 0, 6},
		"10 % rounded down":                    {69, 6, nil, 6, 0},
		"one more":                             {69, 7, nil, 0, 7},
		"the only one may go":                  {1, 1, nil, 1, 0},
		"both of two may not":                  {2, 2, nil, 0, 2},
		"all but one of two":                   {2, 1, nil, 1, 0},
		"removed within the hour":              {100, 6, before(RemovalBucket{bucketNow.Add(-time.Hour), 100, 4}), 6, 0},
		"one more within the hour":             {100, 6, before(RemovalBucket{bucketNow.Add(-time.Hour), 100, 5}), 0, 6},
		"an hour ago":                          {100, 6, before(RemovalBucket{bucketNow.Add(-65 * time.Minute), 100, 5}), 6, 0},
		"the most of the hour counts":          {60, 9, before(RemovalBucket{bucketNow, 100, 1}), 9, 0},
		"the most of an older hour does not":   {60, 9, before(RemovalBucket{bucketNow.Add(-2 * time.Hour), 100, 1}), 0, 9},
		"the last of two within the hour":      {1, 1, before(RemovalBucket{bucketNow, 2, 1}), 0, 1},
		"all but one that is leaving later":    {3, 2, func(in *Input) { in.Clusters[2].Selected = false }, 0, 2},
		"deleted clusters need nobody":         {10, 8, gone(8), 8, 0},
		"deleted ones are not counted":         {10, 8, gone(3), 8, 0},
		"deleted ones pass while others wait":  {20, 9, gone(2), 2, 7},
		"all are deleted":                      {10, 10, gone(10), 10, 0},
		"confirmed":                            {10, 6, agreedTo(confirmedGoing("c000", "c001", "c002", "c003", "c004", "c005")), 6, 0},
		"some confirmed":                       {10, 6, agreedTo(confirmedGoing("c000", "c001")), 2, 4},
		"confirmed ones count":                 {10, 6, agreedTo(confirmedGoing("c005")), 1, 5},
		"confirmed in two parts":               {10, 6, agreedTo(confirmedGoing("c000"), confirmedGoing("c001")), 2, 4},
		"confirmed for another revision":       {10, 6, agreedTo(Confirmation{RemovalGuard, "", "v1", []string{"c000"}}), 0, 6},
		"something else confirmed":             {10, 6, agreedTo(Confirmation{GroupVanished, "", "v2", []string{"c000"}}), 0, 6},
		"confirmed and not due":                {10, 6, agreedTo(confirmedGoing("c009")), 0, 6},
		"counted before and still there":       {10, 5, counted("c000", "c001", "c002", "c003", "c004"), 5, 0},
		"counted before, and one more is due":  {10, 6, counted("c000", "c001", "c002", "c003", "c004"), 5, 1},
		"nothing passes while paused":          {10, 6, func(in *Input) { in.Pauses = []string{"x"} }, 0, 0},
		"a hundred in one plan and not at all": {1100, 110, nil, 100, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := leaving(tt.works, tt.due)
			if tt.change != nil {
				tt.change(&in)
			}
			r := Plan(in, testNow)
			asked := 0
			for _, c := range r.Confirm {
				if c.Reason == RemovalGuard {
					asked += len(c.Clusters)
				}
			}
			if len(r.Remove) != tt.passed || asked != tt.asked {
				t.Errorf("%d removed, %d wait for a person; want %d, %d", len(r.Remove), asked, tt.passed, tt.asked)
			}
		})
	}
}

func before(buckets ...RemovalBucket) func(*Input) {
	return func(in *Input) { in.Record.Removals = buckets }
}

func agreedTo(c ...Confirmation) func(*Input) { return func(in *Input) { in.Confirmations = c } }

func gone(n int) func(*Input) {
	return func(in *Input) {
		for i := range n {
			in.Clusters[i].Exists = false
		}
	}
}

func counted(names ...string) func(*Input) {
	return func(in *Input) {
		in.Record.Removing = names
		in.Record.Removals = []RemovalBucket{{bucketNow, len(in.Clusters), len(names)}}
	}
}

// TestGuardIsTold: what those that are held say, and the rollout.
func TestGuardIsTold(t *testing.T) {
	in := leaving(8, 7)
	in.Record.Removals = []RemovalBucket{{bucketNow, 9, 1}}
	r := Plan(in, testNow)
	sentence := "8 of 9 clusters would lose the bundle within an hour, more than 5; removing the bundle from 7 clusters has to be confirmed with: fleetctl rollout confirm web -n app"
	want := []ConfirmRequest{{RemovalGuard, "", sentence, []string{"c000", "c001", "c002", "c003", "c004", "c005", "c006"}}}
	if diff := cmp.Diff(want, r.Confirm); diff != "" {
		t.Errorf("asked for (-want +got):\n%s", diff)
	}
	if got := row(t, r, "c003"); got.Reason != RemovalGuard || got.Sentence != sentence {
		t.Errorf("%s %s", got.Reason, got.Sentence)
	}
	if r.Reason != RemovalGuard || r.Sentence != sentence || !r.Complete {
		t.Errorf("complete %v: %s %s", r.Complete, r.Reason, r.Sentence)
	}
	if r := Plan(leaving(2, 2), testNow); r.Reason != RemovalGuard || !strings.HasPrefix(r.Sentence, "no cluster of 2 would keep the bundle; removing") {
		t.Errorf("all: %s %s", r.Reason, r.Sentence)
	}
}

// TestGuardLetsGoByTime: the plan says when the oldest removals are an hour ago.
func TestGuardLetsGoByTime(t *testing.T) {
	in := leaving(10, 2)
	in.Record.Removals = []RemovalBucket{{bucketNow.Add(-time.Hour), 14, 1}, {bucketNow.Add(-30 * time.Minute), 13, 3}}
	r := Plan(in, testNow)
	end := bucketNow.Add(5 * time.Minute)
	if removed(r) != "" || r.RecheckAfter != end.Sub(testNow) {
		t.Fatalf("removed %q, looks again after %v", removed(r), r.RecheckAfter)
	}
	in.Record = r.Record
	if r := Plan(in, end.Add(-time.Microsecond)); removed(r) != "" {
		t.Errorf("removed %q too early", removed(r))
	}
	if r := Plan(in, end); removed(r) != "c000 c001" {
		t.Errorf("removed %q", removed(r))
	}
}

// TestRemovalsAreRemembered: a removal is counted once, when it is emitted, and no plan
// writes anything when nothing is removed.
func TestRemovalsAreRemembered(t *testing.T) {
	in := leaving(20, 3)
	gone(1)(&in)
	in.Record.Removals = []RemovalBucket{{bucketNow.Add(-2 * time.Hour), 30, 3}, {bucketNow.Add(-20 * time.Minute), 25, 1}}
	r := Plan(in, testNow)
	want := Record{Removing: []string{"c001", "c002"}, Removals: []RemovalBucket{{bucketNow.Add(-20 * time.Minute), 25, 1}, {bucketNow, 20, 2}}}
	same := func(when string, got Record) {
		t.Helper()
		if diff := cmp.Diff(want, Record{Removing: got.Removing, Removals: got.Removals}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
	same("counted", r.Record)
	in.Record = r.Record
	same("not counted again", Plan(in, testNow.Add(time.Second)).Record)
	in.Clusters[1].Work.Deleting = true
	same("on its way", Plan(in, testNow.Add(time.Second)).Record)
	held := in
	held.Blocks = []Hold{{BundleInvalid, "x"}}
	same("nothing is forgotten while held", Plan(held, testNow.Add(time.Second)).Record)
	in.Clusters[1].Work, in.Clusters[2].Selected = nil, true
	in.Clusters = in.Clusters[1:]
	want.Removing = nil
	same("gone, and wanted again", Plan(in, testNow.Add(time.Second)).Record)
	in.Record.Removing = nil
	same("old buckets stay until something is removed", Plan(in, testNow.Add(3*time.Hour)).Record)
	for i := range 30 {
		in := leaving(40, 1)
		agreedTo(confirmedGoing("c000"))(&in)
		in.Record = Record{Removals: want.Removals}
		want.Removals = Plan(in, testNow.Add(time.Duration(i)*5*time.Minute)).Record.Removals
	}
	if n := len(want.Removals); n != 13 {
		t.Errorf("%d buckets", n)
	}
}
