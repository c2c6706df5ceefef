package bundle

import (
	"context"
	"fmt"
	"k8s.io/utils/clock"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/hub/tenancy"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

// lists is what a cache has of kinds that are only listed.
type lists struct {
	client.Reader
	sets     []clusterv1beta2.ManagedClusterSet
	bindings []clusterv1beta2.ManagedClusterSetBinding
	bundles  []fleet.Bundle
	mappings []fleet.BundleNamespaceMapping
	works    []workv1.ManifestWork
}

func (l *lists) List(_ context.Context, into client.ObjectList, opts ...client.ListOption) error {
	o := &client.ListOptions{}
	o.ApplyOptions(opts)
	in := func(namespace string) bool { return o.Namespace == "" || o.Namespace == namespace }
	switch into := into.(type) {
	case *clusterv1beta2.ManagedClusterSetList:
		into.Items = l.sets
	case *clusterv1beta2.ManagedClusterSetBindingList:
		for _, b := range l.bindings {
			if in(b.Namespace) && (o.FieldSelector == nil || o.FieldSelector.Matches(boundTo(b.Spec.ClusterSet))) {
				into.Items = append(into.Items, b)
			}
		}
	case *fleet.BundleList:
		for i := range l.bundles {
			if in(l.bundles[i].Namespace) {
				into.Items = append(into.Items, l.bundles[i])
			}
		}
	case *fleet.BundleNamespaceMappingList:
		into.Items = l.mappings
	case *workv1.ManifestWorkList:
		for i := range l.works {
			if in(l.works[i].Namespace) {
				into.Items = append(into.Items, l.works[i])
			}
		}
	default:
		return fmt.Errorf("nobody lists %T", into)
	}
	return nil
}

// boundTo are the fields of a binding that are selected by.
type boundTo string

func (b boundTo) Has(field string) bool { return field == tenancy.IndexBoundSet }
func (b boundTo) Get(string) string     { return string(b) }

// bind lets a namespace use the clusters of a set.
func (l *lists) bind(namespace, set string) {
	l.bindings = append(l.bindings, clusterv1beta2.ManagedClusterSetBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: set},
		Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: set},
	})
}

func bundleNamed(namespace, name string, targets ...fleet.BundleTarget) fleet.Bundle {
	b := fleet.Bundle{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(namespace + name)}}
	b.Spec.Resources = []fleet.BundleResource{{Name: "a.yaml", Content: "a: 1"}}
	b.Spec.Targets = targets
	return b
}

func byLabel(key, value string) fleet.BundleTarget {
	return fleet.BundleTarget{ClusterSelector: &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}}
}

func setNamed(name string) clusterv1beta2.ManagedClusterSet {
	return clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// plans plans a bundle on clusters, as a reconcile does, and settles what counts for it.
func (r *Reconciler) plans(b *fleet.Bundle, clusters map[string]*clusterv1.ManagedCluster, m *memory, lenders ...string) {
	f := &facts{
		now: time.Unix(0, 0), bundle: b, clusters: clusters, reached: map[string]bool{}, rollout: &v1alpha1.Rollout{},
		reach:  tenancy.Reach{Namespace: b.Namespace, Sets: []clusterv1beta2.ManagedClusterSet{{}}},
		source: rollout.Source{Name: "Default", Lanes: []rollout.LaneSpec{{Name: rollout.DefaultLane, Strategy: rollout.Strategy{Type: rollout.All}}}},
	}
	for name := range clusters {
		f.reached[name] = true
	}
	for _, l := range lenders {
		f.lenders = append(f.lenders, tenancy.Lender{Reach: tenancy.Reach{Namespace: l}})
	}
	q := r.ask(f, m)
	rollout.Plan(q.input, f.now)
	r.interests.settle(f.key(), interestOf(f, q, m))
}

func TestOnlyWhatAChangeCanAffectIsEnqueued(t *testing.T) {
	templated := bundleNamed("team", "templated", byLabel("env", "dev"))
	templated.Spec.Helm = &fleet.HelmOptions{Values: &fleet.GenericMap{Data: map[string]any{"a": "${ .ClusterValues.a } ${ .ClusterAnnotations.note }"}}}
	claimed := bundleNamed("team", "claimed", byLabel("env", "dev"))
	claimed.Spec.Helm = &fleet.HelmOptions{Values: &fleet.GenericMap{Data: map[string]any{"a": "${ .ClusterClaims.id }"}}}
	l := &lists{
		sets: []clusterv1beta2.ManagedClusterSet{setNamed("blue"), setNamed("green")},
		bundles: []fleet.Bundle{
			bundleNamed("team", "dev", byLabel("env", "dev")), bundleNamed("team", "zone", byLabel("zone", "a")), templated, claimed,
			bundleNamed("other", "green", byLabel("env", "dev")), bundleNamed("lent", "borrower", byLabel("env", "stg")),
			bundleNamed("lent", "owner", byLabel("env", "stg")),
		},
		mappings: []fleet.BundleNamespaceMapping{{ObjectMeta: metav1.ObjectMeta{Namespace: "lent"}}},
	}
	l.bind("team", "blue")
	l.bind("other", "green")
	works := works(askable(), "dev")
	l.works = []workv1.ManifestWork{*works["dev"]}
	was := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
		Name: "dev", UID: "1", Labels: map[string]string{"env": "dev", clusterv1beta2.ClusterSetLabel: "blue"},
	}}
	tests := map[string]struct {
		change  func(*clusterv1.ManagedCluster)
		unknown string
		want    []string
	}{
		"a heartbeat":                {change: func(c *clusterv1.ManagedCluster) { c.ResourceVersion = "2" }},
		"a label that nothing uses":  {change: func(c *clusterv1.ManagedCluster) { c.Labels["rack"] = "7" }},
		"a label that targets use":   {change: func(c *clusterv1.ManagedCluster) { c.Labels["env"] = "prod" }, want: []string{"claimed", "dev", "templated"}},
		"a label that one uses":      {change: func(c *clusterv1.ManagedCluster) { c.Labels["zone"] = "a" }, want: []string{"zone"}},
		"an annotation":              {change: annotate("note", "x"), want: []string{"templated"}},
		"an annotation of nobody":    {change: annotate("other", "x")},
		"the cluster's values":       {change: annotate(v1alpha1.AnnotationClusterValues, "a: 1"), want: []string{"templated"}},
		"a claim":                    {change: claim("id", "1"), want: []string{"claimed"}},
		"a taint":                    {change: taint, want: []string{"app", "claimed", "dev", "templated"}},
		"a bundle being looked at":   {change: func(c *clusterv1.ManagedCluster) { c.Labels["rack"] = "7" }, unknown: "zone", want: []string{"zone"}},
		"another cluster":            {change: func(c *clusterv1.ManagedCluster) { c.UID = "2" }, want: []string{"app", "claimed", "dev", "templated", "zone"}},
		"another set, which is lent": {change: func(c *clusterv1.ManagedCluster) { c.Labels[clusterv1beta2.ClusterSetLabel] = "green" }, want: []string{"borrower", "claimed", "dev", "green", "templated", "zone"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := &Reconciler{Clock: clock.RealClock{}, Reader: l}
			for i := range l.bundles {
				var lenders []string
				if l.bundles[i].Name == "borrower" {
					lenders = []string{"other"}
				}
				r.plans(&l.bundles[i], map[string]*clusterv1.ManagedCluster{"dev": was}, &memory{}, lenders...)
			}
			if tt.unknown != "" {
				r.interests.begin(types.NamespacedName{Namespace: "team", Name: tt.unknown})
			}
			is := was.DeepCopy()
			tt.change(is)
			var got []string
			for _, req := range r.ofChange(context.Background(), was, is) {
				got = append(got, req.Name)
			}
			slices.Sort(got)
			if diff := cmp.Diff(tt.want, slices.Compact(got)); diff != "" {
				t.Errorf("enqueued (-want +got):\n%s", diff)
			}
		})
	}
}

