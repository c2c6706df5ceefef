package bundle

import (
	"errors"
	"k8s.io/utils/clock"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	workv1 "open-cluster-management.io/api/work/v1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/hub/cluster"
	"open-cluster-management.io/fleet-addon/pkg/hub/tenancy"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
	"open-cluster-management.io/fleet-addon/pkg/target"
	"open-cluster-management.io/fleet-addon/pkg/work"
)

func TestAskBlocks(t *testing.T) {
	tests := map[string]struct {
		change func(*facts)
		want   []rollout.Reason
		says   string
	}{
		"nothing": {change: func(*facts) {}},
		"an option that is refused": {
			change: func(f *facts) { f.bundle.Spec.DependsOn = []fleet.BundleRef{{Name: "db"}} },
			want:   []rollout.Reason{rollout.BundleInvalid}, says: "spec.dependsOn",
		},
		"a namespace that is being deleted": {
			change: func(f *facts) { f.leaving = true },
			want:   []rollout.Reason{rollout.BundleInvalid}, says: "namespace team is being deleted",
		},
		"a selector that cannot be parsed": {
			change: func(f *facts) {
				f.bundle.Spec.Targets = []fleet.BundleTarget{{ClusterSelector: &metav1.LabelSelector{
					MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}},
				}}}
			},
			want: []rollout.Reason{rollout.BundleInvalid}, says: "spec.targets[0].clusterSelector",
		},
		"two files of one name": {
			change: func(f *facts) {
				f.bundle.Spec.Resources = append(f.bundle.Spec.Resources, f.bundle.Spec.Resources...)
			},
			want: []rollout.Reason{rollout.BundleInvalid}, says: "spec.resources",
		},
		"content that fits into no object": {
			change: func(f *facts) { f.bundle.Spec.Resources[0].Content = noise(2 << 20) },
			want:   []rollout.Reason{rollout.TooLarge}, says: "split the bundle",
		},
		"values that fit into no work": {
			change: func(f *facts) {
				f.bundle.Spec.Helm = &fleet.HelmOptions{Values: &fleet.GenericMap{Data: map[string]any{"a": strings.Repeat("x", 460<<10)}}}
			},
			want: []rollout.Reason{rollout.TooLarge}, says: "450 KiB",
		},
		"no binding": {
			change: func(f *facts) { f.reach.Sets = nil },
			want:   []rollout.Reason{rollout.BindingMissing}, says: "namespace team has no ManagedClusterSetBinding",
		},
		"a set whose selector is wrong": {
			change: func(f *facts) { f.unreadable, f.works = "ManagedClusterSet blue: unknown type", works(f, "dev") },
			want:   []rollout.Reason{rollout.BindingMissing}, says: "ManagedClusterSet blue",
		},
		"no binding any more, with works to be removed": {
			change: func(f *facts) { f.reach.Sets, f.works = nil, works(f, "dev") },
		},
		"a work that somebody has damaged": {
			change: func(f *facts) {
				f.works = works(f, "dev")
				delete(f.works["dev"].Annotations, "fleet.open-cluster-management.io/state")
			},
			want: []rollout.Reason{rollout.WorkRefused}, says: "ManifestWork dev/",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := askable()
			tt.change(f)
			q := (&Reconciler{Clock: clock.RealClock{}}).ask(f, &memory{})
			var got []rollout.Reason
			var text string
			for _, b := range q.input.Blocks {
				got, text = append(got, b.Reason), text+b.Sentence
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("blocks (-want +got):\n%s%s", diff, text)
			}
			if !strings.Contains(text, tt.says) {
				t.Errorf("%q does not say %q", text, tt.says)
			}
		})
	}
}

func TestAskSelects(t *testing.T) {
	f := askable()
	f.works = works(f, "gone")
	q := (&Reconciler{Clock: clock.RealClock{}}).ask(f, &memory{})
	got := map[string]bool{}
	for _, c := range q.input.Clusters {
		got[c.Name] = c.Selected
		if c.Selected != (c.DesiredID != "" && c.DesiredShape != "") {
			t.Errorf("%s: selected %v, id %q, shape %q", c.Name, c.Selected, c.DesiredID, c.DesiredShape)
		}
	}
	if diff := cmp.Diff(map[string]bool{"dev": true, "stg": false, "gone": false}, got); diff != "" {
		t.Errorf("selected (-want +got):\n%s", diff)
	}
}

func TestRenderingIsKeptUntilSomethingChanges(t *testing.T) {
	tests := map[string]struct {
		change     func(*facts)
		wantReused bool
	}{
		"nothing":                  {func(*facts) {}, true},
		"a status of the cluster":  {func(f *facts) { f.clusters["dev"].Status.Version.Kubernetes = "v1.36" }, true},
		"a label of the cluster":   {func(f *facts) { f.clusters["dev"].Labels["zone"] = "a" }, true},
		"the bundle's generation":  {func(f *facts) { f.bundle.Generation++ }, false},
		"a bundle of the old name": {func(f *facts) { f.bundle.UID = "another" }, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f, m := askable(), &memory{}
			(&Reconciler{Clock: clock.RealClock{}}).ask(f, m)
			marked := m.rendered["dev"]
			marked.shape = "marked"
			m.rendered["dev"] = marked
			tt.change(f)
			(&Reconciler{Clock: clock.RealClock{}}).ask(f, m)
			if reused := m.rendered["dev"].shape == "marked"; reused != tt.wantReused {
				t.Errorf("reused = %v, want %v", reused, tt.wantReused)
			}
		})
	}
}

