package install

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

const (
	// agentLabel with agentName marks the Deployment of the add-on's agent.
	agentLabel = "app.kubernetes.io/name"
	agentName  = "fleet-addon-agent"
	// fleetsNamespace is where Fleet's own agent runs.
	fleetsNamespace = "cattle-fleet-system"
)

// agents are what on a cluster could work on a release too.
type agents struct {
	// running are the namespaces with a Deployment of our agent.
	running []string
	// deploying are the namespaces with a BundleDeployment of the same name.
	deploying []string
	// known is true if the cluster has our BundleDeployments at all.
	known bool
	// fleets is true if Fleet's own agent has its namespace.
	fleets bool
	// unread says what could not be looked for.
	unread []string
}

// Warn says what agents on the cluster would do with a release of a BundleDeployment,
// before it is made. What may not be read is named.
func (i *Installer) Warn(ctx context.Context, owner types.NamespacedName) {
	for _, sentence := range i.look(ctx, owner.Name).warnings(owner) {
		i.say("Warning: %s", sentence)
	}
}

func (i *Installer) look(ctx context.Context, name string) agents {
	var a agents
	deployments := list(appsv1.SchemeGroupVersion.WithKind("DeploymentList"))
	if a.read(i.client.List(ctx, deployments, client.MatchingLabels{agentLabel: agentName}), "deployments.apps") {
		for n := range deployments.Items {
			a.running = append(a.running, deployments.Items[n].Namespace)
		}
	}
	bundles := list(v1alpha1.GroupVersion.WithKind("BundleDeploymentList"))
	if a.read(i.client.List(ctx, bundles), "bundledeployments."+v1alpha1.GroupName) {
		a.known = true
		for n := range bundles.Items {
			if bundles.Items[n].Name == name {
				a.deploying = append(a.deploying, bundles.Items[n].Namespace)
			}
		}
	}
	namespace := &metav1.PartialObjectMetadata{}
	namespace.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	a.fleets = a.read(i.client.Get(ctx, types.NamespacedName{Name: fleetsNamespace}, namespace), "namespaces")
	return a
}

// read tells whether something is there; a kind or object that does not exist is nothing
// to speak of.
func (a *agents) read(err error, resource string) bool {
	switch {
	case err == nil:
		return true
	case meta.IsNoMatchError(err), apierrors.IsNotFound(err):
	case apierrors.IsForbidden(err):
		a.unread = append(a.unread, resource+" (you have no right to read them)")
	default:
		a.unread = append(a.unread, fmt.Sprintf("%s (%v)", resource, err))
	}
	return false
}

// warnings are sentences about what agents do with a release that is owned by a
// BundleDeployment of this name, in the namespace that the release is labelled with.
func (a agents) warnings(owner types.NamespacedName) []string {
	var out []string
	has := func(namespaces []string) bool {
		for _, n := range namespaces {
			if n == owner.Namespace {
				return true
			}
		}
		return false
	}
	switch {
	case has(a.deploying):
		out = append(out, fmt.Sprintf("the agent in namespace %s has a BundleDeployment %s: it brings back what that says", owner.Namespace, owner))
	case has(a.running):
		out = append(out, fmt.Sprintf("the agent in namespace %s removes this release again, because it is labelled as its own and there is no BundleDeployment %s; leave --agent-namespace out to have no agent touch it", owner.Namespace, owner))
	case owner.Namespace != Owner && a.known:
		out = append(out, fmt.Sprintf("an agent that runs in namespace %s removes this release again, because it is labelled as its own and there is no BundleDeployment %s; leave --agent-namespace out to have no agent touch it", owner.Namespace, owner))
	}
	for _, n := range a.deploying {
		if n != owner.Namespace {
			out = append(out, fmt.Sprintf("the agent in namespace %s deploys this bundle too, by BundleDeployment %s/%s: a release of its own is not taken from it", n, n, owner.Name))
		}
	}
	if a.fleets {
		out = append(out, fmt.Sprintf("Fleet's own agent seems to run here, in namespace %s: it leaves this release alone, but takes its objects over if it deploys the bundle too", fleetsNamespace))
	}
	for _, what := range a.unread {
		out = append(out, "agents that could remove the release were not looked for in all places: "+what)
	}
	return out
}
