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
		Source:            s.Record.Source,
		Removing:          s.Record.Removing,
	}
	if s.RevisionSince != nil {
		r.RevisionSince = s.RevisionSince.Time
	}
	for _, g := range s.Record.Groups {
		r.Groups = append(r.Groups, rollout.RecordedGroup{
			Place:    recordedPlace(&g),
			OpenedAt: microOf(g.OpenedAt),
		})
	}
	for _, b := range s.Record.Removals {
		r.Removals = append(r.Removals, rollout.RemovalBucket{At: b.At.UTC(), Works: int(b.Works), Removed: int(b.Removed)})
	}
	for _, c := range s.Record.Cuts {
		r.Cuts = append(r.Cuts, rollout.PartitionCut{Lane: c.Lane, Clusters: int(c.Clusters), Size: int(c.Size), Counts: numbers[int](c.Counts)})
	}
	return r
}

// confirmed are what people have confirmed in a Rollout; nil has none.
func confirmed(ro *v1alpha1.Rollout) []rollout.Confirmation {
	if ro == nil {
		return nil
	}
	var out []rollout.Confirmation
	for _, c := range ro.Spec.Confirmations {
		out = append(out, rollout.Confirmation{
			Reason: rollout.Reason(c.Reason), Subject: c.Subject, Revision: c.Revision, Clusters: c.Clusters,
		})
	}
	return out
}

// remember writes the planner's memory into a status.
func remember(s *v1alpha1.RolloutStatus, r rollout.Record) {
	s.Revision = r.Revision
	s.RevisionSince = secondsPtr(r.RevisionSince)
	s.Record = v1alpha1.RolloutRecord{
		PauseSeenAt:       microPtr(r.PauseSeenAt),
		ResumedAt:         microPtr(r.ResumedAt),
		CompletedRevision: r.CompletedRevision,
		Source:            r.Source,
		Removing:          r.Removing,
	}
	for _, b := range r.Removals {
		s.Record.Removals = append(s.Record.Removals, v1alpha1.RemovalBucket{
			At: *microPtr(b.At), Works: int32(b.Works), Removed: int32(b.Removed),
		})
	}
	for _, c := range r.Cuts {
		s.Record.Cuts = append(s.Record.Cuts, v1alpha1.PartitionCut{
			Lane: c.Lane, Clusters: int32(c.Clusters), Size: int32(c.Size), Counts: numbers[int32](c.Counts),
		})
	}
	for _, g := range r.Groups {
		s.Record.Groups = append(s.Record.Groups, v1alpha1.RecordedGroup{
			Lane: g.Lane, Name: g.Name, Index: int32(g.Index), OpenedAt: microPtr(g.OpenedAt),
		})
	}
}

func numbers[To, From int | int32](list []From) []To {
	var out []To
	for _, n := range list {
		out = append(out, To(n))
	}
	return out
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
