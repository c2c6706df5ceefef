package publish

import (
	"context"
	"encoding/json"
	"fmt"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/cli/rights"
	"open-cluster-management.io/fleet-addon/pkg/values"
)

// writing is one Bundle on its way to the hub.
type writing struct {
	*Publisher
	key client.ObjectKey
	// want has no values; data are they, by the key in the Secret.
	want   *fleet.Bundle
	data   map[string][]byte
	change Change
}

func newWriting(p *Publisher, b *fleet.Bundle) (*writing, error) {
	w := &writing{Publisher: p, key: client.ObjectKeyFromObject(b), want: b}
	if b.Spec.ValuesHash != "" {
		return nil, fmt.Errorf("bundle %s: spec.valuesHash: the values are not there, only their hash; write them under spec.helm.values, "+
			"or put the Secret %s into the same file", w.key, b.Name)
	}
	var err error
	if w.data, err = values.Take(b); err != nil {
		return nil, err
	}
	if b.Spec.TargetCustomizationMode == "" {
		// The API server sets its default in any case; without it here nothing would ever
		// be unchanged.
		b.Spec.TargetCustomizationMode = fleet.TargetCustomizationModeFirstMatch
	}
	return w, nil
}

// once writes what differs. The Bundle comes first: its Secret is owned by its UID, and
// the manager holds a revision until it finds its values. So whatever stops in between
// rolls nothing out, and the next apply finds what is missing.
func (w *writing) once(ctx context.Context) error {
	have := &fleet.Bundle{}
	err := w.Client.Get(ctx, w.key, have)
	switch {
	case apierrors.IsNotFound(err):
		have = nil
	case meta.IsNoMatchError(err):
		return fmt.Errorf("the cluster has no Bundles: install the add-on's chart on the hub, or name the hub's kubeconfig with --kubeconfig or --context")
	case err != nil:
		return rights.Missing(fmt.Errorf("get Bundle %s: %w", w.key, err), "get", bundles, w.key.Namespace)
	default:
		if err := w.allowed(have); err != nil {
			return err
		}
	}
	was := ""
	if have != nil {
		was = have.Spec.ValuesHash
	}
	found, unread := w.readSecret(ctx)
	if err := w.mayTake(found); err != nil {
		return err
	}
	written, err := w.writeBundle(ctx, have)
	if err != nil {
		return err
	}
	// What could not be read is told now: the Bundle waits for it, and the next apply tries.
	wrote, err := w.writeSecret(ctx, written, was, found, unread)
	if wrote && w.change == Unchanged {
		w.change = Configured
	}
	return err
}

// allowed says whether a Bundle that is there already may be written.
func (w *writing) allowed(have *fleet.Bundle) error {
	if !have.DeletionTimestamp.IsZero() {
		return fmt.Errorf("bundle %s is being deleted: wait until it is gone, and apply again", w.key)
	}
	if have.Spec.HelmOpOptions != nil {
		return fmt.Errorf("bundle %s: a bundle of that name is made by a HelmOp (it has spec.helmOpOptions): choose another name, or delete the HelmOp", w.key)
	}
	owner, now := have.Labels[fleet.RepoLabel], w.want.Labels[fleet.RepoLabel]
	if owner != "" && owner != now && owner != w.Owner {
		return fmt.Errorf("bundle %s belongs to %s (label %s): choose another name, or take it over with --label %[3]s=%[2]s",
			w.key, owner, fleet.RepoLabel)
	}
	return nil
}

// writeBundle writes the Bundle unless it is as it should be, and returns it as it is then.
func (w *writing) writeBundle(ctx context.Context, have *fleet.Bundle) (*fleet.Bundle, error) {
	if have != nil && w.same(have) {
		w.note(Unchanged)
		return have, nil
	}
	config, err := w.config(have)
	if err != nil {
		return nil, err
	}
	options := []client.ApplyOption{client.FieldOwner(Manager)}
	verb := "create"
	if have != nil {
		// The files decide, and the version says that nobody has changed it meanwhile.
		options, verb = append(options, client.ForceOwnership), "patch"
	}
	if err := w.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(config), options...); err != nil {
		return nil, rights.Missing(fmt.Errorf("write Bundle %s: %w", w.key, err), verb, bundles, w.key.Namespace)
	}
	written := &fleet.Bundle{}
	if err := decode(config, written); err != nil {
		return nil, fmt.Errorf("read Bundle %s as it was written: %w", w.key, err)
	}
	if have == nil {
		w.note(Created)
	} else {
		w.note(Configured)
	}
	return written, w.replace(ctx, written)
}

