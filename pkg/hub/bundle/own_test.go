package bundle

import (
	"context"
	"errors"
	"k8s.io/utils/clock"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
	"open-cluster-management.io/fleet-addon/pkg/target"
	"open-cluster-management.io/fleet-addon/pkg/values"
)

// secretive is a bundle whose values are in a Secret, with that Secret on a shelf, and
// the same bundle with the values in its spec.
func secretive(t *testing.T) (f *facts, s *shelf, inline *fleet.Bundle) {
	t.Helper()
	f = askable()
	secret := func(password string) *fleet.HelmOptions {
		return &fleet.HelmOptions{ReleaseName: "web", Values: &fleet.GenericMap{Data: map[string]any{"password": password, "replicas": 2.0}}}
	}
	f.bundle.Spec.Helm = secret("hunter2")
	f.bundle.Spec.Targets[0].Name, f.bundle.Spec.Targets[0].Helm = "dev", secret("hunter3")
	inline = f.bundle.DeepCopy()
	data, err := values.Take(f.bundle)
	if err != nil {
		t.Fatal(err)
	}
	s = &shelf{secret: &corev1.Secret{Type: values.SecretType, Data: data}}
	s.secret.Name = f.bundle.Name
	return f, s, inline
}

func TestValuesOfASecretAreThoseOfTheBundle(t *testing.T) {
	f, s, inline := secretive(t)
	before := f.bundle.DeepCopy()
	r, m := &Reconciler{Clock: clock.RealClock{}, Live: s}, &memory{}
	if err := r.readOwn(context.Background(), f, m); err != nil {
		t.Fatal(err)
	}
	q := r.ask(f, m)
	if len(q.input.Blocks) > 0 || !q.keepable || m.valuesDue(f.now) != 0 {
		t.Fatalf("blocks %v, keepable %v, due in %s", q.input.Blocks, q.keepable, m.valuesDue(f.now))
	}
	if diff := cmp.Diff(inline.Spec, q.desired.bundle.Spec); diff != "" {
		t.Errorf("the bundle with its values is not the one with values inside (-want +got):\n%s", diff)
	}
	if want := target.Revision(inline, q.packed.name); q.input.Revision != want {
		t.Errorf("revision %s, want that of the bundle with values inside, %s", q.input.Revision, want)
	}
	here := *f
	here.bundle = inline
	if got, want := idOf(q, "dev"), idOf((&Reconciler{Clock: clock.RealClock{}}).ask(&here, &memory{}), "dev"); got != want || got == "" {
		t.Errorf("id %q, want that of the bundle with values inside, %q", got, want)
	}
	if diff := cmp.Diff(before, f.bundle); diff != "" {
		t.Errorf("the cache's own bundle was changed (-before +after):\n%s", diff)
	}

	reads := s.reads
	if err := r.readOwn(context.Background(), f, m); err != nil || s.reads != reads {
		t.Errorf("read again: %v, %d reads more", err, s.reads-reads)
	}
	f.bundle = f.bundle.DeepCopy()
	f.bundle.Generation++
	if err := r.readOwn(context.Background(), f, m); err != nil || s.reads == reads {
		t.Errorf("not read again for a new generation: %v", err)
	}
}

