package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/cli/rights"
)

// hub is the API server and the bundle that a command is about.
type hub struct {
	client client.WithWatch
	bundle types.NamespacedName
}

// connect reads the flags; nothing is asked of the hub but what kinds it has.
func connect(flags *genericclioptions.ConfigFlags, bundle string) (*hub, error) {
	config, err := configOf(flags, "hub")
	if err != nil {
		return nil, err
	}
	namespace, _, err := flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("reach the hub: %w", err)
	}
	return &hub{client: c, bundle: types.NamespacedName{Namespace: namespace, Name: bundle}}, nil
}

// configOf reads how to reach the API server that the flags name. what is what the
// command is about, hub or cluster.
func configOf(flags *genericclioptions.ConfigFlags, what string) (*rest.Config, error) {
	config, err := flags.ToRESTConfig()
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	if unconfigured(flags) {
		return nil, fmt.Errorf("no %s: there is no kubeconfig; name the %[1]s's with --kubeconfig or the variable KUBECONFIG", what)
	}
	// As kubectl does; controller-runtime would log what the API server warns of.
	config.WarningHandler = rest.NewWarningWriter(os.Stderr, rest.WarningWriterOptions{Deduplicate: true})
	return config, nil
}

// unconfigured tells whether neither a file, nor a flag, nor the pod that this runs in
// says where the hub is. The loader then takes localhost, which is never one.
func unconfigured(flags *genericclioptions.ConfigFlags) bool {
	loader := flags.ToRawKubeConfigLoader()
	raw, err := loader.RawConfig()
	if err != nil || len(raw.Clusters) > 0 || (flags.APIServer != nil && *flags.APIServer != "") {
		return false
	}
	_, err = rest.InClusterConfig()
	return err != nil
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		v1alpha1.AddToScheme, fleet.AddToScheme, corev1.AddToScheme, appsv1.AddToScheme, workv1.Install, clusterv1.Install,
		clusterv1beta1.Install, clusterv1beta2.Install, addonv1beta1.Install,
	} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return scheme, nil
}

// open connects, and gets the bundle's Rollout.
func open(ctx context.Context, flags *genericclioptions.ConfigFlags, bundle string) (*hub, *v1alpha1.Rollout, error) {
	h, err := connect(flags, bundle)
	if err != nil {
		return nil, nil, err
	}
	r, err := h.rollout(ctx)
	return h, r, err
}

// rollout gets the bundle's Rollout.
func (h *hub) rollout(ctx context.Context) (*v1alpha1.Rollout, error) {
	r := &v1alpha1.Rollout{}
	err := h.client.Get(ctx, h.bundle, r)
	switch {
	case apierrors.IsNotFound(err):
		return nil, fmt.Errorf("no Rollout %s: is there a Bundle of that name in the namespace, and does the manager run?", h.bundle)
	case meta.IsNoMatchError(err):
		return nil, errors.New("the cluster has no Rollouts: install the add-on's chart on the hub, or name the hub's kubeconfig with --kubeconfig or --context")
	case err != nil:
		return nil, rights.Missing(fmt.Errorf("get Rollout %s: %w", h.bundle, err), "get", "rollouts."+v1alpha1.GroupName, h.bundle.Namespace)
	}
	return r, nil
}

// patch changes the bundle's Rollout and says which right that needs.
func (h *hub) patch(ctx context.Context, r *v1alpha1.Rollout, patch client.Patch) error {
	if err := h.client.Patch(ctx, r, patch); err != nil {
		return rights.Missing(fmt.Errorf("patch Rollout %s: %w", h.bundle, err), "patch", "rollouts."+v1alpha1.GroupName, h.bundle.Namespace)
	}
	return nil
}
