package release

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/kube"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"open-cluster-management.io/fleet-addon/pkg/agent/fault"
	"open-cluster-management.io/fleet-addon/pkg/manifest"
)

const (
	// maxSteps bounds the state machine; the longest way is move, uninstall,
	// install, look. More than that means that somebody works against it.
	maxSteps = 6
	// hookTimeout bounds each Helm hook, the only thing that Helm is let to wait
	// for.
	hookTimeout = 5 * time.Minute
	// fieldManager owns what Helm writes.
	fieldManager = "fleet-agent"
)

// Client works on Helm releases. All methods may be used at the same time for
// different keys.
type Client struct {
	open    func(namespace string) (*action.Configuration, error)
	mapper  meta.RESTMapper
	dynamic dynamic.Interface
}

// Observer is told of each action that was taken, and whether it failed.
type Observer func(action Action, failed bool)

// New returns a client that works with the rights of config.
func New(config *rest.Config, mapper meta.RESTMapper) (*Client, error) {
	kube.ManagedFieldsManager = fieldManager
	disco, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("discovery client: %w", err)
	}
	dyn, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("dynamic client: %w", err)
	}
	open := func(namespace string) (*action.Configuration, error) {
		cfg := &action.Configuration{}
		g := getter{config: config, discovery: disco, mapper: mapper, namespace: namespace}
		// Helm's own log lines may quote what it applies.
		if err := cfg.Init(g, namespace, "secret", func(string, ...any) {}); err != nil {
			return nil, fmt.Errorf("open Helm in namespace %s: %w", namespace, err)
		}
		if kc, ok := cfg.KubeClient.(*kube.Client); ok {
			kc.Namespace = namespace
			cfg.KubeClient = &recorder{Client: kc}
		}
		return cfg, nil
	}
	return &Client{open: open, mapper: mapper, dynamic: dyn}, nil
}

// Deployed is what is on the cluster of one release.
type Deployed struct {
	Key Key
	// Revision that Helm last finished; 0 if there is none.
	Revision int
	// DeploymentID that this revision was made for; empty if it was not made by us.
	DeploymentID string
	// Keep is what the release says of its objects.
	Keep bool
	// Objects of the revision, hooks excepted.
	Objects []manifest.Object
	// Top is the newest revision, finished or not, and TopStatus its Helm status.
	Top       int
	TopStatus string
}

// Satisfies tells whether nothing is left to do for what is wanted.
func (d Deployed) Satisfies(w Want) bool {
	return d.Applied(w) && d.Keep == w.Keep && len(w.Stale) == 0
}

// Applied tells whether the wanted deployment is the one that is there.
func (d Deployed) Applied(w Want) bool {
	return d.Key == w.Key && d.Revision > 0 && d.Revision == d.Top && d.DeploymentID == w.DeploymentID
}

// session is one pass of the state machine over one release.
type session struct {
	*Client
	cfg    *action.Configuration
	want   Want
	source *Source
	state  State
	// rendered are the objects that the last install or upgrade meant to write.
	rendered []manifest.Object
}

// steps are the actions; none and refuse end a pass and are not among them.
var steps = map[Action]struct {
	run         func(context.Context, *session) error
	needsSource bool
}{
	// The new source has to be there before anything that is old goes.
	ActionMove:      {move, true},
	ActionInstall:   {install, true},
	ActionUpgrade:   {upgrade, true},
	ActionUnlock:    {unlock, true},
	ActionUninstall: {uninstall, true},
	ActionRelabel:   {relabel, false},
}

// Look returns what is deployed for a BundleDeployment under the wanted key. A
// release that belongs to somebody else is nothing.
func (c *Client) Look(_ context.Context, want Want) (Deployed, error) {
	s, err := c.session(want)
	if err != nil {
		return Deployed{}, err
	}
	if err := s.look(); err != nil {
		return Deployed{}, err
	}
	return s.deployed()
}

// Ensure brings a release to what is wanted: it classifies, takes one action and
// looks again until nothing is left to do. load is called when files are needed
// for the first time. What is deployed is returned with an error too, as far as
// it could be read.
func (c *Client) Ensure(ctx context.Context, want Want, load func(context.Context) (*Source, error), observe Observer) (Deployed, error) {
	s, err := c.session(want)
	if err != nil {
		return Deployed{}, err
	}
	for range maxSteps {
		if err := s.look(); err != nil {
			return Deployed{}, err
		}
		next := Classify(s.state, s.want)
		if next == ActionNone {
			s.prune(ctx)
			return s.deployed()
		}
		if next == ActionRefuse && s.adopt(ctx) {
			next = Classify(s.state, s.want)
		}
		if next == ActionRefuse {
			return s.failed(refuse(s.state, s.want))
		}
		step := steps[next]
		if step.needsSource && s.source == nil {
			if s.source, err = load(ctx); err != nil {
				return s.failed(err)
			}
		}
		logr.FromContextOrDiscard(ctx).Info("release", "action", next, "release", s.want.Key.String(), "deployment", s.want.DeploymentID)
		// A Helm operation that is under way is finished on a graceful stop: cut off,
		// it would go on in the background without a record.
		err := s.passing(ctx, step.run(context.WithoutCancel(ctx), s))
		observe(next, err != nil)
		if err != nil {
			return s.failed(fault.Wrap(fault.Classify(err, s.scrub), "%s of release %s", next, s.want.Key))
		}
	}
	return s.failed(fmt.Errorf("release %s did not come to rest in %d steps: something else works on it", s.want.Key, maxSteps))
}

func (c *Client) session(want Want) (*session, error) {
	cfg, err := c.open(want.Key.Namespace)
	if err != nil {
		return nil, err
	}
	return &session{Client: c, cfg: cfg, want: want}, nil
}

// failed looks once more, since a failed action changes what is there.
func (s *session) failed(err error) (Deployed, error) {
	if s.look() != nil {
		return Deployed{}, err
	}
	d, lookErr := s.deployed()
	if lookErr != nil {
		return Deployed{}, err
	}
	return d, err
}

func (s *session) scrub(text string) string {
	if s.source == nil {
		return text
	}
	return s.source.scrub(text)
}

func (s *session) deployed() (Deployed, error) {
	d := Deployed{Key: s.want.Key}
	top, ok := s.state.top()
	if !ok || !s.want.Owner.owns(top.Labels) {
		return d, nil
	}
	d.Top, d.TopStatus, d.Keep = top.Number, top.Status.String(), top.Labels[LabelKeep] == "true"
	rev, ok := s.state.deployed()
	if !ok {
		return d, nil
	}
	d.Revision = rev.Number
	if hashID(rev.Description) == rev.Labels[LabelDeployment] {
		d.DeploymentID = rev.Description
	}
	objects, err := manifest.Objects(rev.Manifest)
	if err != nil {
		return d, fmt.Errorf("manifest of release %s: %w", s.want.Key, err)
	}
	if r, ok := s.cfg.KubeClient.(*recorder); ok {
		r.complete(objects, s.want.Key.Namespace)
	}
	d.Objects = objects
	return d, nil
}

func refuse(s State, w Want) error {
	top, _ := s.top()
	if owner := top.Labels[LabelOwner]; owner != "" {
		return fmt.Errorf("release %s belongs to BundleDeployment %s/%s: set another helm.releaseName, or wait until that is removed",
			w.Key, top.Labels[LabelAgent], owner)
	}
	return fault.Terminalf("release %s exists and was not made by this add-on: set another helm.releaseName, or helm.takeOwnership", w.Key)
}
