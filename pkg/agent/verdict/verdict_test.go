package verdict

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"open-cluster-management.io/fleet-addon/pkg/agent/fault"
	v1alpha1 "open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func ready(admission string, minSuccessTime time.Duration) Observation {
	return Observation{
		Generation: 1, Admission: admission, MinSuccessTime: minSuccessTime,
		DeployedID: "id", Release: "default/web:1", Applied: true, Objects: 2,
	}
}

// again is ready after breaks that nobody looked at.
func again(o Observation, breaks uint64) Observation {
	o.Breaks = breaks
	return o
}

func notReadyYet(admission string) Observation {
	o := ready(admission, 0)
	o.NotReady = 1
	o.Listed = []v1alpha1.ObjectState{{Kind: "Deployment.apps", Namespace: "default", Name: "web", State: "InProgress", Message: "Replicas: 0/1"}}
	return o
}

func failing(admission string, err error) Observation {
	return Observation{Generation: 1, Admission: admission, DeployedID: "old", Release: "default/web:1", Err: err}
}

// step is one look at a BundleDeployment, after a while.
type step struct {
	after   time.Duration
	restart bool
	see     Observation
	want    view
}

// view is what of a status a step is about; since counts the tokens.
type view struct {
	State                    string
	Applied, Ready, Terminal bool
	Since                    int
	Soaked                   string
	Recheck                  time.Duration
}

func TestNext(t *testing.T) {
	const min = 10 * time.Second
	isReady := func(since int, soaked string, recheck time.Duration) view {
		return view{State: "Ready", Applied: true, Ready: true, Since: since, Soaked: soaked, Recheck: recheck}
	}
	terminal := view{State: "NotReady", Terminal: true}
	tests := map[string][]step{
		"ready, then soaked a second late": {
			{0, false, ready("a", min), isReady(1, "", 11*time.Second)},
			{10 * time.Second, false, ready("a", min), isReady(1, "", time.Second)},
			{time.Second, false, ready("a", min), isReady(1, "10s", 0)},
			{time.Hour, false, ready("a", min), isReady(1, "10s", 0)},
		},
		"without minSuccessTime soaked at once": {
			{0, false, ready("a", 0), isReady(1, "0s", 0)},
		},
		"a loss starts again": {
			{0, false, ready("a", min), isReady(1, "", 11*time.Second)},
			{5 * time.Second, false, notReadyYet("a"), view{State: "NotReady", Applied: true}},
			{time.Second, false, ready("a", min), isReady(2, "", 11*time.Second)},
			{11 * time.Second, false, ready("a", min), isReady(2, "10s", 0)},
			{time.Second, false, notReadyYet("a"), view{State: "NotReady", Applied: true}},
		},
		"a loss between two looks starts again": {
			{0, false, again(ready("a", min), 3), isReady(1, "", 11*time.Second)},
			{10 * time.Second, false, again(ready("a", min), 4), isReady(2, "", 11*time.Second)},
			{11 * time.Second, false, again(ready("a", min), 4), isReady(2, "10s", 0)},
			{time.Hour, false, again(ready("a", min), 6), isReady(3, "", 11*time.Second)},
		},
		"a restart keeps a soak that was over, whatever it counts": {
			{0, false, again(ready("a", min), 3), isReady(1, "", 11*time.Second)},
			{11 * time.Second, false, again(ready("a", min), 3), isReady(1, "10s", 0)},
			{time.Second, true, again(ready("a", min), 1), isReady(1, "10s", 0)},
			{time.Second, false, again(ready("a", min), 2), isReady(2, "", 11*time.Second)},
		},
		"a new admission of the same release starts again": {
			{0, false, ready("a", min), isReady(1, "", 11*time.Second)},
			{20 * time.Second, false, ready("a", min), isReady(1, "10s", 0)},
			{time.Second, false, ready("b", min), isReady(2, "", 11*time.Second)},
			{time.Second, false, ready("a", min), isReady(3, "", 11*time.Second)},
		},
		"a longer minSuccessTime takes the soak back, a shorter one completes it": {
			{0, false, ready("a", min), isReady(1, "", 11*time.Second)},
			{11 * time.Second, false, ready("a", min), isReady(1, "10s", 0)},
			{time.Second, false, ready("a", time.Minute), isReady(1, "", 49*time.Second)},
			{time.Second, false, ready("a", 5*time.Second), isReady(1, "5s", 0)},
		},
		"a restart starts a soak again that was not over": {
			{0, false, ready("a", min), isReady(1, "", 11*time.Second)},
			{10 * time.Second, true, ready("a", min), isReady(2, "", 11*time.Second)},
			{11 * time.Second, false, ready("a", min), isReady(2, "10s", 0)},
		},
		"a restart keeps a soak that was over": {
			{0, false, ready("a", min), isReady(1, "", 11*time.Second)},
			{11 * time.Second, false, ready("a", min), isReady(1, "10s", 0)},
			{time.Second, true, ready("a", min), isReady(1, "10s", 0)},
			{time.Second, false, ready("a", min), isReady(1, "10s", 0)},
		},
		"a restart does not stretch a soak over a longer minSuccessTime": {
			{0, false, ready("a", min), isReady(1, "", 11*time.Second)},
			{11 * time.Second, false, ready("a", min), isReady(1, "10s", 0)},
			{time.Hour, true, ready("a", time.Minute), isReady(2, "", 61*time.Second)},
		},
		"a restart that finds it not ready": {
			{0, false, ready("a", 0), isReady(1, "0s", 0)},
			{time.Second, true, notReadyYet("a"), view{State: "NotReady", Applied: true}},
			{time.Second, false, ready("a", 0), isReady(2, "0s", 0)},
		},
		"a terminal error stays until the next admission": {
			{0, false, failing("a", fault.Terminalf("bad")), terminal},
			{time.Second, true, failing("a", nil), terminal},
			{time.Second, false, ready("a", 0), terminal},
			{time.Second, false, ready("b", 0), isReady(1, "0s", 0)},
		},
		"an error that is retried, then a wait, then nothing": {
			{0, false, failing("a", errors.New("no route")), view{State: "ErrApplied"}},
			{0, false, failing("a", fault.Waitingf(0, "for values")), view{State: "WaitApplied"}},
			{0, false, failing("a", nil), view{State: "WaitApplied"}},
		},
		"an error after it was applied is no loss": {
			{0, false, ready("a", 0), isReady(1, "0s", 0)},
			{0, false, func() Observation { o := ready("a", 0); o.Err = errors.New("x"); return o }(), isReady(1, "0s", 0)},
		},
	}
	for name, steps := range tests {
		t.Run(name, func(t *testing.T) {
			now, mem, status := start, Memory{}, v1alpha1.BundleDeploymentStatus{}
			tokens := map[string]int{"": 0}
			for i, s := range steps {
				now = now.Add(s.after)
				if s.restart {
					mem = Memory{}
				}
				var recheck time.Duration
				status, mem, recheck = Next(status, mem, s.see, now)
				if _, ok := tokens[status.ReadySince]; !ok {
					tokens[status.ReadySince] = len(tokens)
				}
				got := view{status.State, status.Applied, status.Ready, status.Terminal, tokens[status.ReadySince], status.Soaked, recheck}
				if diff := cmp.Diff(s.want, got); diff != "" {
					t.Fatalf("step %d: %s", i, diff)
				}
				if status.Admission != s.see.Admission {
					t.Fatalf("step %d: admission %q", i, status.Admission)
				}
			}
		})
	}
}

