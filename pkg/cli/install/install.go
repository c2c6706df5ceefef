package install

import (
	"context"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"open-cluster-management.io/fleet-addon/pkg/agent/release"
	"open-cluster-management.io/fleet-addon/pkg/cli/deployment"
)

// Owner is in place of an agent's namespace on the releases that no agent shall remove.
// Once the add-on brings the bundle to the cluster, its agent takes such a release over,
// as there is no BundleDeployment in a namespace of this name.
const Owner = "fleetctl"

// Helm does many small calls; the API server's own fairness guards it better than
// client-go's default of 5 a second.
const (
	clientQPS   = 100
	clientBurst = 200
)

// Installer installs on one cluster.
type Installer struct {
	config *rest.Config
	mapper meta.RESTMapper
	client client.Client
	// log is told what goes on, a line each.
	log io.Writer
}

// New connects to a cluster with the rights of config.
func New(config *rest.Config, log io.Writer) (*Installer, error) {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = clientQPS, clientBurst
	http, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("reach the cluster: %w", err)
	}
	mapper, err := apiutil.NewDynamicRESTMapper(config, http)
	if err != nil {
		return nil, fmt.Errorf("reach the cluster: %w", err)
	}
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	c, err := client.New(config, client.Options{Scheme: scheme, Mapper: mapper, HTTPClient: http})
	if err != nil {
		return nil, fmt.Errorf("reach the cluster: %w", err)
	}
	return &Installer{config: config, mapper: mapper, client: c, log: log}, nil
}

// Install brings the release of a deployment to what it says, for the agent in the
// namespace of its BundleDeployment.
func (i *Installer) Install(ctx context.Context, d *deployment.Deployment) (release.Deployed, error) {
	want, err := release.WantOf(d.Object)
	if err != nil {
		return release.Deployed{}, err
	}
	want.Stale = i.stale(ctx, want)
	releases, err := release.New(i.config, i.mapper)
	if err != nil {
		return release.Deployed{}, err
	}
	load := func(context.Context) (*release.Source, error) { return release.NewSource(want, d.Files, d.Values) }
	acted := false
	done, err := releases.Ensure(ctx, want, load, func(action release.Action, failed bool) {
		acted = true
		i.observe(action, failed)
	})
	if err == nil && !acted {
		i.say("deployed as wanted already")
	}
	return done, err
}

// told are the actions in words.
var told = map[release.Action]string{
	release.ActionMove:      "removed the release under its old name",
	release.ActionInstall:   "installed",
	release.ActionUpgrade:   "upgraded",
	release.ActionUnlock:    "a revision that was left pending is marked failed, and its history stays",
	release.ActionUninstall: "ended an uninstall that was left half done",
	release.ActionRelabel:   "labels written",
}

func (i *Installer) observe(action release.Action, failed bool) {
	if failed {
		i.say("%s failed", action)
		return
	}
	i.say("%s", told[action])
}

// stale are the releases of the same owner in other places: the release name or the
// namespace has changed since.
func (i *Installer) stale(ctx context.Context, want release.Want) []release.Key {
	list := secrets()
	selector := client.MatchingLabelsSelector{Selector: release.Selector(want.Owner.Namespace)}
	if err := i.client.List(ctx, list, selector, client.HasLabels{release.LabelOwner}); err != nil {
		i.say("Warning: a release of this bundle under another name is not looked for: %v", err)
		return nil
	}
	seen := map[release.Key]bool{want.Key: true}
	var out []release.Key
	for n := range list.Items {
		s := &list.Items[n]
		record, ok := release.RecordOf(s.Namespace, s.Labels)
		if ok && s.Labels[release.LabelOwner] == want.Owner.Name && !seen[record.Key] {
			seen[record.Key] = true
			out = append(out, record.Key)
		}
	}
	return out
}

func (i *Installer) say(format string, args ...any) { fmt.Fprintf(i.log, format+"\n", args...) }
