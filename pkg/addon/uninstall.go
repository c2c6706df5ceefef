package addon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

// LeaseName is the leader election Lease of the manager, in its own namespace. The
// uninstall watches it to tell whether a manager is there to let an add-on go.
const LeaseName = "fleet-addon-manager"

// uninstallOptions of `fleet-addon uninstall`.
type uninstallOptions struct {
	namespace string
	lease     string
	deadline  time.Duration
	// grace after the deadline for what is then let go.
	grace time.Duration
	// silence of the manager's Lease after which no manager is there. Longer than
	// client-go's lease duration of 15 s, so that a successor has its turn.
	silence time.Duration
	poll    time.Duration
}

// NewUninstallCommand is `fleet-addon uninstall`, which the hub chart runs before it
// is uninstalled.
func NewUninstallCommand() *cobra.Command {
	opts := uninstallOptions{grace: 30 * time.Second, silence: 40 * time.Second, poll: 2 * time.Second}
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Let the add-on go from all clusters, and say what stays",
		Long: "Removes the ClusterManagementAddOn and waits until the agents of all clusters are released.\n" +
			"Bundles that are still deployed stay on their clusters; each is named, and gets a Warning event.",
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM, os.Interrupt)
			defer stop()
			if opts.namespace == "" {
				return errors.New("--namespace is not set, and neither is POD_NAMESPACE")
			}
			c, err := uninstallClient()
			if err != nil {
				return err
			}
			u := &uninstaller{client: c, out: cmd.OutOrStdout(), opts: opts, now: time.Now}
			return u.run(ctx)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&opts.namespace, "namespace", os.Getenv("POD_NAMESPACE"), "namespace that the manager runs in")
	flags.StringVar(&opts.lease, "lease", LeaseName, "leader election Lease of the manager")
	flags.DurationVar(&opts.deadline, "deadline", 3*time.Minute,
		"how long the clusters have to let the add-on go; what is left then is released without them")
	return cmd
}

func uninstallClient() (client.Client, error) {
	cfg, err := ctrl.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("find the hub: %w", err)
	}
	cfg.QPS, cfg.Burst = defaultQPS, defaultBurst
	scheme, err := uninstallScheme()
	if err != nil {
		return nil, err
	}
	c, err := client.New(cfg, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("build the client of the hub: %w", err)
	}
	return c, nil
}

func uninstallScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, addonv1beta1.Install, workv1.Install, fleet.AddToScheme,
		v1alpha1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("build the scheme: %w", err)
		}
	}
	return scheme, nil
}

// sleep waits for d or the end of the context.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
