package cli

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

// soaking is a rollout whose group dev soaks until left from noon.
func soaking(left time.Duration) *v1alpha1.Rollout {
	r := held()
	r.Status.Reason, r.Status.Message = "Soaking", "dev soaks until "+noon.Add(left).Format("15:04:05")
	r.Status.Lanes[0].Groups = []v1alpha1.GroupStatus{{Name: "dev", Open: true, Reason: "Soaking", Message: "soaks",
		NextAt: &metav1.Time{Time: noon.Add(left)}, Counts: v1alpha1.StateCounts{Total: 1, Soaking: 1}}}
	return r
}

func complete() *v1alpha1.Rollout {
	r := held(metav1.Condition{Type: v1alpha1.RolloutComplete, Status: metav1.ConditionTrue})
	r.Status.Reason, r.Status.Message, r.Status.Done = "Complete", "1 cluster is done", "1/1"
	r.Status.Lanes[0].Groups = []v1alpha1.GroupStatus{{Name: "dev", Open: true, Passed: true, Reason: "Complete", Counts: v1alpha1.StateCounts{Total: 1, Done: 1}}}
	return r
}

func TestLogTellsChangesOnce(t *testing.T) {
	var out bytes.Buffer
	l := &log{out: &out, rows: map[string]string{}}
	for i := range 5 {
		now := noon.Add(time.Duration(i) * time.Second)
		l.show(soaking(time.Duration(20-i)*time.Second), now)
		l.tick(soaking(time.Duration(20-i)*time.Second), now)
	}
	l.show(complete(), noon.Add(20*time.Second))
	want := `12:00:00  demo/hello  revision abc  0/1 done  by RolloutPolicy/p
12:00:00  Soaking: dev soaks until 12:00:20
12:00:00  dev: 1 soaking, 20s left; soaks
12:00:20  demo/hello  revision abc  1/1 done  by RolloutPolicy/p
12:00:20  Complete: 1 cluster is done
12:00:20  dev: 1 done
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestScreenDrawsInPlace(t *testing.T) {
	var out bytes.Buffer
	s := &screen{out: &out, size: func() (int, int) { return 200, 50 }}
	s.show(soaking(20*time.Second), noon)
	if strings.Contains(out.String(), "\x1b") {
		t.Error("the first drawing moves the cursor")
	}
	first := out.Len()
	s.tick(soaking(20*time.Second), noon.Add(5*time.Second))
	again := out.String()[first:]
	if !strings.HasPrefix(again, "\x1b[5A\x1b[Jdemo/hello") || !strings.Contains(again, " 15s ") {
		t.Errorf("want the five lines drawn over with 15 s left, got %q", again)
	}
	s.leave()
	first = out.Len()
	s.show(complete(), noon)
	if again := out.String()[first:]; strings.Contains(again, "\x1b") {
		t.Errorf("after somebody else wrote, the next drawing starts below; got %q", again)
	}
}

func TestFitKeepsToTheTerminal(t *testing.T) {
	r := soaking(time.Minute)
	done := complete().Status.Lanes[0].Groups[0]
	for range 30 {
		r.Status.Lanes[0].Groups = append([]v1alpha1.GroupStatus{done}, r.Status.Lanes[0].Groups...)
	}
	lines := fit(r, noon, 200, 10)
	text := strings.Join(lines, "\n")
	if len(lines) >= 10 || !strings.Contains(text, "dev    1      -     1") || !strings.Contains(text, "too small for all 31 groups") {
		t.Errorf("want fewer than 10 lines with the group that is waited for, got %d:\n%s", len(lines), text)
	}
}

func TestWatchEnds(t *testing.T) {
	breached := held(metav1.Condition{Type: v1alpha1.RolloutBreached, Status: metav1.ConditionTrue})
	cases := map[string]struct {
		updates  []update
		cancel   bool
		timeout  bool
		want     int
		wantErrs string
	}{
		"complete":                    {updates: []update{{rollout: held()}, {rollout: complete()}}, want: 0},
		"breached":                    {updates: []update{{rollout: held()}, {rollout: breached}}, want: 1},
		"interrupted":                 {updates: []update{{rollout: held()}}, cancel: true, want: 2},
		"out of time":                 {updates: []update{{rollout: held()}}, timeout: true, want: 2, wantErrs: "not complete after 1m0s: NotReady: waiting for group dev\n"},
		"not readable any more":       {updates: []update{{rollout: held()}, {err: errors.New("it was deleted")}}, want: 3},
		"never read":                  {cancel: true, want: 3},
		"complete after a lost watch": {updates: []update{{rollout: held()}, {lost: errors.New("EOF")}, {lost: errors.New("EOF")}, {rollout: complete()}}, want: 0, wantErrs: "the hub cannot be reached, trying again: EOF\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			streams := genericclioptions.IOStreams{Out: &out, ErrOut: &errs}
			deadline, updates := make(chan time.Time, 1), make(chan update)
			w := watching{view: newView(&out), streams: streams, timeout: time.Minute, deadline: deadline}
			go func() {
				for _, u := range tc.updates {
					updates <- u
				}
				if tc.cancel {
					cancel()
				}
				if tc.timeout {
					deadline <- noon
				}
			}()
			if got := ExitStatus(w.run(ctx, updates, nil)); got != tc.want {
				t.Errorf("exit status %d, want %d", got, tc.want)
			}
			if diff := cmp.Diff(tc.wantErrs, errs.String()); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
		})
	}
}