func TestNextIsStable(t *testing.T) {
	first, mem, _ := Next(v1alpha1.BundleDeploymentStatus{}, Memory{}, notReadyYet("a"), start)
	second, _, _ := Next(first, mem, notReadyYet("a"), start.Add(time.Minute))
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("the same observation changed the status: %s", diff)
	}
	if want := "1 of 2 objects are not ready: Deployment.apps default/web InProgress: Replicas: 0/1"; first.Message != want {
		t.Errorf("message %q", first.Message)
	}
}

func TestNextBoundsMessages(t *testing.T) {
	s, _, _ := Next(v1alpha1.BundleDeploymentStatus{}, Memory{}, failing("a", errors.New(strings.Repeat("x", 5000))), start)
	if len(s.Message) != 1024 || len(s.Conditions[0].Message) != 1024 {
		t.Errorf("%d and %d bytes", len(s.Message), len(s.Conditions[0].Message))
	}
}

func TestNextTokenIsNew(t *testing.T) {
	s, mem, _ := Next(v1alpha1.BundleDeploymentStatus{}, Memory{}, ready("a", 0), start)
	again, _, _ := Next(s, mem, ready("b", 0), start)
	if s.ReadySince == again.ReadySince {
		t.Error("two admissions in one microsecond share readySince")
	}
}

// A soak is only ever reported for unbroken readiness on one admission, as long
// as it says, whatever the history.
func TestSoakedIsProved(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now, mem, status := start, Memory{}, v1alpha1.BundleDeploymentStatus{}
		readyFrom := map[string]time.Time{}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 8).Draw(t, "after")) * time.Second)
			o := ready(rapid.SampledFrom([]string{"a", "b"}).Draw(t, "admission"), time.Duration(rapid.IntRange(0, 12).Draw(t, "min"))*time.Second)
			if rapid.Bool().Draw(t, "lost") && rapid.Bool().Draw(t, "really") {
				o.NotReady = 1
			}
			if rapid.IntRange(0, 9).Draw(t, "restart") == 0 {
				mem = Memory{}
			}
			before := status
			status, mem, _ = Next(status, mem, o, now)
			if !status.Ready {
				if status.ReadySince != "" || status.Soaked != "" {
					t.Fatal("a soak without readiness")
				}
				continue
			}
			if before.Admission != status.Admission && before.ReadySince == status.ReadySince {
				t.Fatal("a new admission kept readySince")
			}
			if _, ok := readyFrom[status.ReadySince]; !ok {
				readyFrom[status.ReadySince] = now
			}
			if status.Soaked == "" {
				continue
			}
			d, err := time.ParseDuration(status.Soaked)
			if err != nil || d != o.MinSuccessTime || now.Sub(readyFrom[status.ReadySince]) < d {
				t.Fatalf("soaked %q after %s", status.Soaked, now.Sub(readyFrom[status.ReadySince]))
			}
		}
	})
}
