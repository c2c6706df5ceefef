package install

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/fleet-addon/pkg/agent/health"
	"open-cluster-management.io/fleet-addon/pkg/agent/release"
	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

func TestWarnings(t *testing.T) {
	const removes = " removes this release again, because it is labelled as its own and there is no BundleDeployment "
	const without = "; leave --agent-namespace out to have no agent touch it"
	for name, tc := range map[string]struct {
		agents agents
		owner  string
		want   []string
	}{
		"a cluster without any agent":                            {owner: Owner},
		"an agent that is not asked for":                         {owner: Owner, agents: agents{running: []string{"agent"}, known: true}},
		"a label of an agent that never was here":                {owner: "agent"},
		"a label of an agent that runs":                          {owner: "agent", agents: agents{running: []string{"agent"}, known: true}, want: []string{"the agent in namespace agent" + removes + "agent/hello-1" + without}},
		"a label of an agent that is not seen, where its CRD is": {owner: "agent", agents: agents{known: true}, want: []string{"an agent that runs in namespace agent" + removes + "agent/hello-1" + without}},
		"a bundle that the agent has":                            {owner: "agent", agents: agents{running: []string{"agent"}, known: true, deploying: []string{"agent"}}, want: []string{"the agent in namespace agent has a BundleDeployment agent/hello-1: it brings back what that says"}},
		"a bundle that an agent has, and nobody's label":         {owner: Owner, agents: agents{running: []string{"agent"}, known: true, deploying: []string{"agent"}}, want: []string{"the agent in namespace agent deploys this bundle too, by BundleDeployment agent/hello-1: a release of its own is not taken from it"}},
		"Fleet's own agent":                                      {owner: Owner, agents: agents{fleets: true}, want: []string{"Fleet's own agent seems to run here, in namespace cattle-fleet-system: it leaves this release alone, but takes its objects over if it deploys the bundle too"}},
		"no right to look":                                       {owner: Owner, agents: agents{unread: []string{"namespaces (no)"}}, want: []string{"agents that could remove the release were not looked for in all places: namespaces (no)"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := tc.agents.warnings(types.NamespacedName{Namespace: tc.owner, Name: "hello-1"})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestRead(t *testing.T) {
	kind := schema.GroupResource{Group: "g", Resource: "things"}
	for name, tc := range map[string]struct {
		err    error
		there  bool
		unread string
	}{
		"it is there":        {there: true},
		"no such object":     {err: apierrors.NewNotFound(kind, "x")},
		"no such kind":       {err: &meta.NoKindMatchError{}},
		"no right":           {err: apierrors.NewForbidden(kind, "x", errors.New("no")), unread: "things (you have no right to read them)"},
		"the server is gone": {err: errors.New("connection refused"), unread: "things (connection refused)"},
	} {
		t.Run(name, func(t *testing.T) {
			var a agents
			if got := a.read(tc.err, "things"); got != tc.there || strings.Join(a.unread, ",") != tc.unread {
				t.Errorf("got %v and %q, want %v and %q", got, a.unread, tc.there, tc.unread)
			}
		})
	}
}

func TestMissing(t *testing.T) {
	for name, tc := range map[string]struct {
		summary health.Summary
		want    string
	}{
		"all is ready": {summary: health.Summary{Total: 2}},
		"one of two": {
			summary: health.Summary{Total: 2, NotReady: 1, Listed: []v1alpha1.ObjectState{{Kind: "Deployment.apps", Namespace: "a", Name: "web", State: "InProgress", Message: "0 of 1 pods"}}},
			want:    "Deployment.apps a/web: InProgress: 0 of 1 pods",
		},
		"a cluster-scoped one and more": {
			summary: health.Summary{Total: 9, NotReady: 3, Listed: []v1alpha1.ObjectState{{Kind: "Thing", Name: "x", State: "NotFound"}}},
			want:    "Thing x: NotFound (and 2 more of 9 objects)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := missing(tc.summary); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// TestObserve: every action of the agent's is told in words.
func TestObserve(t *testing.T) {
	for _, action := range []release.Action{
		release.ActionMove, release.ActionInstall, release.ActionUnlock, release.ActionUninstall, release.ActionRelabel, release.ActionUpgrade,
	} {
		var out bytes.Buffer
		i := &Installer{log: &out}
		i.observe(action, false)
		i.observe(action, true)
		if lines := strings.Split(out.String(), "\n"); lines[0] == "" || lines[1] != string(action)+" failed" {
			t.Errorf("%s: got %q", action, out.String())
		}
	}
}
