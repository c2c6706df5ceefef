package groups

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func group(name string, counts v1alpha1.StateCounts, change ...func(*v1alpha1.GroupStatus)) v1alpha1.GroupStatus {
	counts.Total = counts.Pending + counts.Progressing + counts.Soaking + counts.Done + counts.Failed + counts.TimedOut + counts.Recovering
	g := v1alpha1.GroupStatus{Name: name, Counts: counts, Open: true}
	for _, c := range change {
		c(&g)
	}
	return g
}

func at(d time.Duration) func(*v1alpha1.GroupStatus) {
	return func(g *v1alpha1.GroupStatus) { g.NextAt = &metav1.Time{Time: noon.Add(d)} }
}
func says(text string) func(*v1alpha1.GroupStatus) {
	return func(g *v1alpha1.GroupStatus) { g.Message = text }
}
func passed(g *v1alpha1.GroupStatus)  { g.Passed = true }
func closed(g *v1alpha1.GroupStatus)  { g.Open = false }
func stopped(g *v1alpha1.GroupStatus) { g.Breached = true }

func rolloutOf(groups ...v1alpha1.GroupStatus) *v1alpha1.Rollout {
	r := &v1alpha1.Rollout{}
	r.Status = v1alpha1.RolloutStatus{Revision: "abc", Done: "1/3", Reason: "Soaking",
		Lanes: []v1alpha1.LaneStatus{{Name: "all", Groups: groups}}}
	return r
}

func reasoned(reason string) func(*v1alpha1.GroupStatus) {
	return func(g *v1alpha1.GroupStatus) { g.Reason = reason }
}

func TestTable(t *testing.T) {
	cases := map[string]struct {
		groups []v1alpha1.GroupStatus
		width  int
		want   string
	}{
		"nothing yet": {want: `
GROUP  TOTAL  DONE  SOAKING  PROGRESSING  LEFT   FAILED  TIMED OUT  PENDING  REASON`},
		"stg soaks": {
			groups: []v1alpha1.GroupStatus{
				group("dev", v1alpha1.StateCounts{Done: 2}, passed, says("all done"), reasoned("Complete")),
				group("stg", v1alpha1.StateCounts{Soaking: 1}, at(13200*time.Millisecond), says("stg soaks"), reasoned("Soaking")),
				group("prod", v1alpha1.StateCounts{Pending: 12}, closed, says("waits for group stg"), reasoned("WaitingForGroup")),
			}, want: `
GROUP  TOTAL  DONE  SOAKING  PROGRESSING  LEFT   FAILED  TIMED OUT  PENDING  REASON
dev    2      2     -        -                   -       -          -        Complete
stg    1      -     1        -            14s    -       -          -        Soaking: stg soaks
prod   12     -     -        -                   -       -          12       WaitingForGroup: held: waits for group stg`},
		"dev failed": {
			groups: []v1alpha1.GroupStatus{
				group("dev", v1alpha1.StateCounts{TimedOut: 1, Done: 1}, stopped, says("1 of 2 failed"), at(time.Minute)),
				group("stg", v1alpha1.StateCounts{Pending: 1}, closed),
			}, want: `
GROUP  TOTAL  DONE  SOAKING  PROGRESSING  LEFT   FAILED  TIMED OUT  PENDING  REASON
dev    2      1     -        -                   -       1          -        stopped: 1 of 2 failed
stg    1      -     -        -                   -       -          1        held`},
		"one recovers": {
			groups: []v1alpha1.GroupStatus{
				group("dev", v1alpha1.StateCounts{Recovering: 1, Failed: 2}, at(time.Minute)),
			}, want: `
GROUP  TOTAL  DONE  SOAKING  RECOVERING  PROGRESSING  LEFT   FAILED  TIMED OUT  PENDING  REASON
dev    3      -     -        1           -            1m0s   2       -          -`},
		"several of a name": {
			groups: []v1alpha1.GroupStatus{
				group("dev", v1alpha1.StateCounts{Done: 2}, passed),
				group("dev", v1alpha1.StateCounts{Done: 1}, passed, func(g *v1alpha1.GroupStatus) { g.Index = 1 }),
			}, want: `
GROUP   TOTAL  DONE  SOAKING  PROGRESSING  LEFT   FAILED  TIMED OUT  PENDING  REASON
dev     2      2     -        -                   -       -          -
dev[1]  1      1     -        -                   -       -          -`},
		"a deadline that is over": {
			groups: []v1alpha1.GroupStatus{group("dev", v1alpha1.StateCounts{Progressing: 1}, at(-time.Second))}, want: `
GROUP  TOTAL  DONE  SOAKING  PROGRESSING  LEFT   FAILED  TIMED OUT  PENDING  REASON
dev    1      -     -        1            0s     -       -          -`},
		"a narrow terminal": {
			groups: []v1alpha1.GroupStatus{
				group("dev", v1alpha1.StateCounts{Done: 1}, passed, reasoned("Complete")),
				group("stg", v1alpha1.StateCounts{Soaking: 1}, at(time.Second), says("ü soaks until the cows come home"), reasoned("Soaking")),
			}, width: 41, want: `
GROUP  TOTAL  DONE  SOAKING  PROGRESSING…
dev    1      1     -        -          …
stg    1      -     1        -          …
  Soaking: ü soaks until the cows come h…`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(Table(Rows(rolloutOf(tc.groups...), noon), tc.width), "\n")
			if diff := cmp.Diff(strings.TrimPrefix(tc.want, "\n"), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRowsOfSeveralLanes(t *testing.T) {
	r := rolloutOf(group("dev", v1alpha1.StateCounts{Done: 1}))
	r.Status.Lanes = append(r.Status.Lanes, v1alpha1.LaneStatus{Name: "edge", Groups: r.Status.Lanes[0].Groups})
	var got []string
	for _, row := range Rows(r, noon) {
		got = append(got, row.Group)
	}
	if diff := cmp.Diff([]string{"all/dev", "edge/dev"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
