package bundle

import (
	"context"
	"errors"
	"k8s.io/utils/clock"
	"strings"
	"testing"
	"time"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/content"
	"open-cluster-management.io/fleet-addon/pkg/revision"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

// shelf is what the API server has of one revision, and how often it was asked.
type shelf struct {
	client.Reader
	cr      *appsv1.ControllerRevision
	secret  *corev1.Secret
	content *v1alpha1.Content
	broken  error
	reads   int
}

func (s *shelf) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	s.reads++
	if s.broken != nil {
		return s.broken
	}
	missing := apierrors.NewNotFound(schema.GroupResource{Resource: "things"}, key.Name)
	switch into := into.(type) {
	case *appsv1.ControllerRevision:
		if s.cr == nil || s.cr.Name != key.Name {
			return missing
		}
		s.cr.DeepCopyInto(into)
	case *corev1.Secret:
		if s.secret == nil || s.secret.Name != key.Name {
			return missing
		}
		s.secret.DeepCopyInto(into)
	case *v1alpha1.Content:
		if s.content == nil || s.content.Name != key.Name {
			return missing
		}
		s.content.DeepCopyInto(into)
	}
	return nil
}

// shelved is a bundle whose first revision was kept before it was changed, the shelf
// with that revision and its hash.
func shelved(t *testing.T) (*facts, *shelf, string) {
	t.Helper()
	f := askable()
	f.bundle.Spec.Helm = &fleet.HelmOptions{Values: &fleet.GenericMap{Data: map[string]any{"password": "hunter2"}}}
	name, gz, sum, err := content.Pack(f.bundle.Spec.Resources)
	if err != nil {
		t.Fatal(err)
	}
	rev, err := revision.Of(f.bundle, ownerOf(f), name)
	if err != nil {
		t.Fatal(err)
	}
	rev.Number = 1
	cr, err := rev.Build()
	if err != nil {
		t.Fatal(err)
	}
	cr.ResourceVersion = "1"
	s := &shelf{cr: cr, secret: rev.Secret(cr), content: &v1alpha1.Content{Content: gz, SHA256Sum: sum}}
	s.content.Name = name
	listed := cr.DeepCopy()
	if _, err := revision.Strip(listed); err != nil {
		t.Fatal(err)
	}
	f.revisions = []*appsv1.ControllerRevision{listed}
	f.rollout = &v1alpha1.Rollout{}
	f.bundle = f.bundle.DeepCopy()
	f.bundle.Generation++
	f.bundle.Spec.Helm.Values.Data["password"] = "other"
	f.bundle.Spec.Resources[0].Content = "a: 2"
	return f, s, rev.Hash
}

func TestPinnedEditionIsWhatItWas(t *testing.T) {
	f, s, hash := shelved(t)
	now := *f
	before := *f
	before.bundle = f.bundle.DeepCopy()
	before.bundle.Spec.Helm.Values.Data["password"] = "hunter2"
	before.bundle.Spec.Resources[0].Content = "a: 1"
	was := (&Reconciler{Clock: clock.RealClock{}}).ask(&before, &memory{})

	r, m := &Reconciler{Clock: clock.RealClock{}, Live: s}, &memory{}
	now.rollout.Spec.Revision = hash
	now.bundle.Spec.Paused = true
	if err := r.readPin(context.Background(), &now, m); err != nil {
		t.Fatal(err)
	}
	q := r.ask(&now, m)
	if !q.input.Pinned || q.input.Revision != hash || len(q.input.Blocks) > 0 || q.own.revision == hash {
		t.Fatalf("pinned %v, revision %s, own %s, blocks %v", q.input.Pinned, q.input.Revision, q.own.revision, q.input.Blocks)
	}
	if got, want := idOf(q, "dev"), idOf(was, "dev"); got != want || got == "" {
		t.Errorf("id %q, want the one that clusters have already, %q", got, want)
	}
	if d, err := q.desired.deployment(&now, "dev", idOf(q, "dev")); err != nil || len(q.input.Pauses) != 1 || !d.Paused {
		t.Errorf("the bundle's pause is lost: %v", q.input.Pauses)
	}
	reads := s.reads
	if err := r.readPin(context.Background(), &now, m); err != nil || s.reads != reads {
		t.Errorf("read again: %v, %d reads more", err, s.reads-reads)
	}
	m.forgetEditions("another")
	if len(m.editions) != 0 {
		t.Error("an edition that nobody uses is kept in memory")
	}
}

func idOf(q *question, cluster string) string {
	for _, c := range q.input.Clusters {
		if c.Name == cluster {
			return c.DesiredID
		}
	}
	return ""
}