// TestTargetsOfOneName: a cluster that goes from one target to another by a change of
// a ClusterGroup gets the other one's options, whatever the targets are called.
func TestTargetsOfOneName(t *testing.T) {
	f, m := askable(), &memory{}
	group := func(name, environment string) target.Group {
		return target.Group{ClusterGroup: fleet.ClusterGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name}, Spec: fleet.ClusterGroupSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"environment": environment}},
		}}}
	}
	f.bundle.Spec.Targets = []fleet.BundleTarget{
		{Name: "x", ClusterGroup: "one", BundleDeploymentOptions: fleet.BundleDeploymentOptions{TargetNamespace: "one"}},
		{Name: "x", ClusterGroup: "two", BundleDeploymentOptions: fleet.BundleDeploymentOptions{TargetNamespace: "two"}},
	}
	f.groups = []target.Group{group("one", "dev"), group("two", "stg")}
	(&Reconciler{Clock: clock.RealClock{}}).ask(f, m)
	before := m.rendered["dev"].id
	f.groups = []target.Group{group("one", "stg"), group("two", "dev")}
	(&Reconciler{Clock: clock.RealClock{}}).ask(f, m)
	if m.rendered["dev"].id == before {
		t.Error("the options changed and the id did not")
	}
}

// TestAgentNamespace: a work stays where it is until the add-on names another place.
func TestAgentNamespace(t *testing.T) {
	named := func(namespace string) *addonv1beta1.ManagedClusterAddOn {
		return &addonv1beta1.ManagedClusterAddOn{Status: addonv1beta1.ManagedClusterAddOnStatus{Namespace: namespace}}
	}
	tests := map[string]struct {
		addOn *addonv1beta1.ManagedClusterAddOn
		was   string
		want  string
	}{
		"nothing is known":        {want: cluster.DefaultAgentNamespace},
		"the add-on says so":      {addOn: named("agents"), was: "before", want: "agents"},
		"the add-on is gone":      {was: "agents", want: "agents"},
		"the add-on is new":       {addOn: named(""), was: "agents", want: "agents"},
		"the add-on and work are": {addOn: named(""), want: cluster.DefaultAgentNamespace},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := askable()
			f.works = works(f, "dev")
			f.addOns = map[string]*addonv1beta1.ManagedClusterAddOn{"dev": tt.addOn}
			w := f.works["dev"]
			if tt.was != "" {
				w.Status.ResourceStatus.Manifests = []workv1.ManifestCondition{{ResourceMeta: workv1.ManifestResourceMeta{
					Group: v1alpha1.GroupName, Resource: "bundledeployments", Namespace: tt.was, Name: w.Name,
				}}}
			}
			if got := f.agentNamespace("dev"); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestObjectNotFound(t *testing.T) {
	kind := schema.GroupResource{Group: "fleet.cattle.io", Resource: "bundles"}
	tests := map[string]struct {
		err  error
		want bool
	}{
		"the object":                {apierrors.NewNotFound(kind, "app"), true},
		"another object":            {apierrors.NewNotFound(kind, "other"), false},
		"the kind is not served":    {apierrors.NewGenericServerResponse(404, "GET", kind, "app", "404 page not found", 0, true), false},
		"no access":                 {apierrors.NewForbidden(kind, "app", errors.New("no")), false},
		"the API server is not up":  {errors.New("connection refused"), false},
		"the namespace is not here": {apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "team"), false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := objectNotFound(tt.err, "app"); got != tt.want {
				t.Errorf("objectNotFound(%v) = %v, want %v", tt.err, got, tt.want)
			}
		})
	}
}

// askable is a bundle for dev in a namespace that reaches dev and stg.
func askable() *facts {
	f := factsOf()
	f.bundle.UID = "bundle"
	f.bundle.Spec.Resources = []fleet.BundleResource{{Name: "a.yaml", Content: "a: 1"}}
	f.bundle.Spec.Targets = []fleet.BundleTarget{{ClusterSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"environment": "dev"}}}}
	f.reach = tenancy.Reach{Namespace: "team", Sets: []clusterv1beta2.ManagedClusterSet{{}}}
	f.clusters = map[string]*clusterv1.ManagedCluster{}
	f.reached = map[string]bool{"dev": true, "stg": true}
	for name := range f.reached {
		f.clusters[name] = &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
			Name: name, Labels: map[string]string{"environment": name},
		}}
	}
	return f
}

// works of the bundle on one cluster.
func works(f *facts, cluster string) map[string]*workv1.ManifestWork {
	w, err := work.Build(work.Deployment{
		Bundle: f.key(), Cluster: cluster, AgentNamespace: "agent", ID: "s-1:2", Revision: "r", Admission: "a", Place: place("l", "dev", 0),
	})
	if err != nil {
		panic(err)
	}
	return map[string]*workv1.ManifestWork{cluster: w}
}

// noise is text that does not compress well.
func noise(size int) string {
	random := rand.New(rand.NewPCG(1, 2))
	out := make([]byte, size)
	for i := range out {
		out[i] = byte('!' + random.IntN(90))
	}
	return string(out)
}
