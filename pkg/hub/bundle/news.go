package bundle

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

// Reasons of the Kubernetes Events about a Rollout.
const (
	newsOpened    = "GroupOpened"
	newsPassed    = "GroupPassed"
	newsBreached  = "Breached"
	newsRecovered = "Recovered"
	newsCompleted = "Completed"
	newsPaused    = "Paused"
	newsResumed   = "Resumed"
	newsConfirm   = "ConfirmationNeeded"
)

// maxNewsNames is how many groups, or things to confirm, one note names.
const maxNewsNames = 5

// news is what happened between two statuses of a Rollout; at most one of a kind, so
// that a thousand groups that open at once are one Event.
type news struct {
	reason, action, kind, note string
	// groups that it is about.
	groups []rollout.Place
}

// newsOf compares the status that stood in the API with the one that stands there
// now. What was told once is in the API, and so no restart tells it again.
func newsOf(before, after *v1alpha1.RolloutStatus) []news {
	opened := openedSince(before, after)
	passed, breached, recovered := turned(before, after)
	var out []news
	add := func(reason, action, kind string, groups []rollout.Place, note string) {
		out = append(out, news{reason: reason, action: action, kind: kind, groups: groups, note: cut(note)})
	}
	if before.Record.PauseSeenAt == nil && after.Record.PauseSeenAt != nil {
		add(newsPaused, "Pause", corev1.EventTypeNormal, nil, fmt.Sprintf("revision %s: %s", after.Revision, pausedBy(after)))
	}
	if before.Record.PauseSeenAt != nil && after.Record.PauseSeenAt == nil {
		add(newsResumed, "Resume", corev1.EventTypeNormal, nil, fmt.Sprintf("revision %s goes on", after.Revision))
	}
	if len(opened) > 0 {
		add(newsOpened, "OpenGroup", corev1.EventTypeNormal, opened, fmt.Sprintf("%s opened for revision %s", groupsIn(opened), after.Revision))
	}
	if len(breached) > 0 {
		add(newsBreached, "StopLane", corev1.EventTypeWarning, breached, fmt.Sprintf(
			"%s: more failures with revision %s than maxFailures allows: nothing more is admitted in the lane; %s",
			groupsIn(breached), after.Revision, said(after, breached[0])))
	}
	if len(recovered) > 0 {
		note := fmt.Sprintf("%s: no more failures than maxFailures allows any more, with revision %s", groupsIn(recovered), after.Revision)
		if before.Revision != after.Revision {
			note += ", breached with revision " + before.Revision
		}
		add(newsRecovered, "ReleaseLane", corev1.EventTypeNormal, recovered, note)
	}
	if len(passed) > 0 {
		add(newsPassed, "PassGroup", corev1.EventTypeNormal, passed, fmt.Sprintf("%s passed with revision %s", groupsIn(passed), after.Revision))
	}
	if completedNow(before, after) {
		add(newsCompleted, "Complete", corev1.EventTypeNormal, nil, fmt.Sprintf(
			"every group passed with revision %s; %s clusters are done", after.Revision, after.Done))
	}
	if asked := askedSince(before, after); len(asked) > 0 {
		add(newsConfirm, "Confirm", corev1.EventTypeWarning, nil, "held until a person confirms it: "+firstOf(asked, "; "))
	}
	return out
}

// openedSince are the groups that were opened, by the record, which is always whole.
func openedSince(before, after *v1alpha1.RolloutStatus) []rollout.Place {
	was := make(map[rollout.Place]v1alpha1.RecordedGroup, len(before.Record.Groups))
	for _, g := range before.Record.Groups {
		was[recordedPlace(&g)] = g
	}
	var out []rollout.Place
	for _, g := range after.Record.Groups {
		place := recordedPlace(&g)
		if g.OpenedAt != nil && !microOf(was[place].OpenedAt).Equal(microOf(g.OpenedAt)) {
			out = append(out, place)
		}
	}
	return out
}

