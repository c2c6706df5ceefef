package tenancy

import (
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
)

func TestSelectorOf(t *testing.T) {
	inFleet := labels.Set{clusterv1beta2.ClusterSetLabel: "fleet"}
	tests := map[string]struct {
		selector clusterv1beta2.ManagedClusterSelector
		labels   labels.Set
		want     bool
		wantErr  bool
	}{
		"no type is the exclusive label": {labels: inFleet, want: true},
		"the exclusive label": {
			selector: clusterv1beta2.ManagedClusterSelector{SelectorType: clusterv1beta2.ExclusiveClusterSetLabel}, labels: inFleet, want: true,
		},
		"the exclusive label of another set": {labels: labels.Set{clusterv1beta2.ClusterSetLabel: "other"}},
		"the global set has every cluster":   {selector: byLabels(&metav1.LabelSelector{}), want: true},
		"a selector that matches": {
			selector: byLabels(&metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}), labels: labels.Set{"a": "b"}, want: true,
		},
		"a selector that does not match": {selector: byLabels(&metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}), labels: inFleet},
		"a selector that is not there":   {selector: byLabels(nil), labels: inFleet},
		"a type that nobody knows":       {selector: clusterv1beta2.ManagedClusterSelector{SelectorType: "Magic"}, wantErr: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "fleet"}}
			set.Spec.ClusterSelector = tt.selector
			selector, _, err := selectorOf(set)
			if errors.Is(err, ErrSelector) != tt.wantErr {
				t.Fatalf("err = %v, want ErrSelector: %v", err, tt.wantErr)
			}
			if err == nil && selector.Matches(tt.labels) != tt.want {
				t.Errorf("matches = %v, want %v", !tt.want, tt.want)
			}
		})
	}
}

func TestSame(t *testing.T) {
	reach := func(uid string, s clusterv1beta2.ManagedClusterSelector) Reach {
		set := clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{UID: types.UID(uid)}}
		set.Spec.ClusterSelector = s
		return Reach{Sets: []clusterv1beta2.ManagedClusterSet{set}}
	}
	base := reach("1", clusterv1beta2.ManagedClusterSelector{})
	for name, other := range map[string]struct {
		reach Reach
		want  bool
	}{
		"the same":           {reach("1", clusterv1beta2.ManagedClusterSelector{}), true},
		"another set":        {reach("2", clusterv1beta2.ManagedClusterSelector{}), false},
		"another selector":   {reach("1", byLabels(&metav1.LabelSelector{})), false},
		"nothing":            {Reach{}, false},
		"the set and others": {Reach{Sets: append(reach("1", clusterv1beta2.ManagedClusterSelector{}).Sets, base.Sets...)}, false},
	} {
		if got := base.Same(other.reach); got != other.want {
			t.Errorf("%s: same = %v", name, got)
		}
	}
}

func byLabels(s *metav1.LabelSelector) clusterv1beta2.ManagedClusterSelector {
	return clusterv1beta2.ManagedClusterSelector{SelectorType: clusterv1beta2.LabelSelector, LabelSelector: s}
}
