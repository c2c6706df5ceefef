package bundle

import (
	"errors"
	"fmt"
	"k8s.io/utils/clock"
	"testing"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"

	"open-cluster-management.io/fleet-addon/pkg/hub/variables"
)

// TestValuesOfClusters: what is wrong with the values of a cluster is its own matter, and
// only of bundles that use values.
func TestValuesOfClusters(t *testing.T) {
	pending := fmt.Errorf("config: %w", variables.ErrPending)
	tests := map[string]struct {
		template     string
		values       map[string]any
		err          error
		waits, fails bool
	}{
		"known":                     {template: "${ .ClusterValues.region }", values: map[string]any{"region": "eu"}},
		"not known yet":             {template: "${ .ClusterValues.region }", err: pending, waits: true},
		"wrong":                     {template: "${ .ClusterValues.region }", err: errors.New("wrong"), fails: true},
		"without the one asked for": {template: "${ .ClusterValues.region }", values: map[string]any{}, fails: true},
		"wrong and not used":        {template: "${ .ClusterName }", err: errors.New("wrong")},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := askable()
			f.bundle.Spec.Helm = &fleet.HelmOptions{Values: &fleet.GenericMap{Data: map[string]any{"a": tt.template}}}
			f.values = func(string) (map[string]any, error) { return tt.values, tt.err }
			m := &memory{}
			q := (&Reconciler{Clock: clock.RealClock{}}).ask(f, m)
			c := q.input.Clusters[0]
			if len(q.input.Blocks) > 0 || c.Name != "dev" {
				t.Fatalf("cluster %s, blocks %v", c.Name, q.input.Blocks)
			}
			if (c.RenderWaits != "") != tt.waits || (c.RenderError != "") != tt.fails || (c.DesiredID == "") != (tt.waits || tt.fails) {
				t.Errorf("id %q, waits %q, fails %q", c.DesiredID, c.RenderWaits, c.RenderError)
			}
			if tt.err == nil {
				return
			}
			f.values = func(string) (map[string]any, error) { return map[string]any{"region": "eu"}, nil }
			if c := (&Reconciler{Clock: clock.RealClock{}}).ask(f, m).input.Clusters[0]; c.DesiredID == "" {
				t.Errorf("corrected, and still waits %q, fails %q", c.RenderWaits, c.RenderError)
			}
		})
	}
}

func TestWhatWasPlannedIsWritten(t *testing.T) {
	f := askable()
	f.bundle.Spec.Helm = &fleet.HelmOptions{Values: &fleet.GenericMap{Data: map[string]any{"a": "${ .ClusterValues.region }"}}}
	region := "eu"
	f.values = func(string) (map[string]any, error) { return map[string]any{"region": region}, nil }
	q := (&Reconciler{Clock: clock.RealClock{}}).ask(f, &memory{})
	if d, err := q.desired.deployment(f, "dev", idOf(q, "dev")); err != nil || d.Options.Helm.Values.Data["a"] != "eu" {
		t.Errorf("options %v, %v", d.Options.Helm, err)
	}
	region = "us"
	if _, err := q.desired.deployment(f, "dev", idOf(q, "dev")); err == nil {
		t.Error("something else is written under the planned id")
	}
}

func TestConfigPending(t *testing.T) {
	config := addonv1beta1.AddOnConfig{
		ConfigGroupResource: addonv1beta1.ConfigGroupResource{Group: variables.Kind.Group, Resource: "addondeploymentconfigs"},
		ConfigReferent:      addonv1beta1.ConfigReferent{Name: "edge"},
	}
	none, byDefault, byPlacement := &addonv1beta1.ClusterManagementAddOn{}, &addonv1beta1.ClusterManagementAddOn{}, &addonv1beta1.ClusterManagementAddOn{}
	byDefault.Spec.DefaultConfigs = []addonv1beta1.AddOnConfig{config}
	byPlacement.Spec.InstallStrategy.Placements = []addonv1beta1.PlacementStrategy{{Configs: []addonv1beta1.AddOnConfig{config}}}
	fresh, there, done := &addonv1beta1.ManagedClusterAddOn{}, &addonv1beta1.ManagedClusterAddOn{}, &addonv1beta1.ManagedClusterAddOn{}
	there.Status.Namespace, done.Status.Namespace = "agent", "agent"
	done.Status.ConfigReferences = []addonv1beta1.ConfigReference{{}}
	tests := map[string]struct {
		manager *addonv1beta1.ClusterManagementAddOn
		addOn   *addonv1beta1.ManagedClusterAddOn
		want    bool
	}{
		"nobody manages the add-on":          {nil, fresh, false},
		"no config for anybody":              {none, nil, false},
		"a default and no add-on yet":        {byDefault, nil, true},
		"a default that is not there yet":    {byDefault, there, true},
		"a default that is there":            {byDefault, done, false},
		"a Placement's and a new add-on":     {byPlacement, fresh, true},
		"a Placement's, of other clusters":   {byPlacement, there, false},
		"a Placement's and no add-on at all": {byPlacement, nil, true},
	}
	for name, tt := range tests {
		if got := configPending(tt.manager, tt.addOn); got != tt.want {
			t.Errorf("%s: pending %v", name, got)
		}
	}
}
