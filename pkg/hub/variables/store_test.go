package variables

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"open-cluster-management.io/addon-framework/pkg/utils"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/target"
)

// shelf is a cache with one config at most.
type shelf struct {
	client.Reader
	config *unstructured.Unstructured
}

func (s *shelf) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	if s.config == nil {
		return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
	}
	s.config.DeepCopyInto(into.(*unstructured.Unstructured))
	return nil
}

// config with one variable as the API server has it.
func config(region string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"customizedVariables": []any{map[string]any{"name": "region", "value": region}},
		"nodePlacement":       map[string]any{"nodeSelector": map[string]any{"a": "b"}},
	}}}
	u.SetGroupVersionKind(Kind)
	u.SetNamespace("ocm")
	u.SetName("edge")
	return u
}

func stripped(t *testing.T, u *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	for range 2 {
		out, err := Strip(u)
		if err != nil {
			t.Fatal(err)
		}
		u = out.(*unstructured.Unstructured)
	}
	return u
}

// addOn that has a config in force.
func addOn(t *testing.T, of *unstructured.Unstructured) *addonv1beta1.ManagedClusterAddOn {
	t.Helper()
	hash, err := utils.GetSpecHash(of)
	if err != nil {
		t.Fatal(err)
	}
	a := &addonv1beta1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "dev", Name: v1alpha1.AddOnName}}
	a.Status.ConfigReferences = []addonv1beta1.ConfigReference{{
		ConfigGroupResource: addonv1beta1.ConfigGroupResource{Group: Kind.Group, Resource: "addondeploymentconfigs"},
		DesiredConfig: &addonv1beta1.ConfigSpecHash{
			ConfigReferent: addonv1beta1.ConfigReferent{Namespace: "ocm", Name: "edge"}, SpecHash: hash,
		},
	}}
	return a
}

func managed(annotation string) *clusterv1.ManagedCluster {
	return &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
		Name: "dev", Annotations: map[string]string{v1alpha1.AnnotationClusterValues: annotation},
	}}
}

func TestValuesOfACluster(t *testing.T) {
	eu, us := config("eu"), config("us")
	noHash := addOn(t, eu)
	noHash.Status.ConfigReferences[0].DesiredConfig.SpecHash = ""
	undecided := addOn(t, eu)
	undecided.Status.ConfigReferences[0].DesiredConfig = nil
	tests := map[string]struct {
		seen       []*unstructured.Unstructured // the last one is still there
		gone       bool
		addOn      *addonv1beta1.ManagedClusterAddOn
		annotation string
		want       map[string]any
		err        error
		says       string
	}{
		"no add-on":                  {want: map[string]any{}},
		"an add-on without a config": {addOn: &addonv1beta1.ManagedClusterAddOn{}, annotation: "a: 1", want: map[string]any{"a": 1.0}},
		"the variables":              {seen: []*unstructured.Unstructured{eu}, addOn: addOn(t, eu), want: map[string]any{"region": "eu"}},
		"the annotation over them": {seen: []*unstructured.Unstructured{eu}, addOn: addOn(t, eu), annotation: `{"region": "de", "more": {"a": 1}}`,
			want: map[string]any{"region": "de", "more": map[string]any{"a": 1.0}}},
		"an edit before the cluster's turn": {seen: []*unstructured.Unstructured{eu, us}, addOn: addOn(t, eu), want: map[string]any{"region": "eu"}},
		"an edit at the cluster's turn":     {seen: []*unstructured.Unstructured{eu, us}, addOn: addOn(t, us), want: map[string]any{"region": "us"}},
		"a config that was deleted":         {seen: []*unstructured.Unstructured{eu}, gone: true, addOn: addOn(t, eu), want: map[string]any{"region": "eu"}},
		"a config that nobody knows":        {seen: []*unstructured.Unstructured{us}, addOn: addOn(t, eu), err: ErrPending, says: "AddOnDeploymentConfig ocm/edge with hash"},
		"a config without a hash":           {seen: []*unstructured.Unstructured{eu}, addOn: noHash, err: ErrPending, says: "ManagedClusterAddOn dev/fleet"},
		"a config that is not decided":      {addOn: undecided, err: ErrPending, says: "ManagedClusterAddOn dev/fleet"},
		"an annotation that is no map":      {annotation: "- hunter2", err: target.ErrClusterValues, says: "ManagedCluster dev: annotation"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			cache := &shelf{}
			s := NewStore(cache)
			for _, c := range tt.seen {
				cache.config = stripped(t, c.DeepCopy())
				s.Remember(cache.config)
			}
			if tt.gone {
				cache.config = nil
			}
			for range 2 {
				got, err := s.Of(context.Background(), managed(tt.annotation), tt.addOn)
				if !errors.Is(err, tt.err) {
					t.Fatalf("error %v, want %v", err, tt.err)
				}
				if err != nil && (!strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "hunter2")) {
					t.Errorf("error %q does not say %q", err, tt.says)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("values (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestAnnotationThatIsCorrected(t *testing.T) {
	s := NewStore(&shelf{})
	if _, err := s.Of(context.Background(), managed("- a"), nil); err == nil {
		t.Fatal("no error")
	}
	if got, err := s.Of(context.Background(), managed("a: b"), nil); err != nil || got["a"] != "b" {
		t.Errorf("values %v, %v", got, err)
	}
	s.Forget("dev")
	if len(s.values) != 0 {
		t.Error("a cluster that is gone is kept in memory")
	}
}

func TestStripLeavesVariablesOnly(t *testing.T) {
	u := stripped(t, config("eu"))
	if _, ok := u.Object["spec"]; ok || u.GetName() != "edge" {
		t.Errorf("left %v", u.Object)
	}
}

func TestSameConfig(t *testing.T) {
	eu, us, none := addOn(t, config("eu")), addOn(t, config("us")), &addonv1beta1.ManagedClusterAddOn{}
	if !SameConfig(eu, eu.DeepCopy()) || SameConfig(eu, us) || SameConfig(eu, none) || !SameConfig(none, nil) {
		t.Error("configs are told apart wrongly")
	}
}