func TestMissingValuesHoldTheNewRevision(t *testing.T) {
	tests := map[string]struct {
		change func(*shelf)
		says   string
	}{
		"no Secret":           {func(s *shelf) { s.secret = nil }, "Secret team/app does not exist"},
		"a Secret of its own": {func(s *shelf) { s.secret.Type = corev1.SecretTypeOpaque }, `has the type "Opaque"`},
		"other values": {func(s *shelf) { s.secret.Data["dev"] = []byte(`{"password":"hunter4"}`) },
			"Secret team/app with the keys dev, values.yaml does not hold the values that spec.valuesHash is the hash of"},
		"no values":     {func(s *shelf) { s.secret.Data = nil }, "with no key does not hold"},
		"too many keys": {func(s *shelf) { s.secret.Data = keyed("abcdefgh") }, "keys a, b, c, d, e and 3 more"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f, s, _ := secretive(t)
			whole := s.secret.DeepCopy()
			tt.change(s)
			f.rollout = &v1alpha1.Rollout{}
			f.rollout.Status.Revision, f.rollout.Status.BundleRevision = "before", "shown before"
			r, m := &Reconciler{Clock: clock.RealClock{}, Live: s}, &memory{}
			if err := r.readOwn(context.Background(), f, m); err != nil {
				t.Fatal(err)
			}
			q := r.ask(f, m)
			if len(q.input.Blocks) != 1 || q.input.Blocks[0].Reason != rollout.ValuesMissing || q.keepable || q.matched {
				t.Fatalf("blocks %v, keepable %v, matched %v", q.input.Blocks, q.keepable, q.matched)
			}
			text := q.input.Blocks[0].Sentence
			if !strings.Contains(text, tt.says) || !strings.Contains(text, "values.yaml") || !strings.Contains(text, "fleetctl apply") || strings.Contains(text, "hunter") {
				t.Errorf("sentence %q, want it to say %q", text, tt.says)
			}
			if q.input.Revision != "before" || bundleRevision(&f.rollout.Status, f, q) != "shown before" {
				t.Errorf("revision %s, the bundle's own %q: both have to stand", q.input.Revision, bundleRevision(&f.rollout.Status, f, q))
			}

			due := m.valuesDue(f.now)
			if due <= 0 || due > time.Second {
				t.Errorf("looked for again in %s at first", due)
			}
			for range 20 {
				f.now = f.now.Add(m.valuesDue(f.now))
				if err := r.readOwn(context.Background(), f, m); err != nil {
					t.Fatal(err)
				}
			}
			if due = m.valuesDue(f.now); due != 10*time.Second {
				t.Errorf("looked for again in %s in the end", due)
			}
			reads := s.reads
			s.secret = whole
			if err := r.readOwn(context.Background(), f, m); err != nil || s.reads != reads {
				t.Errorf("read again at once: %v", err)
			}
			f.now = f.now.Add(due)
			if err := r.readOwn(context.Background(), f, m); err != nil || len(r.ask(f, m).input.Blocks) > 0 {
				t.Errorf("still held: %v", err)
			}
		})
	}
}

func keyed(keys string) map[string][]byte {
	out := map[string][]byte{}
	for _, k := range strings.Split(keys, "") {
		out[k] = []byte("{}")
	}
	return out
}

// An earlier revision that the Rollout pins is rolled out whatever is missing.
func TestMissingValuesLeaveAPinAlone(t *testing.T) {
	f, s, hash := shelved(t)
	f.bundle.Spec.ValuesHash = "of values that are not there"
	f.rollout.Spec.Revision = hash
	r, m := &Reconciler{Clock: clock.RealClock{}, Live: s}, &memory{}
	for _, read := range []func(context.Context, *facts, *memory) error{r.readOwn, r.readPin} {
		if err := read(context.Background(), f, m); err != nil {
			t.Fatal(err)
		}
	}
	q := r.ask(f, m)
	if len(q.input.Blocks) > 0 || q.input.Revision != hash || !q.input.Pinned || q.keepable {
		t.Errorf("blocks %v, revision %s, keepable %v", q.input.Blocks, q.input.Revision, q.keepable)
	}
	f.rollout.Spec.Revision, q.input.Revision = "", ""
	if used := inUse(f, q, &rollout.Result{}); !used[hash] {
		t.Error("the newest revision, which may be the bundle's own, can be dropped")
	}
}

func TestValuesWhileTheAPIServerFailsAreAnError(t *testing.T) {
	f, s, _ := secretive(t)
	s.broken = errors.New("connection refused")
	if err := (&Reconciler{Clock: clock.RealClock{}, Live: s}).readOwn(context.Background(), f, &memory{}); err == nil || errors.Is(err, errUnusable) {
		t.Errorf("error %v", err)
	}
}
