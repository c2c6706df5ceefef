package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/hub/cluster"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
	"open-cluster-management.io/fleet-addon/pkg/work"
)

func newExplainCommand(flags *genericclioptions.ConfigFlags, streams genericclioptions.IOStreams) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "explain BUNDLE CLUSTER",
		Short: "Show where one cluster stands, why, and what must happen next",
		Long: `Show where one cluster stands, why, what must happen next and when at the earliest.

It reads the cluster's ManifestWork, ManagedCluster and ManagedClusterAddOn, and, for a
cluster without a work, the decisions of the rollout's Placements. What it may not read
it names.`,
		Example: `  # Why has the cluster prod-7 not got the new version yet?
  fleetctl rollout explain hello prod-7 -n fleet-demo`,
		Args:              wants("BUNDLE", "CLUSTER"),
		ValidArgsFunction: arguments(bundleNames(flags), clusterNames(flags)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkOutput(output); err != nil {
				return err
			}
			h, err := connect(flags, args[0])
			if err != nil {
				return err
			}
			s, err := h.site(cmd.Context(), args[1])
			if err != nil {
				return err
			}
			now := time.Now()
			e := explain(s, now)
			if output != "" {
				return printData(streams.Out, e.data(h.bundle.String(), args[1]), output)
			}
			return printLines(streams.Out, e.lines(now))
		},
	}
	addOutputFlag(cmd, &output, "json or yaml: print data instead of sentences")
	return cmd
}

// site is what could be read of one cluster in a rollout.
type site struct {
	rollout *v1alpha1.Rollout
	cluster string
	// work of the bundle; nil if there is none. damaged says why it cannot be read.
	work    *rollout.Work
	damaged string
	// mc is nil if there is no such ManagedCluster, or if it could not be read.
	mc    *clusterv1.ManagedCluster
	addOn rollout.AddOnState
	// decided is where the Placements' latest decisions put a cluster without a work,
	// in the order of the lanes.
	decided []rollout.Place
	// workUnread and mcUnread are true for what could not be read; unread says what all
	// that is, with the right that is missing.
	workUnread, mcUnread bool
	unread               []string
}

// site reads what it may of a cluster; only the Rollout has to be there.
func (h *hub) site(ctx context.Context, name string) (*site, error) {
	r, err := h.rollout(ctx)
	if err != nil {
		return nil, err
	}
	s := &site{rollout: r, cluster: name, addOn: rollout.AddOnPresent}
	for _, read := range []func(context.Context, *site) error{h.readWork, h.readCluster, h.readAddOn, h.readDecisions} {
		if err := read(ctx, s); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (h *hub) readWork(ctx context.Context, s *site) error {
	w := &workv1.ManifestWork{}
	found, err := h.read(ctx, s, types.NamespacedName{Namespace: s.cluster, Name: work.Name(h.bundle)}, w, "manifestworks.work.open-cluster-management.io")
	if err != nil {
		return err
	}
	s.workUnread = found == unreadable
	if found != present {
		return nil
	}
	own, err := work.Read(w)
	if err != nil {
		s.damaged = err.Error()
		return nil
	}
	s.work = &own
	return nil
}

func (h *hub) readCluster(ctx context.Context, s *site) error {
	mc := &clusterv1.ManagedCluster{}
	found, err := h.read(ctx, s, types.NamespacedName{Name: s.cluster}, mc, "managedclusters.cluster.open-cluster-management.io")
	if found == present {
		s.mc = mc
	}
	s.mcUnread = found == unreadable
	return err
}

func (h *hub) readAddOn(ctx context.Context, s *site) error {
	a := &addonv1beta1.ManagedClusterAddOn{}
	found, err := h.read(ctx, s, types.NamespacedName{Namespace: s.cluster, Name: v1alpha1.AddOnName}, a, "managedclusteraddons.addon.open-cluster-management.io")
	switch found {
	case present:
		s.addOn = cluster.AddOnState(a)
	case absent:
		s.addOn = rollout.AddOnMissing
	case unreadable:
	}
	return err
}

// readDecisions looks a cluster without a work up in the lanes' Placements.
func (h *hub) readDecisions(ctx context.Context, s *site) error {
	if s.work != nil || s.damaged != "" {
		return nil
	}
	for _, lane := range s.rollout.Status.Lanes {
		key, ok := placementOf(s.rollout, lane.Name)
		if !ok {
			continue
		}
		list := &clusterv1beta1.PlacementDecisionList{}
		err := h.client.List(ctx, list, client.InNamespace(key.Namespace), client.MatchingLabels{clusterv1beta1.PlacementLabel: key.Name})
		if apierrors.IsForbidden(err) {
			s.unread = append(s.unread, fmt.Sprintf("the decisions of Placement %s: you have no right to list placementdecisions.cluster.open-cluster-management.io in namespace %s", key, key.Namespace))
			continue
		}
		if err != nil {
			return fmt.Errorf("list the decisions of Placement %s: %w", key, err)
		}
		s.decided = append(s.decided, placesIn(list, lane.Name, s.cluster)...)
	}
	return nil
}

// placesIn are the groups in which decisions name a cluster. Which one it is among
// groups of the same name the decisions alone do not tell; the first stands for all.
func placesIn(list *clusterv1beta1.PlacementDecisionList, lane, name string) []rollout.Place {
	var out []rollout.Place
	for i := range list.Items {
		for _, d := range list.Items[i].Status.Decisions {
			if d.ClusterName == name {
				out = append(out, rollout.Place{Lane: lane, GroupKey: rollout.GroupKey{Name: list.Items[i].Labels[clusterv1beta1.DecisionGroupNameLabel]}})
			}
		}
	}
	return out
}

// placementOf is the Placement of a lane; false for lanes that have none.
func placementOf(r *v1alpha1.Rollout, lane string) (types.NamespacedName, bool) {
	switch {
	case strings.HasPrefix(r.Status.Source, "RolloutPolicy/"):
		return types.NamespacedName{Namespace: r.Namespace, Name: lane}, true
	case strings.HasPrefix(r.Status.Source, "ClusterManagementAddOn/"):
		namespace, name, ok := strings.Cut(lane, "/")
		return types.NamespacedName{Namespace: namespace, Name: name}, ok
	}
	return types.NamespacedName{}, false
}

// reading is what became of reading one object.
type reading int

const (
	absent reading = iota
	present
	unreadable
)

// read gets an object if it is there and may be read.
func (h *hub) read(ctx context.Context, s *site, key types.NamespacedName, o client.Object, resource string) (reading, error) {
	err := h.client.Get(ctx, key, o)
	switch {
	case err == nil:
		return present, nil
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		return absent, nil
	case apierrors.IsForbidden(err):
		where := ""
		if key.Namespace != "" {
			where = " in namespace " + key.Namespace
		}
		s.unread = append(s.unread, fmt.Sprintf("%s %s: you have no right to get it%s", resource, key.Name, where))
		return unreadable, nil
	}
	return unreadable, fmt.Errorf("get %s %s: %w", resource, key, err)
}
