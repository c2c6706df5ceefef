package bundle

import (
	"errors"
	"fmt"
	"k8s.io/utils/clock"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/hub/outcome"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func TestOwnWritesAreSeen(t *testing.T) {
	type write struct{ key, replaced string }
	tests := map[string]struct {
		writes []write
		cache  map[string]string
		later  time.Duration
		want   bool
	}{
		"nothing was written":                   {want: true},
		"a creation is not there yet":           {writes: []write{{"dev", ""}}, want: false},
		"a creation is there":                   {writes: []write{{"dev", ""}}, cache: map[string]string{"dev": "1"}, want: true},
		"the cache shows what was replaced":     {writes: []write{{"dev", "1"}}, cache: map[string]string{"dev": "1"}, want: false},
		"the cache shows something later":       {writes: []write{{"dev", "1"}}, cache: map[string]string{"dev": "7"}, want: true},
		"the first of two writes is not enough": {writes: []write{{"dev", ""}, {"dev", "1"}}, cache: map[string]string{"dev": "1"}, want: false},
		"a deletion is there":                   {writes: []write{{"dev", "1"}}, want: true},
		"one of two objects is missing": {
			writes: []write{{"dev", "1"}, {"stg", "1"}}, cache: map[string]string{"dev": "2", "stg": "1"}, want: false,
		},
		"the cache never shows it": {writes: []write{{"dev", "1"}}, cache: map[string]string{"dev": "1"}, later: time.Minute, want: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var o ownWrites
			for _, w := range tt.writes {
				o.add(w.key, w.replaced, noon)
			}
			got := o.seen(func(key string) string { return tt.cache[key] }, noon.Add(tt.later))
			if got != tt.want {
				t.Errorf("seen = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestRecordComesBackAsItWasWritten(t *testing.T) {
	want := rollout.Record{
		Revision: "abc", RevisionSince: noon, PauseSeenAt: noon.Add(time.Microsecond), ResumedAt: noon.Add(time.Second),
		CompletedRevision: "old",
		Groups: []rollout.RecordedGroup{
			{Place: rollout.Place{Lane: "l", GroupKey: rollout.GroupKey{Name: "dev"}}, OpenedAt: noon.Add(3 * time.Microsecond)},
			{Place: rollout.Place{Lane: "l", GroupKey: rollout.GroupKey{Name: "dev", Index: 1}}},
		},
	}
	var s v1alpha1.RolloutStatus
	remember(&s, want)
	if diff := cmp.Diff(want, recordOf(&v1alpha1.Rollout{Status: s})); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
}

func TestRecordIsCutToWhatTheAPIKeeps(t *testing.T) {
	exact := noon.Add(1234567890 * time.Nanosecond)
	var s v1alpha1.RolloutStatus
	remember(&s, rollout.Record{RevisionSince: exact, ResumedAt: exact})
	if got := s.RevisionSince.Time; !got.Equal(noon.Add(time.Second)) {
		t.Errorf("revisionSince = %s", got)
	}
	if got := s.Record.ResumedAt; !got.Equal(&metav1.MicroTime{Time: noon.Add(1234567 * time.Microsecond)}) {
		t.Errorf("resumedAt = %s", got)
	}
}

// TestNotWritten: people are told what keeps a work from being written, until it is,
// and nothing of what goes away by itself.
func TestNotWritten(t *testing.T) {
	works := schema.GroupResource{Resource: "manifestworks"}
	tests := map[string]struct {
		err  error
		want string
	}{
		"nothing":             {},
		"a conflict":          {err: fmt.Errorf("patch: %w", apierrors.NewConflict(works, "app", nil))},
		"the cache is behind": {err: outcome.Wait(time.Second, "soon")},
		"a webhook refuses":   {err: apierrors.NewForbidden(works, "app", errors.New("no")), want: `manifestworks "app" is forbidden: no`},
		"it cannot be built":  {err: outcome.Terminal(errors.New("broken")), want: "terminal error: broken"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f, m := askable(), &memory{}
			m.notWritten("dev", tt.err)
			q := (&Reconciler{Clock: clock.RealClock{}}).ask(f, m)
			for _, c := range q.input.Clusters {
				if want := map[string]string{"dev": tt.want}[c.Name]; c.Unwritten != want {
					t.Errorf("%s: %q, want %q", c.Name, c.Unwritten, want)
				}
			}
		})
	}
}
