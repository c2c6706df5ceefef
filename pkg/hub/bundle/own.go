package bundle

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/rollout"
	"open-cluster-management.io/fleet-addon/pkg/target"
	"open-cluster-management.io/fleet-addon/pkg/values"
)

// A Secret with values mostly comes with its bundle, and so it is looked for soon, and
// then less and less often.
const (
	valuesRetryFirst = 250 * time.Millisecond
	valuesRetryMost  = editionRetry
)

// maxKeysNamed of a Secret that one sentence tells.
const maxKeysNamed = 5

// own is what a bundle says now, for one generation of it.
type own struct {
	edition
	// spec has the values of the bundle's Secret in it, and no files; nil where the
	// bundle itself says everything.
	spec *fleet.BundleSpec
	// awaited tells why the values are not there; nil once they are. Without them nobody
	// knows the revision.
	awaited error
	tries   int
	nextTry time.Time
}

// ownEdition is what the bundle says now, as far as its values were read.
func ownEdition(b *fleet.Bundle, m *memory) *edition {
	key := editionKey{generation: generation{b.UID, b.Generation}}
	if m.own == nil || m.own.key != key {
		m.own = &own{edition: edition{key: key, packed: pack(b.Spec.Resources)}}
		if b.Spec.ValuesHash != "" {
			m.own.awaited = errors.New("its values were not read yet")
		}
		m.own.judge(m.own.over(b))
	}
	e := m.own.edition
	e.bundle = m.own.over(b)
	return &e
}

// over is the bundle with its values.
func (o *own) over(b *fleet.Bundle) *fleet.Bundle {
	if o.spec == nil {
		return b
	}
	out := &fleet.Bundle{TypeMeta: b.TypeMeta, ObjectMeta: b.ObjectMeta, Spec: *o.spec}
	out.Spec.Resources = b.Spec.Resources
	return out
}

// judge finds the revision of the bundle with its values, and what is wrong with it.
func (o *own) judge(b *fleet.Bundle) {
	o.faults = faultsOf(b, o.packed)
	if o.awaited != nil {
		o.faults = append(o.faults, rollout.Hold{Reason: rollout.ValuesMissing, Sentence: o.awaited.Error()})
		return
	}
	o.revision = target.Revision(b, o.packed.name)
}

// unknown is true while nobody can tell which revision the bundle's own edition is.
func (e *edition) unknown() bool { return e.revision == "" }

// readOwn reads the values of a bundle that has them in a Secret, live and once for a
// generation. What is missing is no error: the new revision waits for it.
func (r *Reconciler) readOwn(ctx context.Context, f *facts, m *memory) error {
	ownEdition(f.bundle, m)
	o := m.own
	if o.awaited == nil || f.now.Before(o.nextTry) {
		return nil
	}
	spec, err := r.readValues(ctx, f.bundle)
	switch {
	case err == nil:
		o.spec, o.awaited = spec, nil
	case errors.Is(err, errUnusable):
		o.awaited = errors.New(strings.TrimPrefix(err.Error(), errUnusable.Error()+": "))
		o.nextTry = f.now.Add(min(valuesRetryFirst<<min(o.tries, 10), valuesRetryMost))
		o.tries++
	default:
		return err
	}
	o.judge(o.over(f.bundle))
	return nil
}

// valuesDue is when a Secret that is missing is looked for again; 0 if none is.
func (m *memory) valuesDue(now time.Time) time.Duration {
	if m.own == nil || m.own.awaited == nil {
		return 0
	}
	return max(m.own.nextTry.Sub(now), time.Millisecond)
}

// readValues returns the bundle's spec with the values of its Secret, without files and
// hash: in what it deploys it is the spec of a bundle that says its values itself. The
// error is errUnusable where the Secret is not what the bundle says; it shows no value.
func (r *Reconciler) readValues(ctx context.Context, b *fleet.Bundle) (*fleet.BundleSpec, error) {
	key := client.ObjectKeyFromObject(b)
	secret := &corev1.Secret{}
	if err := r.get(ctx, "Secret", key, secret); err != nil {
		return nil, awaitedValues(err)
	}
	if secret.Type != values.SecretType {
		return nil, awaitedValues(unusable("Secret %s has the type %q, not %q", key, secret.Type, values.SecretType))
	}
	spec := b.Spec
	// Not copied, as they can be a megabyte.
	spec.Resources = nil
	whole := &fleet.Bundle{Spec: *spec.DeepCopy()}
	switch err := values.Put(whole, secret.Data); {
	case errors.Is(err, values.ErrMismatch):
		return nil, awaitedValues(unusable("Secret %s with %s does not hold the values that spec.valuesHash is the hash of", key, keysOf(secret)))
	case err != nil:
		return nil, awaitedValues(unusable("Secret %s: %v", key, err))
	}
	whole.Spec.ValuesHash = ""
	return &whole.Spec, nil
}

// awaitedValues adds to what is wrong with a Secret what is waited for, and the remedy.
func awaitedValues(err error) error {
	if !errors.Is(err, errUnusable) {
		return err
	}
	return fmt.Errorf("%w; spec.valuesHash names the Helm values in it (key %s, and one named like the target for each target with values). "+
		"It is looked for at least every %s: write it again with `fleetctl apply`", err, values.BundleKey, valuesRetryMost)
}

// keysOf names the keys of a Secret.
func keysOf(s *corev1.Secret) string {
	keys := slices.Sorted(maps.Keys(s.Data))
	switch n := len(keys) - maxKeysNamed; {
	case len(keys) == 0:
		return "no key"
	case n > 0:
		return fmt.Sprintf("the keys %s and %d more", strings.Join(keys[:maxKeysNamed], ", "), n)
	default:
		return "the keys " + strings.Join(keys, ", ")
	}
}