// note keeps the greatest of the changes that several tries made.
func (w *writing) note(change Change) {
	if w.change == "" || w.change == Unchanged {
		w.change = change
	}
}

// replace makes the spec the one of the files where fields of others are left in it.
func (w *writing) replace(ctx context.Context, written *fleet.Bundle) error {
	if sameSpec(&written.Spec, &w.want.Spec) {
		return nil
	}
	before := written.DeepCopy()
	written.Spec = *w.want.Spec.DeepCopy()
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := w.Client.Patch(ctx, written, patch, client.FieldOwner(Manager)); err != nil {
		return rights.Missing(fmt.Errorf("write Bundle %s: %w", w.key, err), "patch", bundles, w.key.Namespace)
	}
	return nil
}

// same tells whether there is nothing to write.
func (w *writing) same(have *fleet.Bundle) bool {
	return sameSpec(&have.Spec, &w.want.Spec) && has(have.Labels, w.want.Labels) && has(have.Annotations, w.want.Annotations) &&
		!ours(have, "f:labels", w.want.Labels) && !ours(have, "f:annotations", w.want.Annotations)
}

// sameSpec compares as JSON: what is empty is then the same as what is not there.
func sameSpec(a, b *fleet.BundleSpec) bool {
	var parts [2]any
	for i, spec := range []*fleet.BundleSpec{a, b} {
		data, err := json.Marshal(spec)
		if err != nil || json.Unmarshal(data, &parts[i]) != nil {
			return false
		}
	}
	return equality.Semantic.DeepEqual(parts[0], parts[1])
}

func has(all, some map[string]string) bool {
	for key, value := range some {
		if got, ok := all[key]; !ok || got != value {
			return false
		}
	}
	return true
}

// ours tells whether a former apply wrote a label or annotation that is not wanted now.
func ours(have *fleet.Bundle, part string, want map[string]string) bool {
	for _, entry := range have.ManagedFields {
		if entry.Manager != Manager || entry.FieldsV1 == nil {
			continue
		}
		fields := map[string]map[string]map[string]any{}
		if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields); err != nil {
			continue
		}
		for field := range fields["f:metadata"][part] {
			if key, ok := trimField(field); ok {
				if _, wanted := want[key]; !wanted {
					return true
				}
			}
		}
	}
	return false
}

func trimField(field string) (string, bool) {
	if len(field) > 2 && field[:2] == "f:" {
		return field[2:], true
	}
	return "", false
}

// config is the Bundle for server-side apply.
func (w *writing) config(have *fleet.Bundle) (*unstructured.Unstructured, error) {
	meta := map[string]any{"namespace": w.key.Namespace, "name": w.key.Name}
	for part, from := range map[string]map[string]string{"labels": w.want.Labels, "annotations": w.want.Annotations} {
		if len(from) > 0 {
			to := make(map[string]any, len(from))
			for key, value := range from {
				to[key] = value
			}
			meta[part] = to
		}
	}
	if have != nil {
		meta["resourceVersion"], meta["uid"] = have.ResourceVersion, string(have.UID)
	}
	data, err := json.Marshal(w.want.Spec)
	if err != nil {
		return nil, fmt.Errorf("bundle %s cannot be written as JSON", w.key)
	}
	spec := map[string]any{}
	if err := json.Unmarshal(data, &spec); err != nil {
		return nil, fmt.Errorf("bundle %s cannot be written as JSON", w.key)
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": fleet.SchemeGroupVersion.String(), "kind": "Bundle", "metadata": meta, "spec": spec,
	}}, nil
}

func decode(from *unstructured.Unstructured, into any) error {
	data, err := from.MarshalJSON()
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}
