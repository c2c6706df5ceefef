package bundle

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

// recordOf reads the planner's memory out of a Rollout; nil has none.
func recordOf(ro *v1alpha1.Rollout) rollout.Record {
	if ro == nil {
		return rollout.Record{}
	}
	s := &ro.Status
	r := rollout.Record{
		Revision:          s.Revision,
		PauseSeenAt:       microOf(s.Record.PauseSeenAt),
		ResumedAt:         microOf(s.Record.ResumedAt),
		CompletedRevision: s.Record.CompletedRevision,
	}
	if s.RevisionSince != nil {
		r.RevisionSince = s.RevisionSince.Time
	}
	for _, g := range s.Record.Groups {
		r.Groups = append(r.Groups, rollout.RecordedGroup{
			Place:    rollout.Place{Lane: g.Lane, GroupKey: rollout.GroupKey{Name: g.Name, Index: int(g.Index)}},
			OpenedAt: microOf(g.OpenedAt),
		})
	}
	return r
}

// remember writes the planner's memory into a status.
func remember(s *v1alpha1.RolloutStatus, r rollout.Record) {
	s.Revision = r.Revision
	s.RevisionSince = secondsPtr(r.RevisionSince)
	s.Record = v1alpha1.RolloutRecord{
		PauseSeenAt:       microPtr(r.PauseSeenAt),
		ResumedAt:         microPtr(r.ResumedAt),
		CompletedRevision: r.CompletedRevision,
	}
	for _, g := range r.Groups {
		s.Record.Groups = append(s.Record.Groups, v1alpha1.RecordedGroup{
			Lane: g.Lane, Name: g.Name, Index: int32(g.Index), OpenedAt: microPtr(g.OpenedAt),
		})
	}
}

// Times are cut to what the API keeps, so that what was written compares equal to
// what is read back.

func microPtr(t time.Time) *metav1.MicroTime {
	if t.IsZero() {
		return nil
	}
	return &metav1.MicroTime{Time: t.UTC().Truncate(time.Microsecond)}
}

func microOf(t *metav1.MicroTime) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

func secondsPtr(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return &metav1.Time{Time: t.UTC().Truncate(time.Second)}
}