func TestPinOfWhatCannotBeUsedHolds(t *testing.T) {
	tests := map[string]struct {
		change func(*facts, *shelf)
		says   string
	}{
		"not kept":            {func(f *facts, _ *shelf) { f.rollout.Spec.Revision = "nosuch" }, "revision nosuch: it is not kept; kept are "},
		"nothing kept at all": {func(f *facts, _ *shelf) { f.revisions = nil }, "no revision is kept"},
		"gone by now":         {func(_ *facts, s *shelf) { s.cr = nil }, "ControllerRevision team/app"},
		"no values":           {func(_ *facts, s *shelf) { s.secret = nil }, "Secret team/app"},
		"other values": {func(_ *facts, s *shelf) {
			s.secret.Data[revision.SecretKey] = []byte(`{"bundle":{"values":{"password":"hunter3"}}}`)
		}, "does not have its hash"},
		"no files":    {func(_ *facts, s *shelf) { s.content = nil }, "Content s-"},
		"other files": {func(_ *facts, s *shelf) { s.content.Content = []byte("x") }, "malformed"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f, s, hash := shelved(t)
			f.rollout.Spec.Revision = hash
			f.rollout.Status.Revision = "before"
			tt.change(f, s)
			r, m := &Reconciler{Clock: clock.RealClock{}, Live: s}, &memory{}
			if err := r.readPin(context.Background(), f, m); err != nil {
				t.Fatal(err)
			}
			q := r.ask(f, m)
			if len(q.input.Blocks) != 1 || q.input.Blocks[0].Reason != rollout.RevisionNotFound || q.matched {
				t.Fatalf("blocks %v, matched %v", q.input.Blocks, q.matched)
			}
			text := q.input.Blocks[0].Sentence
			if !strings.Contains(text, tt.says) || !strings.Contains(text, "remove spec.revision") || strings.Contains(text, "hunter") {
				t.Errorf("sentence %q, want it to say %q", text, tt.says)
			}
			if q.input.Revision != "before" || q.input.Pinned {
				t.Errorf("revision %s, pinned %v: what was rolled out has to stand", q.input.Revision, q.input.Pinned)
			}
			reads := s.reads
			if err := r.readPin(context.Background(), f, m); err != nil || s.reads != reads {
				t.Errorf("read again at once: %v, %d reads more", err, s.reads-reads)
			}
		})
	}
}

func TestPinIsReadAgainLater(t *testing.T) {
	f, s, hash := shelved(t)
	f.rollout.Spec.Revision = hash
	whole := s.content
	s.content = nil
	r, m := &Reconciler{Clock: clock.RealClock{}, Live: s}, &memory{}
	if err := r.readPin(context.Background(), f, m); err != nil || f.pinTrouble == "" {
		t.Fatalf("trouble %q, %v", f.pinTrouble, err)
	}
	s.content, f.pinTrouble = whole, ""
	f.now = f.now.Add(editionRetry + time.Second)
	if err := r.readPin(context.Background(), f, m); err != nil || f.pinned == nil {
		t.Errorf("trouble %q, %v", f.pinTrouble, err)
	}
}

func TestPinWhileTheAPIServerFailsIsAnError(t *testing.T) {
	f, s, hash := shelved(t)
	f.rollout.Spec.Revision = hash
	s.broken = errors.New("connection refused")
	if err := (&Reconciler{Clock: clock.RealClock{}, Live: s}).readPin(context.Background(), f, &memory{}); err == nil || errors.Is(err, errUnusable) {
		t.Errorf("error %v", err)
	}
}

func TestNewcomersAreOfferedTheCompletedRevision(t *testing.T) {
	tests := map[string]struct {
		change func(*facts, *shelf)
		want   bool
	}{
		"a cluster without a work":           {want: true},
		"not one that has a work":            {change: func(f *facts, _ *shelf) { f.works = works(f, "dev") }},
		"not what is rolled out":             {change: func(f *facts, _ *shelf) { f.rollout.Status.Record.CompletedRevision = "" }},
		"not what is not kept":               {change: func(f *facts, _ *shelf) { f.revisions = nil }},
		"not without its files":              {change: func(_ *facts, s *shelf) { s.content = nil }},
		"not while the API server is away":   {change: func(_ *facts, s *shelf) { s.broken = errors.New("connection refused") }},
		"not while the bundle has a mistake": {change: func(f *facts, _ *shelf) { f.bundle.Spec.DependsOn = []fleet.BundleRef{{Name: "db"}} }},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f, s, hash := shelved(t)
			f.rollout.Status.Record.CompletedRevision = hash
			if tt.change != nil {
				tt.change(f, s)
			}
			r, m := &Reconciler{Clock: clock.RealClock{}, Live: s}, &memory{}
			q := r.ask(f, m)
			r.offerCompleted(context.Background(), f, q, m)
			got := ""
			for _, c := range q.input.Clusters {
				if c.Name == "stg" && c.CompletedID != "" {
					t.Error("offered where no target selects")
				}
				if c.Name == "dev" {
					got = c.CompletedID
				}
			}
			if (got != "") != tt.want {
				t.Fatalf("completed id %q, want one: %v", got, tt.want)
			}
			if !tt.want {
				return
			}
			if got == idOf(q, "dev") {
				t.Error("the completed id is the desired one")
			}
			o := q.offerOf(hash)
			if d, err := o.deployment(f, "dev", got); err != nil || o != &q.completed || d.Options.Helm.Values.Data["password"] != "hunter2" {
				t.Error("the admission would not have the completed revision's options")
			}
			if q.offerOf(q.input.Revision) != &q.desired {
				t.Error("the desired revision is not the desired offer")
			}
		})
	}
}