func annotate(key, value string) func(*clusterv1.ManagedCluster) {
	return func(c *clusterv1.ManagedCluster) { c.Annotations = map[string]string{key: value} }
}

func claim(name, value string) func(*clusterv1.ManagedCluster) {
	return func(c *clusterv1.ManagedCluster) {
		c.Status.ClusterClaims = []clusterv1.ManagedClusterClaim{{Name: name, Value: value}}
	}
}

func taint(c *clusterv1.ManagedCluster) {
	c.Spec.Taints = []clusterv1.Taint{{Key: clusterv1.ManagedClusterTaintUnreachable}}
}

// BenchmarkLabelChange1000x1000 is a change of one label of one of 1,000 clusters which
// 1,000 bundles in 50 namespaces reach. A tenth of the bundles look at that label. What
// is enqueued is planned again; "all" is what it takes to plan all of them.
func BenchmarkLabelChange1000x1000(b *testing.B) {
	l := &lists{sets: []clusterv1beta2.ManagedClusterSet{setNamed("blue")}}
	clusters := map[string]*clusterv1.ManagedCluster{}
	for i := range 1000 {
		name := fmt.Sprintf("cluster-%04d", i)
		clusters[name] = &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: map[string]string{
			"env": []string{"dev", "stg", "prod"}[i%3], "zone": "a", clusterv1beta2.ClusterSetLabel: "blue",
		}}}
	}
	r := &Reconciler{Clock: clock.RealClock{}, Reader: l, RemovalGrace: time.Minute}
	memories := map[types.NamespacedName]*memory{}
	bundles := map[types.NamespacedName]*fleet.Bundle{}
	for i := range 1000 {
		at := byLabel("env", []string{"dev", "stg", "prod"}[i%3])
		if i%10 == 0 {
			at = byLabel("zone", "a")
		}
		if i < 50 {
			l.bind(fmt.Sprintf("team-%d", i), "blue")
		}
		l.bundles = append(l.bundles, bundleNamed(fmt.Sprintf("team-%d", i%50), fmt.Sprintf("app-%d", i), at))
	}
	for i := range l.bundles {
		key := client.ObjectKeyFromObject(&l.bundles[i])
		bundles[key], memories[key] = &l.bundles[i], &memory{}
		r.plans(bundles[key], clusters, memories[key])
	}
	old := clusters["cluster-0500"]
	changed := old.DeepCopy()
	changed.Labels["zone"] = "b"
	clusters["cluster-0500"] = changed
	b.Run("affected", func(b *testing.B) {
		for b.Loop() {
			requests := r.ofChange(context.Background(), old, changed)
			for _, req := range requests {
				r.plans(bundles[req.NamespacedName], clusters, memories[req.NamespacedName])
			}
			b.ReportMetric(float64(len(requests)), "bundles/op")
		}
	})
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			for key, bundle := range bundles {
				r.plans(bundle, clusters, memories[key])
			}
			b.ReportMetric(float64(len(bundles)), "bundles/op")
		}
	})
}
