package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/test/example"
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

func TestLinesShowChangesOnce(t *testing.T) {
	var out bytes.Buffer
	l := &lines{out: &out}
	v := example.Version{Name: "v2", About: "another message"}
	l.begin(v)
	for i := range 5 {
		left := noon.Add(time.Duration(20-i) * time.Second)
		says := says("soaks until " + left.Format("04:05"))
		l.show(v, rolloutOf(group("dev", v1alpha1.StateCounts{Soaking: 1}, at(left.Sub(noon)), says)), noon.Add(time.Duration(i)*time.Second))
	}
	l.show(v, rolloutOf(group("dev", v1alpha1.StateCounts{Done: 1}, passed)), noon.Add(20*time.Second))
	want := "\nv2: another message\nv2   0s  dev   1 soaking, 20s left; soaks until 00:20\nv2  20s  dev   1 done\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if strings.ContainsAny(out.String(), "\x1b\r") {
		t.Error("a control character in plain output")
	}
}

func TestTerminalDrawsInPlace(t *testing.T) {
	var out bytes.Buffer
	screen := &terminal{out: &out, width: func() int { return 80 }}
	v := example.Version{Name: "v2"}
	screen.begin(v)
	r := rolloutOf(group("dev", v1alpha1.StateCounts{Done: 1}, passed))
	screen.show(v, r, noon)
	if strings.Contains(out.String(), "\x1b") {
		t.Error("the first table moves the cursor")
	}
	first := out.Len()
	screen.show(v, r, noon)
	if again := out.String()[first:]; !strings.HasPrefix(again, "\x1b[3A\x1b[J"+title(v, r)) {
		t.Errorf("the second table is drawn as %q", again)
	}
}
