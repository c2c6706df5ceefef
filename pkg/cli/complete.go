package cli

import (
	"context"
	"fmt"
	"time"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// patience is how long somebody who pressed the tab key is made to wait.
const patience = 2 * time.Second

// candidates are what an argument or a flag can be, for a shell; args are those before it.
type candidates func(ctx context.Context, args []string) []string

// offer is a completion of candidates. What cannot be read offers nothing, and never the
// names of files.
func offer(from candidates) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), patience)
		defer cancel()
		return from(ctx, args), cobra.ShellCompDirectiveNoFileComp
	}
}

// arguments completes each argument by the candidates at its place.
func arguments(each ...candidates) cobra.CompletionFunc {
	return offer(func(ctx context.Context, args []string) []string {
		if len(args) >= len(each) {
			return nil
		}
		return each[len(args)](ctx, args)
	})
}

// suggest completes a flag of a command.
func suggest(cmd *cobra.Command, flag string, from candidates) {
	// It fails only for a flag that does not exist or has a completion.
	_ = cmd.RegisterFlagCompletionFunc(flag, offer(from))
}

func fixed(names ...string) candidates {
	return func(context.Context, []string) []string { return names }
}

func bundleNames(flags *genericclioptions.ConfigFlags) candidates {
	return named(flags, fleet.SchemeGroupVersion.WithKind("BundleList"), true)
}

func clusterNames(flags *genericclioptions.ConfigFlags) candidates {
	of := clusterv1.GroupVersion
	return named(flags, schema.GroupVersionKind{Group: of.Group, Version: of.Version, Kind: "ManagedClusterList"}, false)
}

func namespaceNames(flags *genericclioptions.ConfigFlags) candidates {
	return named(flags, corev1.SchemeGroupVersion.WithKind("NamespaceList"), false)
}

// named are the objects of a kind, in the namespace of the flags or cluster-scoped.
func named(flags *genericclioptions.ConfigFlags, kind schema.GroupVersionKind, namespaced bool) candidates {
	return func(ctx context.Context, _ []string) []string {
		h, err := connect(flags, "")
		if err != nil {
			return nil
		}
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind)
		options := []client.ListOption{client.Limit(page)}
		if namespaced {
			options = append(options, client.InNamespace(h.bundle.Namespace))
		}
		if err := h.client.List(ctx, list, options...); err != nil {
			return nil
		}
		out := make([]string, 0, len(list.Items))
		for i := range list.Items {
			out = append(out, list.Items[i].Name)
		}
		return out
	}
}

// revisionNames are the numbers of the kept revisions of the bundle that is named first.
func revisionNames(flags *genericclioptions.ConfigFlags) candidates {
	return func(ctx context.Context, args []string) []string {
		if len(args) == 0 {
			return nil
		}
		h, err := connect(flags, args[0])
		if err != nil {
			return nil
		}
		known, err := h.revisions(ctx)
		if err != nil {
			return nil
		}
		out := make([]string, 0, len(known))
		for _, k := range known {
			out = append(out, cobra.CompletionWithDesc(fmt.Sprint(k.number), k.String()))
		}
		return out
	}
}
