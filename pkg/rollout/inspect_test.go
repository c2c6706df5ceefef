package rollout

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestInspect(t *testing.T) {
	start := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	ready := Verdict{Admission: "a", Applied: true, Ready: true, ReadySince: "r"}
	soaking := func() *Work {
		return &Work{ID: "i", Revision: "new", Admission: "a", MinSuccessTime: time.Minute, Verdict: ready, Stamps: Stamps{
			AdmittedAt: start, ReadySeenAt: start.Add(10 * time.Second), ReadyFor: "a|r|t"}}
	}
	work := func(change func(*Work)) *Work {
		w := soaking()
		change(w)
		return w
	}
	cases := map[string]struct {
		sight     Sight
		want      State
		wantShown Shown
		// wantSince and wantUntil in seconds after the start; 0 for none.
		wantSince, wantUntil int
	}{
		"nothing is there yet": {want: Pending, wantShown: ShownPending},
		"it soaks, and nobody may read the ManagedCluster": {
			sight: Sight{Cluster: Cluster{Work: soaking()}}, want: Soaking, wantShown: ShownReady, wantSince: 10, wantUntil: 70},
		"it soaks, and its ManagedCluster is available since then": {
			sight: Sight{Known: true, Cluster: Cluster{Work: soaking(), Available: true, AvailableSince: "t"}},
			want:  Soaking, wantShown: ShownReady, wantSince: 10, wantUntil: 70},
		"it went offline and came back: its soak starts again": {
			sight: Sight{Known: true, Cluster: Cluster{Work: soaking(), Available: true, AvailableSince: "later"}},
			want:  Soaking, wantShown: ShownReady, wantSince: 30, wantUntil: 90},
		"it is offline": {
			sight: Sight{Known: true, Deadline: time.Hour, Cluster: Cluster{Work: soaking()}},
			want:  Progressing, wantShown: ShownNotReady, wantUntil: 3600},
		"no deadline runs while paused": {
			sight: Sight{Known: true, Paused: true, Deadline: time.Second, Cluster: Cluster{Work: soaking()}},
			want:  Progressing, wantShown: ShownNotReady},
		"it is over the deadline": {
			sight: Sight{Known: true, Deadline: 20 * time.Second, Cluster: Cluster{Work: soaking()}},
			want:  TimedOut, wantShown: ShownNotReady, wantSince: 30},
		"it is done": {
			sight: Sight{Cluster: Cluster{Work: work(func(w *Work) { w.Stamps.DoneAt = start.Add(80 * time.Second) })}},
			want:  Done, wantShown: ShownReady, wantSince: 80},
		"it has another revision": {
			sight: Sight{Cluster: Cluster{Work: work(func(w *Work) { w.Revision = "old" })}}, want: Pending, wantShown: ShownOutOfSync},
		"its work goes": {
			sight: Sight{Cluster: Cluster{Work: work(func(w *Work) { w.Deleting = true })}}, want: Pending, wantShown: ShownOutOfSync},
	}
	seconds := func(at time.Time) int {
		if at.IsZero() {
			return 0
		}
		return int(at.Sub(start) / time.Second)
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.sight.Revision = "new"
			var before Work
			if tc.sight.Cluster.Work != nil {
				before = *tc.sight.Cluster.Work
			}
			got := Inspect(tc.sight, start.Add(30*time.Second))
			if got.State != tc.want || got.Shown != tc.wantShown || seconds(got.Since) != tc.wantSince || seconds(got.Until) != tc.wantUntil {
				t.Errorf("%s, shown %s, since %d, until %d; want %s, %s, %d, %d",
					got.State, got.Shown, seconds(got.Since), seconds(got.Until), tc.want, tc.wantShown, tc.wantSince, tc.wantUntil)
			}
			if w := tc.sight.Cluster.Work; w != nil {
				if diff := cmp.Diff(before, *w); diff != "" {
					t.Errorf("the work was changed (-before +after):\n%s", diff)
				}
			}
		})
	}
}
