package bundle

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

// told is a status of revision v1 with the group dev, open and not passed.
func told(changes ...func(*v1alpha1.RolloutStatus)) *v1alpha1.RolloutStatus {
	s := &v1alpha1.RolloutStatus{
		Revision: "v1", Done: "1/2", Message: "the sentence",
		Lanes: []v1alpha1.LaneStatus{{Name: "l", Groups: []v1alpha1.GroupStatus{{Name: "dev", Open: true, Message: "about dev"}, {Name: rollout.Unmatched}}}},
	}
	s.Record.Groups = []v1alpha1.RecordedGroup{{Lane: "l", Name: "dev", OpenedAt: microPtr(noon)}, {Lane: "l"}}
	for _, change := range changes {
		change(s)
	}
	return s
}

func TestNews(t *testing.T) {
	type change = func(*v1alpha1.RolloutStatus)
	opened := func(i int, at time.Time) change {
		return func(s *v1alpha1.RolloutStatus) { s.Record.Groups[i].OpenedAt = microPtr(at) }
	}
	group := func(i int, do func(*v1alpha1.GroupStatus)) change {
		return func(s *v1alpha1.RolloutStatus) { do(&s.Lanes[0].Groups[i]) }
	}
	passed := func(i int) change { return group(i, func(g *v1alpha1.GroupStatus) { g.Passed = true }) }
	breached := group(0, func(g *v1alpha1.GroupStatus) { g.Breached = true })
	revision := func(name string) change { return func(s *v1alpha1.RolloutStatus) { s.Revision = name } }
	paused := func(s *v1alpha1.RolloutStatus) {
		s.Record.PauseSeenAt = microPtr(noon)
		s.Conditions = []metav1.Condition{{Type: v1alpha1.RolloutHeld, Reason: "Paused", Message: "paused by the Rollout"}}
	}
	completed := func(name string) change {
		return func(s *v1alpha1.RolloutStatus) { s.Record.CompletedRevision = name }
	}
	complete := func(s *v1alpha1.RolloutStatus) {
		s.Conditions = []metav1.Condition{{Type: v1alpha1.RolloutComplete, Status: metav1.ConditionTrue}}
	}
	asks := func(subject string) change {
		return func(s *v1alpha1.RolloutStatus) {
			s.Confirmations = append(s.Confirmations, v1alpha1.ConfirmationRequest{Reason: "GroupVanished", Subject: subject, Message: "go on without it"})
		}
	}
	nothing := func(s *v1alpha1.RolloutStatus) { *s = v1alpha1.RolloutStatus{} }
	gone := func(s *v1alpha1.RolloutStatus) { s.Lanes = nil }
	tests := map[string]struct {
		before, after []change
		want          []string
	}{
		"nothing happens":                  {nil, nil, nil},
		"the first plan":                   {[]change{nothing}, nil, []string{"Normal GroupOpened: group l/dev opened for revision v1"}},
		"a group opens":                    {nil, []change{opened(1, noon)}, []string{"Normal GroupOpened: group l/(unmatched) opened for revision v1"}},
		"a group opens for a new revision": {nil, []change{revision("v2"), opened(0, noon.Add(time.Second))}, []string{"Normal GroupOpened: group l/dev opened for revision v2"}},
		"a new revision that opens none":   {nil, []change{revision("v2"), func(s *v1alpha1.RolloutStatus) { s.Record.Groups[0].OpenedAt = nil }}, nil},
		"two groups pass in one plan":      {nil, []change{passed(0), passed(1)}, []string{"Normal GroupPassed: 2 groups (l/dev, l/(unmatched)) passed with revision v1"}},
		"a group that had passed":          {[]change{passed(0)}, []change{passed(0)}, nil},
		"one that passes a new revision":   {[]change{passed(0)}, []change{passed(0), revision("v2")}, []string{"Normal GroupPassed: group l/dev passed with revision v2"}},
		"one that was hidden for a moment": {[]change{gone}, []change{passed(0)}, nil},
		"a breach": {nil, []change{breached}, []string{
			"Warning Breached: group l/dev: more failures with revision v1 than maxFailures allows: nothing more is admitted in the lane; about dev"}},
		"a breach that lasts":         {[]change{breached}, []change{breached}, nil},
		"a breach that is over":       {[]change{breached}, nil, []string{"Normal Recovered: group l/dev: no more failures than maxFailures allows any more, with revision v1"}},
		"over with a new revision":    {[]change{breached}, []change{revision("v2")}, []string{"Normal Recovered: group l/dev: no more failures than maxFailures allows any more, with revision v2, breached with revision v1"}},
		"over as nobody sees a group": {[]change{breached}, []change{gone}, nil},
		"a pause":                     {nil, []change{paused}, []string{"Normal Paused: revision v1: paused by the Rollout"}},
		"a pause that lasts":          {[]change{paused}, []change{paused}, nil},
		"a resume":                    {[]change{paused}, nil, []string{"Normal Resumed: revision v1 goes on"}},
		"completed":                   {nil, []change{completed("v1")}, []string{"Normal Completed: every group passed with revision v1; 1/2 clusters are done"}},
		"complete a little later":     {[]change{completed("v1")}, []change{completed("v1"), complete}, []string{"Normal Completed: every group passed with revision v1; 1/2 clusters are done"}},
		"complete as before":          {[]change{completed("v1"), complete}, []change{completed("v1"), complete}, nil},
		"back to one completed once":  {[]change{completed("v1"), revision("v2")}, []change{completed("v1")}, nil},
		"a confirmation is needed": {[]change{asks("l/a")}, []change{asks("l/a"), asks("l/b")}, []string{
			"Warning ConfirmationNeeded: held until a person confirms it: GroupVanished l/b in revision v1: go on without it"}},
		"the same one": {[]change{asks("l/a")}, []change{asks("l/a")}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, n := range newsOf(told(tt.before...), told(tt.after...)) {
				got = append(got, fmt.Sprintf("%s %s: %s", n.kind, n.reason, n.note))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAThousandGroupsAreOneEvent(t *testing.T) {
	after := told()
	for i := range 1000 {
		after.Record.Groups = append(after.Record.Groups, v1alpha1.RecordedGroup{Lane: strings.Repeat("l", 200), Name: longGroup(i), OpenedAt: microPtr(noon)})
		after.Lanes[0].Groups = append(after.Lanes[0].Groups, v1alpha1.GroupStatus{Name: longGroup(i), Passed: true, Breached: true})
		after.Confirmations = append(after.Confirmations, v1alpha1.ConfirmationRequest{Reason: "GroupVanished", Subject: longGroup(i), Message: strings.Repeat("x", 1000)})
	}
	before := told()
	for i := range 1000 {
		before.Lanes[0].Groups = append(before.Lanes[0].Groups, v1alpha1.GroupStatus{Name: longGroup(i)})
	}
	seen := map[string]bool{}
	for _, n := range newsOf(before, after) {
		if seen[n.reason] || len(n.note) > maxMessage {
			t.Errorf("%s again, or with %d bytes", n.reason, len(n.note))
		}
		seen[n.reason] = true
	}
	if len(seen) != 4 {
		t.Errorf("%v, want one each of four kinds", seen)
	}
}
