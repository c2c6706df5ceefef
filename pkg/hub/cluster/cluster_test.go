package cluster

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
)

var noon = metav1.Time{Time: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)}

func TestCompare(t *testing.T) {
	tests := map[string]struct {
		change func(*clusterv1.ManagedCluster)
		want   Change
	}{
		"nothing": {func(*clusterv1.ManagedCluster) {}, Change{}},
		"capacity": {func(c *clusterv1.ManagedCluster) {
			c.Status.Capacity = clusterv1.ResourceList{"cpu": {}}
		}, Change{}},
		"a claim": {func(c *clusterv1.ManagedCluster) {
			c.Status.ClusterClaims = []clusterv1.ManagedClusterClaim{{Name: "id", Value: "1"}}
		}, Change{Claims: true}},
		"a message of Available": {func(c *clusterv1.ManagedCluster) { c.Status.Conditions[0].Message = "still" }, Change{}},
		"a label":                {func(c *clusterv1.ManagedCluster) { c.Labels = map[string]string{"a": "b"} }, Change{Labels: true}},
		"an annotation":          {func(c *clusterv1.ManagedCluster) { c.Annotations = map[string]string{"a": "b"} }, Change{Annotations: true}},
		"a taint": {func(c *clusterv1.ManagedCluster) {
			c.Spec.Taints = []clusterv1.Taint{{Key: clusterv1.ManagedClusterTaintUnreachable}}
		}, Change{Health: true}},
		"a loss of Available": {func(c *clusterv1.ManagedCluster) { c.Status.Conditions[0].Status = metav1.ConditionUnknown }, Change{Health: true}},
		"a short loss of Available that was missed": {func(c *clusterv1.ManagedCluster) {
			c.Status.Conditions[0].LastTransitionTime = metav1.Time{Time: noon.Add(time.Minute)}
		}, Change{Health: true}},
		"a deletion":              {func(c *clusterv1.ManagedCluster) { c.DeletionTimestamp = &noon }, Change{Presence: true}},
		"another one of its name": {func(c *clusterv1.ManagedCluster) { c.UID = "another" }, Change{Presence: true}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a := available()
			b := a.DeepCopy()
			tt.change(b)
			if got := Compare(a, b); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestReadyToken(t *testing.T) {
	later := metav1.Time{Time: noon.Add(time.Minute)}
	addOn := func(conditions ...metav1.Condition) *addonv1beta1.ManagedClusterAddOn {
		return &addonv1beta1.ManagedClusterAddOn{Status: addonv1beta1.ManagedClusterAddOnStatus{Conditions: conditions}}
	}
	condition := func(kind string, status metav1.ConditionStatus, at metav1.Time) metav1.Condition {
		return metav1.Condition{Type: kind, Status: status, LastTransitionTime: at}
	}
	ready := ReadyToken(addOn(condition("Available", "True", noon), condition("ManifestApplied", "True", noon)))
	if errs := validation.IsValidLabelValue(ready); len(errs) > 0 || ready == "" {
		t.Errorf("token %q: %v", ready, errs)
	}
	for name, a := range map[string]*addonv1beta1.ManagedClusterAddOn{
		"no add-on":           nil,
		"no conditions":       addOn(),
		"not available":       addOn(condition("Available", "False", noon)),
		"an agent that is up": addOn(condition("Available", "Unknown", noon), condition("ManifestApplied", "False", noon)),
	} {
		if got := ReadyToken(a); got != "" {
			t.Errorf("%s: token %q", name, got)
		}
	}
	for name, a := range map[string]*addonv1beta1.ManagedClusterAddOn{
		"available again": addOn(condition("Available", "True", later), condition("ManifestApplied", "True", noon)),
		"applied again":   addOn(condition("Available", "True", noon), condition("ManifestApplied", "True", later)),
		"available only":  addOn(condition("Available", "True", noon)),
	} {
		if got := ReadyToken(a); got == ready || got == "" {
			t.Errorf("%s: token %q", name, got)
		}
	}
}

func TestUnreachable(t *testing.T) {
	for key, want := range map[string]bool{
		clusterv1.ManagedClusterTaintUnreachable: true, clusterv1.ManagedClusterTaintUnavailable: true, "gpu": false,
	} {
		c := available()
		c.Spec.Taints = []clusterv1.Taint{{Key: "other"}, {Key: key}}
		if got := Unreachable(c); got != want {
			t.Errorf("taint %s: unreachable = %v", key, got)
		}
	}
	if Unreachable(nil) || Exists(nil) {
		t.Error("a cluster that is gone is neither unreachable nor there")
	}
}

func available() *clusterv1.ManagedCluster {
	return &clusterv1.ManagedCluster{Status: clusterv1.ManagedClusterStatus{Conditions: []metav1.Condition{
		{Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue, LastTransitionTime: noon},
	}}}
}
