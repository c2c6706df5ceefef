package bundle

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

var app = types.NamespacedName{Namespace: "team", Name: "app"}

// scrape returns the samples of the rollout metrics, without those that are 0.
func scrape(t *testing.T, m *Metrics) []string {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(m)
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if answer.Code != http.StatusOK {
		t.Fatalf("%d: %s", answer.Code, answer.Body)
	}
	var out []string
	for line := range strings.Lines(answer.Body.String()) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "fleet_addon_rollout_") && !strings.HasSuffix(line, " 0") {
			line = strings.TrimPrefix(line, "fleet_addon_rollout_")
			out = append(out, strings.ReplaceAll(line, `bundle="app",`, ""))
		}
	}
	slices.Sort(out)
	return out
}

func TestMetricsBetweenPlans(t *testing.T) {
	clock := clocktesting.NewFakeClock(noon)
	m := NewMetrics(clock)
	plan := planOf(shownOn("a", "dev", rollout.ShownNotReady))
	plan.Reason = rollout.NotReady
	plan.Counts = rollout.Counts{Total: 3, Progressing: 1, Pending: 2}
	plan.Lanes[0].Groups[0].Counts = rollout.Counts{Total: 1, Progressing: 1}
	plan.Clusters[0].State, plan.Clusters[0].Since = rollout.Progressing, noon.Add(-time.Minute)
	m.count(app, plan, true, clock.Now())
	m.planned(time.Millisecond)
	m.breached(app, []rollout.Place{place("l", "dev", 0), place("l", "dev", 1)})

	clock.Step(10 * time.Second)
	want := []string{
		`breaches_total{group="dev",lane="l",namespace="team"} 1`,
		`breaches_total{group="dev[1]",lane="l",namespace="team"} 1`,
		`clusters{group="(none)",lane="",namespace="team",state="Pending"} 2`,
		`clusters{group="dev",lane="l",namespace="team",state="Progressing"} 1`,
		`held_seconds{namespace="team",reason="NotReady"} 10`,
		`oldest_unsettled_seconds{namespace="team"} 70`,
	}
	if diff := cmp.Diff(want, scrape(t, m)); diff != "" {
		t.Errorf("between two plans (-want +got):\n%s", diff)
	}

	plan.Reason = rollout.SoakingReason
	m.count(app, plan, false, clock.Now())
	clock.Step(5 * time.Second)
	done := complete(planOf(shownOn("a", "dev", rollout.ShownReady)))
	done.Clusters[0].State = rollout.Done
	m.count(app, done, true, clock.Now())
	clock.Step(time.Hour)
	want = []string{
		`breaches_total{group="dev",lane="l",namespace="team"} 1`,
		`breaches_total{group="dev[1]",lane="l",namespace="team"} 1`,
		`held_seconds{namespace="team",reason="NotReady"} 10`,
		`held_seconds{namespace="team",reason="Soaking"} 5`,
	}
	if diff := cmp.Diff(want, scrape(t, m)); diff != "" {
		t.Errorf("complete (-want +got):\n%s", diff)
	}

	m.forget(app)
	if got := scrape(t, m); got != nil {
		t.Errorf("a bundle that is gone leaves %v", got)
	}
}

func TestWhatCannotBeReadCountsAsBefore(t *testing.T) {
	m := NewMetrics(clocktesting.NewFakeClock(noon))
	plan := planOf()
	plan.Counts = rollout.Counts{Total: 2, Done: 2}
	m.count(app, plan, true, noon)
	before := scrape(t, m)
	m.count(app, &rollout.Result{Reason: rollout.BundleInvalid}, false, noon)
	if diff := cmp.Diff(before, scrape(t, m)); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

func TestLabelsAreBounded(t *testing.T) {
	m := NewMetrics(clocktesting.NewFakeClock(noon))
	for round := range 3 {
		plan := &rollout.Result{Counts: rollout.Counts{Total: 200, Pending: 200}}
		var breached []rollout.Place
		for _, name := range []string{"east", "west"} {
			lane := rollout.LaneResult{Name: name}
			for i := range 100 {
				g := rollout.GroupResult{
					GroupKey: rollout.GroupKey{Name: fmt.Sprintf("g%d-%d", round, i)}, Counts: rollout.Counts{Total: 1, Pending: 1},
				}
				if i == 0 {
					g.Name = otherGroups // a group can have this name too
				}
				lane.Groups = append(lane.Groups, g)
				breached = append(breached, rollout.Place{Lane: name, GroupKey: g.GroupKey})
			}
			plan.Lanes = append(plan.Lanes, lane)
		}
		m.count(app, plan, true, noon)
		m.breached(app, breached)
	}
	clusters, breaches := 0, 0
	for _, line := range scrape(t, m) {
		switch {
		case strings.HasPrefix(line, "clusters"):
			clusters++
		case strings.HasPrefix(line, "breaches"):
			breaches++
		}
	}
	if clusters != 51 || breaches != 51 {
		t.Errorf("%d series of clusters and %d of breaches, want 51 each: 50 groups of one lane and the other's sum", clusters, breaches)
	}
}
