package bundle

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

func TestRecordComesBack(t *testing.T) {
	at := time.Date(2026, 5, 4, 9, 30, 20, 123456000, time.UTC)
	want := rollout.Record{
		Revision: "r", RevisionSince: at.Truncate(time.Second), PauseSeenAt: at, ResumedAt: at.Add(time.Minute),
		CompletedRevision: "old", Source: "RolloutPolicy/prod",
		Groups: []rollout.RecordedGroup{
			{Place: rollout.Place{Lane: "l", GroupKey: rollout.GroupKey{Name: "dev", Index: 1}}, OpenedAt: at},
			{Place: rollout.Place{Lane: "l"}},
		},
		Removals: []rollout.RemovalBucket{{At: at, Works: 7, Removed: 2}, {At: at.Add(5 * time.Minute), Works: 5}},
		Removing: []string{"a", "b"},
		Cuts: []rollout.PartitionCut{
			{Lane: "default", Clusters: 230, Size: 57}, {Lane: "manual", Clusters: 9, Counts: []int{4, 0, 5}},
		},
	}
	ro := &v1alpha1.Rollout{}
	remember(&ro.Status, want)
	if diff := cmp.Diff(want, recordOf(ro)); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(rollout.Record{}, recordOf(nil)); diff != "" {
		t.Errorf("of no Rollout (-want +got):\n%s", diff)
	}
}

func TestConfirmed(t *testing.T) {
	ro := &v1alpha1.Rollout{}
	ro.Spec.Confirmations = []v1alpha1.Confirmation{
		{Reason: v1alpha1.ConfirmSource, Subject: "Default", Revision: "r"},
		{Reason: v1alpha1.ConfirmRemovals, Revision: "r", Clusters: []string{"a", "b"}},
	}
	want := []rollout.Confirmation{
		{Reason: rollout.RolloutSourceChanged, Subject: "Default", Revision: "r"},
		{Reason: rollout.RemovalGuard, Revision: "r", Clusters: []string{"a", "b"}},
	}
	if diff := cmp.Diff(want, confirmed(ro)); diff != "" {
		t.Errorf("confirmed (-want +got):\n%s", diff)
	}
	if got := confirmed(nil); got != nil {
		t.Errorf("of no Rollout: %v", got)
	}
}