func recordedPlace(g *v1alpha1.RecordedGroup) rollout.Place {
	return rollout.Place{Lane: g.Lane, GroupKey: rollout.GroupKey{Name: g.Name, Index: int(g.Index)}}
}

// turned are the groups that passed, were breached and recovered. Of a group that was
// not shown before nobody knows whether it had passed in this revision: its Placement
// may have been missing for a moment. Rather nothing is said than the same thing again.
func turned(before, after *v1alpha1.RolloutStatus) (passed, breached, recovered []rollout.Place) {
	was := rowsOf(before)
	anew := before.Revision != after.Revision
	for _, lane := range after.Lanes {
		for i := range lane.Groups {
			g := &lane.Groups[i]
			place := rollout.PlaceOf(lane.Name, g)
			old := was[place]
			if g.Passed && (anew || (old != nil && !old.Passed)) {
				passed = append(passed, place)
			}
			if g.Breached && (anew || old == nil || !old.Breached) {
				breached = append(breached, place)
			}
			if !g.Breached && old != nil && old.Breached {
				recovered = append(recovered, place)
			}
		}
	}
	return passed, breached, recovered
}

func rowsOf(s *v1alpha1.RolloutStatus) map[rollout.Place]*v1alpha1.GroupStatus {
	out := map[rollout.Place]*v1alpha1.GroupStatus{}
	for l := range s.Lanes {
		for i := range s.Lanes[l].Groups {
			g := &s.Lanes[l].Groups[i]
			out[rollout.PlaceOf(s.Lanes[l].Name, g)] = g
		}
	}
	return out
}

// completedNow tells whether the revision was completed, or is complete again after an
// undo: the record knows that it was once, and only then its clusters get there.
func completedNow(before, after *v1alpha1.RolloutStatus) bool {
	if after.Revision == "" || after.Record.CompletedRevision != after.Revision {
		return false
	}
	return before.Record.CompletedRevision != after.Revision || (isComplete(after) && !isComplete(before))
}

func isComplete(s *v1alpha1.RolloutStatus) bool {
	return meta.IsStatusConditionTrue(s.Conditions, v1alpha1.RolloutComplete)
}

// askedSince are the requests that were not there before.
func askedSince(before, after *v1alpha1.RolloutStatus) []string {
	var out []string
	for _, c := range after.Confirmations {
		if slices.ContainsFunc(before.Confirmations, func(old v1alpha1.ConfirmationRequest) bool {
			return old.Reason == c.Reason && old.Subject == c.Subject && before.Revision == after.Revision
		}) {
			continue
		}
		what := c.Reason
		if c.Subject != "" {
			what += " " + c.Subject
		}
		out = append(out, fmt.Sprintf("%s in revision %s: %s", what, after.Revision, cutTo(c.Message, maxHeldMessage)))
	}
	return out
}

// pausedBy is the sentence that says who paused.
func pausedBy(s *v1alpha1.RolloutStatus) string {
	held := meta.FindStatusCondition(s.Conditions, v1alpha1.RolloutHeld)
	if held != nil && held.Reason == string(rollout.Paused) {
		return held.Message
	}
	return "paused"
}

// said is what a status says of a group.
func said(s *v1alpha1.RolloutStatus, place rollout.Place) string {
	if g := rowsOf(s)[place]; g != nil && g.Message != "" {
		return g.Message
	}
	return s.Message
}

func groupsIn(places []rollout.Place) string {
	names := make([]string, 0, len(places))
	for _, p := range places {
		// Always with its lane.
		names = append(names, groupName(2, p))
	}
	if len(names) == 1 {
		return "group " + names[0]
	}
	return fmt.Sprintf("%d groups (%s)", len(names), firstOf(names, ", "))
}

// firstOf joins the first few and counts the others.
func firstOf(list []string, separator string) string {
	text := strings.Join(list[:min(len(list), maxNewsNames)], separator)
	if more := len(list) - maxNewsNames; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
