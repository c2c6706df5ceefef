package main

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
	"open-cluster-management.io/fleet-addon/pkg/work"
	"open-cluster-management.io/fleet-addon/test/example"
)

// fieldManager owns what the demo writes.
const fieldManager = "fleet-addon-demo"

// clients reach the hub and the managed clusters, by name.
type clients struct {
	hub      client.Client
	clusters map[string]client.Client
}

func connect(d description) (clients, error) {
	c := clients{clusters: map[string]client.Client{}}
	var err error
	if c.hub, err = dial(d.Hub.Kubeconfig); err != nil {
		return c, err
	}
	for _, m := range d.Clusters {
		if c.clusters[m.Name], err = dial(m.Kubeconfig); err != nil {
			return c, err
		}
	}
	return c, nil
}

func dial(kubeconfig string) (client.Client, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(corev1.AddToScheme(scheme), v1alpha1.AddToScheme(scheme), workv1.Install(scheme),
		addonv1beta1.Install(scheme)); err != nil {
		return nil, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	return client.New(config, client.Options{Scheme: scheme})
}

// apply writes an object of the examples by server-side apply, as people do with `kubectl apply --server-side`.
func (c clients) apply(ctx context.Context, object *unstructured.Unstructured) error {
	err := c.hub.Apply(ctx, client.ApplyConfigurationFromUnstructured(object.DeepCopy()),
		client.FieldOwner(fieldManager), client.ForceOwnership)
	if err != nil {
		return fmt.Errorf("apply %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return nil
}

// agentsMissing returns the clusters whose add-on is not available yet.
func (c clients) agentsMissing(ctx context.Context) ([]string, error) {
	var missing []string
	for _, name := range example.Stages {
		addon := &addonv1beta1.ManagedClusterAddOn{}
		err := c.hub.Get(ctx, types.NamespacedName{Namespace: name, Name: v1alpha1.AddOnName}, addon)
		if err != nil && !apierrors.IsNotFound(err) {
			return nil, err
		}
		if err != nil || !meta.IsStatusConditionTrue(addon.Status.Conditions, addonv1beta1.ManagedClusterAddOnConditionAvailable) {
			missing = append(missing, name)
		}
	}
	return missing, nil
}

// rollout returns the bundle's Rollout; an empty one if there is none yet.
func (c clients) rollout(ctx context.Context, bundle types.NamespacedName) (*v1alpha1.Rollout, error) {
	r := &v1alpha1.Rollout{}
	return r, client.IgnoreNotFound(c.hub.Get(ctx, bundle, r))
}

// deployed is what of the bundle a cluster has.
type deployed struct {
	rollout.Work
	// Generation of the ManifestWork: any write to its spec raises it. 0: there is none.
	Generation int64
	// Version is what the chart's ConfigMap says on the cluster itself; "" if there is none.
	Version string
}

func (c clients) deployed(ctx context.Context, bundle types.NamespacedName) (map[string]deployed, error) {
	out := map[string]deployed{}
	for name, managed := range c.clusters {
		w := &workv1.ManifestWork{}
		err := c.hub.Get(ctx, types.NamespacedName{Namespace: name, Name: work.Name(bundle)}, w)
		if apierrors.IsNotFound(err) {
			out[name] = deployed{}
			continue
		}
		if err != nil {
			return nil, err
		}
		d := deployed{Generation: w.Generation}
		if d.Work, err = work.Read(w); err != nil {
			return nil, err
		}
		settings := &corev1.ConfigMap{}
		if err := managed.Get(ctx, types.NamespacedName{Namespace: example.ReleaseNamespace, Name: example.ReleaseName}, settings); client.IgnoreNotFound(err) != nil {
			return nil, err
		}
		d.Version = settings.Data["version"]
		out[name] = d
	}
	return out, nil
}
