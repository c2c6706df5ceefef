package bundle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/content"
	hubcontent "open-cluster-management.io/fleet-addon/pkg/hub/content"
	"open-cluster-management.io/fleet-addon/pkg/revision"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
	"open-cluster-management.io/fleet-addon/pkg/target"
)

// editionRetry is how soon an edition that could not be used is looked at again.
const editionRetry = 10 * time.Second

// edition is one revision of a bundle, ready to be planned and carried out: the one
// that the bundle says now, or one that was kept.
type edition struct {
	key      editionKey
	revision string
	// bundle has the live bundle's name, labels, pause and rollout strategy, and the
	// edition's targets and options. Only the live one has files.
	bundle *fleet.Bundle
	packed *packed
	// faults are why it cannot be deployed, the first one to tell first.
	faults []rollout.Hold
}

// editionKey identifies all that an edition says. revision is empty for the one that
// the bundle says now.
type editionKey struct {
	generation
	revision string
}

// faultsOf says why a bundle with its files cannot be deployed or kept.
func faultsOf(b *fleet.Bundle, p *packed) []rollout.Hold {
	var out []rollout.Hold
	fault := func(reason rollout.Reason, format string, args ...any) {
		out = append(out, rollout.Hold{Reason: reason, Sentence: fmt.Sprintf(format, args...)})
	}
	if errs := target.Validate(b); len(errs) > 0 {
		fault(rollout.BundleInvalid, "%s", sentenceOf(errs))
	}
	switch {
	case errors.Is(p.err, content.ErrTooLarge):
		fault(rollout.TooLarge, "spec.resources: %v", p.err)
	case p.err != nil:
		fault(rollout.BundleInvalid, "spec.resources: %v", p.err)
	case len(p.gz) > hubcontent.MaxStored:
		fault(rollout.TooLarge, "spec.resources: %d bytes compressed, at most %d fit into an object; split the bundle",
			len(p.gz), hubcontent.MaxStored)
	}
	switch kept, err := revision.Of(b, metav1.OwnerReference{}, p.name); {
	case err != nil:
		fault(rollout.BundleInvalid, "spec.helm.values: %v", err)
	case kept.Size() > revision.MaxValues:
		fault(rollout.TooLarge, "spec.helm.values and those of spec.targets: %d bytes, at most %d fit into a Secret; make them smaller",
			kept.Size(), revision.MaxValues)
	}
	return out
}

// loaded is an edition that was read from what is kept of it, or why it cannot be
// used. It never changes: what it holds has its hash.
type loaded struct {
	spec   *fleet.BundleSpec
	packed *packed
	faults []rollout.Hold

	// unusable says why; from is the version of the ControllerRevision that this was
	// found with, and at when.
	unusable error
	from     string
	at       time.Time
}

// errUnusable is an edition that is not there as it was written; the error's text says
// what of it.
var errUnusable = errors.New("cannot be used")

func unusable(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errUnusable, fmt.Sprintf(format, args...))
}

// edition returns a revision of the bundle that is kept. It is read at most once while
// it is in use. The error is errUnusable where only people can help.
func (r *Reconciler) edition(ctx context.Context, f *facts, m *memory, hash string) (*edition, error) {
	if own := ownEdition(f.bundle, m); own.revision == hash {
		return own, nil
	}
	if l := m.editions[hash]; l != nil && l.unusable == nil {
		return l.over(f.bundle, hash), nil
	}
	cr := f.kept(hash)
	if cr == nil {
		return nil, unusable("it is not kept")
	}
	if l := m.editions[hash]; l != nil && l.from == cr.ResourceVersion && f.now.Sub(l.at) < editionRetry {
		return nil, l.unusable
	}
	l, err := r.load(ctx, cr)
	switch {
	case errors.Is(err, errUnusable):
		l = &loaded{unusable: err, from: cr.ResourceVersion, at: f.now}
	case err != nil:
		return nil, err
	}
	if m.editions == nil {
		m.editions = map[string]*loaded{}
	}
	m.editions[hash] = l
	if l.unusable != nil {
		return nil, l.unusable
	}
	return l.over(f.bundle, hash), nil
}

// load reads what is kept of a revision, live: its ControllerRevision, its values and
// its files.
func (r *Reconciler) load(ctx context.Context, stripped *appsv1.ControllerRevision) (*loaded, error) {
	cr := &appsv1.ControllerRevision{}
	if err := r.get(ctx, "ControllerRevision", client.ObjectKeyFromObject(stripped), cr); err != nil {
		return nil, err
	}
	kept, err := revision.Read(cr)
	if err != nil {
		return nil, unusable("%v", err)
	}
	var values []byte
	if kept.Values {
		secret := &corev1.Secret{}
		if err := r.get(ctx, "Secret", client.ObjectKey{Namespace: cr.Namespace, Name: revision.SecretName(cr.Name)}, secret); err != nil {
			return nil, err
		}
		values = secret.Data[revision.SecretKey]
	}
	l := &loaded{}
	if l.spec, err = revision.Open(cr, values); err != nil {
		return nil, unusable("%v", err)
	}
	files := &v1alpha1.Content{}
	if err := r.get(ctx, "Content", client.ObjectKey{Name: kept.Content}, files); err != nil {
		return nil, err
	}
	resources, err := content.Unpack(kept.Content, files.Content)
	if err != nil {
		return nil, unusable("%v", err)
	}
	l.packed = &packed{name: kept.Content, gz: files.Content, sum: files.SHA256Sum}
	// The files decide about what is valid, and are then only needed as they travel.
	whole := &fleet.Bundle{Spec: *l.spec}
	whole.Spec.Resources = resources
	l.faults = faultsOf(whole, l.packed)
	return l, nil
}

// get reads an object live; one that is not there makes its edition unusable.
func (r *Reconciler) get(ctx context.Context, kind string, key client.ObjectKey, into client.Object) error {
	err := r.Live.Get(ctx, key, into)
	name := key.Name
	if key.Namespace != "" {
		name = key.String()
	}
	switch {
	case err == nil:
		return nil
	case objectNotFound(err, key.Name):
		return unusable("%s %s does not exist", kind, name)
	}
	return fmt.Errorf("get %s %s live: %w", kind, name, err)
}

// over is the edition of the bundle as it is called, paused and ordered now.
func (l *loaded) over(live *fleet.Bundle, hash string) *edition {
	b := &fleet.Bundle{TypeMeta: live.TypeMeta, ObjectMeta: live.ObjectMeta, Spec: *l.spec}
	b.Spec.Paused, b.Spec.RolloutStrategy = live.Spec.Paused, live.Spec.RolloutStrategy
	e := &edition{
		key:      editionKey{generation: generation{live.UID, live.Generation}, revision: hash},
		revision: hash, bundle: b, packed: l.packed, faults: l.faults,
	}
	if errs := target.ValidatePartitions(b); len(errs) > 0 {
		e.faults = append(slices.Clone(l.faults), rollout.Hold{Reason: rollout.BundleInvalid, Sentence: sentenceOf(errs)})
	}
	return e
}

// forgetEditions drops those that are not among hashes.
func (m *memory) forgetEditions(hashes ...string) {
	for hash := range m.editions {
		if !slices.Contains(hashes, hash) {
			delete(m.editions, hash)
		}
	}
}
