package rollout

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func ago(d time.Duration) time.Time { return testNow.Add(-d) }

// TestJudge has one row for each way into a state. A cluster was admitted a minute
// ago (deadline two minutes, soak 20 s) and is connected unless the row changes it.
func TestJudge(t *testing.T) {
	ready := func(c *Cluster, since time.Duration) {
		v := &c.Work.Verdict
		v.Applied, v.Ready, v.ReadySince = true, true, "r"
		c.Work.Stamps.ReadySeenAt, c.Work.Stamps.ReadyFor = ago(since), "t|r|a"
	}
	soaked := func(c *Cluster, d, seen time.Duration) {
		c.Work.Verdict.Soaked, c.Work.Verdict.SoakedKnown = d, true
		if seen > 0 {
			c.Work.Stamps.SoakedSeenAt = ago(seen)
		}
	}
	tests := map[string]struct {
		change func(*Cluster, *terms)
		want   State
		stamp  func(*Stamps) // changes that are expected
		until  time.Duration // from now
		lease  bool
	}{
		"no word": {func(*Cluster, *terms) {}, Progressing, nil, time.Minute, false},
		"the word of the last admission": {func(c *Cluster, _ *terms) {
			ready(c, 30*time.Second)
			soaked(c, 20*time.Second, 0)
			c.Work.Verdict.Admission = "before"
			c.Work.Stamps.ReadySeenAt, c.Work.Stamps.ReadyFor = time.Time{}, ""
		}, Progressing, nil, time.Minute, false},
		"a terminal error of the last admission": {func(c *Cluster, _ *terms) { c.Work.Verdict = Verdict{Admission: "before", Terminal: true} }, Progressing, nil, time.Minute, false},
		"no admission at all": {func(c *Cluster, _ *terms) {
			ready(c, 30*time.Second)
			c.Work.Admission, c.Work.Verdict.Admission = "", ""
			c.Work.Stamps.ReadySeenAt, c.Work.Stamps.ReadyFor = time.Time{}, ""
		}, Progressing, nil, time.Minute, false},
		"an error that is retried": {func(c *Cluster, _ *terms) { c.Work.Verdict.State = "ErrApplied" }, Progressing, nil, time.Minute, false},
		"no deadline":              {func(_ *Cluster, tm *terms) { tm.deadline = 0 }, Progressing, nil, 0, false},
		"the deadline is over": {func(_ *Cluster, tm *terms) { tm.deadline = time.Minute }, TimedOut,
			func(s *Stamps) { s.FailedAt = testNow }, 0, false},
		"the deadline is over while paused":      {func(_ *Cluster, tm *terms) { tm.deadline, tm.paused = time.Minute, true }, Progressing, nil, 0, false},
		"the deadline starts anew after a pause": {func(_ *Cluster, tm *terms) { tm.deadline, tm.resumedAt = time.Minute, ago(time.Second) }, Progressing, nil, 59 * time.Second, false},
		"an older pause changes nothing":         {func(_ *Cluster, tm *terms) { tm.resumedAt = ago(time.Hour) }, Progressing, nil, time.Minute, false},
		"no deadline runs while a dependency is missing": {func(c *Cluster, tm *terms) {
			tm.deadline = time.Minute
			c.Work.Verdict.Waiting = true
		}, Progressing, func(s *Stamps) { s.Waiting, s.WaitSeenAt = true, testNow }, 0, false},
		"the deadline starts when the wait ends": {func(c *Cluster, _ *terms) { c.Work.Stamps.Waiting, c.Work.Stamps.WaitSeenAt = true, ago(time.Hour) },
			Progressing, func(s *Stamps) { s.Waiting, s.WaitSeenAt = false, testNow }, 2 * time.Minute, false},
		"terminal": {func(c *Cluster, _ *terms) { c.Work.Verdict.Terminal = true }, Failed, func(s *Stamps) { s.FailedAt = testNow }, 0, false},
		"terminal wins over ready": {func(c *Cluster, _ *terms) {
			ready(c, time.Second)
			c.Work.Verdict.Terminal = true
		}, Failed, func(s *Stamps) { s.FailedAt, s.ReadySeenAt, s.ReadyFor = testNow, time.Time{}, "" }, 0, false},
		"retrying after a terminal error": {func(c *Cluster, _ *terms) { c.Work.Stamps.FailedAt = ago(time.Second) }, TimedOut, nil, 0, false},
		"failed, then terminal":           {func(c *Cluster, _ *terms) { c.Work.Stamps.FailedAt, c.Work.Verdict.Terminal = ago(time.Second), true }, Failed, nil, 0, false},
		"just ready": {func(c *Cluster, _ *terms) {
			ready(c, 0)
			c.Work.Stamps.ReadySeenAt, c.Work.Stamps.ReadyFor = time.Time{}, ""
		}, Soaking, func(s *Stamps) { s.ReadySeenAt, s.ReadyFor = testNow, "t|r|a" }, 20 * time.Second, false},
		"just ready without a soak": {func(c *Cluster, tm *terms) {
			ready(c, 0)
			tm.minSuccess = 0
		}, Done, func(s *Stamps) { s.DoneAt = testNow }, 0, false},
		"soaking": {func(c *Cluster, _ *terms) { ready(c, 5*time.Second) }, Soaking, nil, 15 * time.Second, false},
		"ready anew": {func(c *Cluster, _ *terms) {
			ready(c, 19*time.Second)
			c.Work.Verdict.ReadySince = "r2"
		}, Soaking, func(s *Stamps) { s.ReadySeenAt, s.ReadyFor = testNow, "t|r2|a" }, 20 * time.Second, false},
		"available anew": {func(c *Cluster, _ *terms) {
			ready(c, 30*time.Second)
			soaked(c, 20*time.Second, 1)
			c.AvailableSince = "a2"
		}, Soaking, func(s *Stamps) { s.ReadySeenAt, s.ReadyFor, s.SoakedSeenAt = testNow, "t|r|a2", testNow }, 20 * time.Second, false},
		"not available": {func(c *Cluster, _ *terms) {
			ready(c, 5*time.Second)
			c.Available = false
		}, Progressing, func(s *Stamps) { s.ReadySeenAt, s.ReadyFor = time.Time{}, "" }, time.Minute, false},
		"the hub's soak is over, no word of the agent": {func(c *Cluster, _ *terms) { ready(c, 20*time.Second) }, Soaking, nil, 0, false},
		"a word for a shorter soak": {func(c *Cluster, _ *terms) {
			ready(c, 30*time.Second)
			soaked(c, 10*time.Second, 0)
		}, Soaking, nil, -10 * time.Second, false},
		"the agent's word comes after the hub's soak": {func(c *Cluster, _ *terms) {
			ready(c, 21*time.Second)
			soaked(c, 20*time.Second, 0)
		}, Done, func(s *Stamps) { s.SoakedSeenAt, s.DoneAt = testNow, testNow }, 0, false},
		"a word that comes very late may be an old one": {func(c *Cluster, _ *terms) {
			ready(c, time.Minute)
			soaked(c, 20*time.Second, 0)
		}, Soaking, func(s *Stamps) { s.SoakedSeenAt = testNow }, -40 * time.Second, true},
		"the agent's word comes before it": {func(c *Cluster, _ *terms) {
			ready(c, 19*time.Second)
			soaked(c, 20*time.Second, 0)
		}, Soaking, func(s *Stamps) { s.SoakedSeenAt = testNow }, time.Second, false},
		"an early word asks for the lease": {func(c *Cluster, _ *terms) {
			ready(c, 30*time.Second)
			soaked(c, 20*time.Second, 29*time.Second)
		}, Soaking, nil, -10 * time.Second, true},
		"the first lease is the baseline": {func(c *Cluster, _ *terms) {
			ready(c, 30*time.Second)
			soaked(c, 20*time.Second, 29*time.Second)
			c.Lease = "7"
		}, Soaking, func(s *Stamps) { s.Lease = "7" }, -10 * time.Second, true},
		"the lease was read before the end of a longer soak": {func(c *Cluster, tm *terms) {
			ready(c, 30*time.Second)
			soaked(c, 10*time.Minute, 29*time.Second)
			c.Work.Stamps.Lease, tm.minSuccess = "7", 5*time.Minute
		}, Soaking, func(s *Stamps) { s.Lease = "" }, 270 * time.Second, false},
		"done by a slower clock": {func(c *Cluster, tm *terms) {
			ready(c, -10*time.Second)
			tm.minSuccess = 0
		}, Done, func(s *Stamps) { s.DoneAt = ago(-10 * time.Second) }, 0, false},
		"the lease did not move": {func(c *Cluster, _ *terms) {
			ready(c, 30*time.Second)
			soaked(c, 20*time.Second, 29*time.Second)
			c.Lease, c.Work.Stamps.Lease = "7", "7"
		}, Soaking, nil, -10 * time.Second, true},
		"the lease moved": {func(c *Cluster, _ *terms) {
			ready(c, 30*time.Second)
			soaked(c, 20*time.Second, 29*time.Second)
			c.Lease, c.Work.Stamps.Lease = "8", "7"
		}, Done, func(s *Stamps) { s.DoneAt = testNow }, 0, false},
		"done stays done without a lease": {func(c *Cluster, _ *terms) {
			ready(c, 30*time.Second)
			soaked(c, 20*time.Second, 29*time.Second)
			c.Work.Stamps.DoneAt = ago(time.Second)
		}, Done, nil, 0, false},
		"a longer soak is proved anew": {func(c *Cluster, tm *terms) {
			ready(c, 40*time.Second)
			soaked(c, 20*time.Second, 19*time.Second)
			c.Work.Stamps.DoneAt = ago(19 * time.Second)
			tm.minSuccess = time.Minute
		}, Soaking, func(s *Stamps) { s.SoakedSeenAt = time.Time{} }, 20 * time.Second, false},
		"lost after done": {func(c *Cluster, _ *terms) { c.Work.Stamps.DoneAt = ago(time.Second) }, Progressing,
			func(s *Stamps) { s.LostSeenAt = testNow }, 2 * time.Minute, false},
		"lost after done, for longer than the deadline": {func(c *Cluster, _ *terms) {
			c.Work.Stamps.DoneAt, c.Work.Stamps.LostSeenAt = ago(time.Hour), ago(2*time.Minute)
		}, TimedOut, func(s *Stamps) { s.FailedAt = testNow }, 0, false},
		"ready again after a loss": {func(c *Cluster, _ *terms) {
			ready(c, 5*time.Second)
			c.Work.Stamps.DoneAt, c.Work.Stamps.LostSeenAt = ago(time.Hour), ago(time.Minute)
		}, Soaking, nil, 15 * time.Second, false},
		"recovering": {func(c *Cluster, _ *terms) {
			ready(c, 5*time.Second)
			c.Work.Stamps.FailedAt = ago(30 * time.Second)
		}, Recovering, nil, 15 * time.Second, false},
		"recovered": {func(c *Cluster, _ *terms) {
			ready(c, 21*time.Second)
			soaked(c, 20*time.Second, 0)
			c.Work.Stamps.FailedAt, c.Work.Stamps.LostSeenAt = ago(30*time.Second), ago(40*time.Second)
		}, Done, func(s *Stamps) {
			s.SoakedSeenAt, s.DoneAt, s.FailedAt, s.LostSeenAt = testNow, testNow, time.Time{}, time.Time{}
		}, 0, false},
		"drift is success": {func(c *Cluster, tm *terms) {
			ready(c, 5*time.Second)
			c.Work.Verdict.State = "Modified"
		}, Soaking, nil, 15 * time.Second, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := clusterIn("c", Place{}, string(Progressing))
			c.Work.Stamps.AdmittedAt = ago(time.Minute)
			tm := terms{minSuccess: 20 * time.Second, deadline: 2 * time.Minute}
			tt.change(&c, &tm)
			want := c.Work.Stamps
			if tt.stamp != nil {
				tt.stamp(&want)
			}
			j := judge(&c, tm, testNow)
			if j.state != tt.want || j.wantsLease != tt.lease {
				t.Errorf("state %s, lease %v; want %s, %v", j.state, j.wantsLease, tt.want, tt.lease)
			}
			if diff := cmp.Diff(want, *j.stamps); diff != "" {
				t.Errorf("stamps (-want +got):\n%s", diff)
			}
			if tt.until > 0 && !j.until.Equal(testNow.Add(tt.until)) {
				t.Errorf("until %v, want in %v", j.until.Sub(testNow), tt.until)
			}
			if j.until.After(testNow) && tt.until <= 0 {
				t.Errorf("until in %v, want none", j.until.Sub(testNow))
			}
		})
	}
}

func TestIsTriple(t *testing.T) {
	c := &Cluster{AvailableSince: "a"}
	v := &Verdict{Admission: "t", ReadySince: "r"}
	if !isTriple(triple(v, c), v, c) {
		t.Error("a triple is not its own")
	}
	for _, other := range []string{"", "t", "t|r", "t|r|", "t|r|ab", "t|rr|a", "x|r|a", "t||a"} {
		if isTriple(other, v, c) {
			t.Errorf("%q is taken for t|r|a", other)
		}
	}
}
