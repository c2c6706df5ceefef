package rollout

import (
	"flag"
	"fmt"
	"math/rand"
	"os"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	if !given {
		// A history is some hundred plans.
		if err := flag.Set("rapid.checks", "200"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// events in one random history.
const events = 22

// TestProperties plays random histories; judge_test.go has what must hold in each plan.
func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := newHistory(func(n int, label string) int { return rapid.IntRange(0, n-1).Draw(t, label) })
		if err := h.play(events); err != nil {
			t.Fatal(err)
		}
	})
}

// seeded plays one history of a seed with a planner.
func seeded(seed int64, plan func(Input, time.Time) Result) error {
	r := rand.New(rand.NewSource(seed))
	h := newHistory(func(n int, _ string) int { return r.Intn(n) })
	h.plan = plan
	return h.play(events)
}

// TestSeeds plays histories that are the same in every run.
func TestSeeds(t *testing.T) {
	for seed := range int64(20) {
		if err := seeded(seed, Plan); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

// mutations are planners that are broken on purpose: each has to be found out.
var mutations = map[string]func(Input, time.Time) Result{
	"admits to a closed group": func(in Input, now time.Time) Result {
		return admitMore(in, now, func(_ Result, c ClusterResult) bool { return c.Reason == WaitingForGroup })
	},
	"goes on after a breach": func(in Input, now time.Time) Result {
		return admitMore(in, now, func(_ Result, c ClusterResult) bool { return c.Reason == FailureBudgetExceeded })
	},
	"exceeds maxUnavailable": func(in Input, now time.Time) Result {
		return admitMore(in, now, func(_ Result, c ClusterResult) bool { return c.Reason == MaxUnavailable })
	},
	"admits while paused or held": func(in Input, now time.Time) Result {
		return admitMore(in, now, func(r Result, c ClusterResult) bool { return r.Hold != nil && c.InLane })
	},
	"believes every snapshot at once": func(in Input, now time.Time) Result {
		return Plan(hasty(in, func(*View) bool { return true }), now)
	},
	"believes the first snapshot after a restart": func(in Input, now time.Time) Result {
		return Plan(hasty(in, func(v *View) bool { return now.Before(v.settlesAt()) }), now)
	},
	"removes at once": func(in Input, now time.Time) Result { in.RemovalGrace = 0; return Plan(in, now) },
	"removes what is unreachable": func(in Input, now time.Time) Result {
		return Plan(changed(in, func(c *Cluster) { c.Unreachable = false }), now)
	},
	"forgets the soak": func(in Input, now time.Time) Result {
		return Plan(changed(in, func(c *Cluster) {
			if !c.Work.Stamps.ReadySeenAt.IsZero() {
				c.Work.Stamps.ReadySeenAt = c.Work.Stamps.ReadySeenAt.Add(-20 * time.Second)
			}
		}), now)
	},
	"takes an old word for a sign of life": func(in Input, now time.Time) Result {
		return Plan(changed(in, func(c *Cluster) {
			if s := &c.Work.Stamps; !s.SoakedSeenAt.IsZero() {
				s.SoakedSeenAt = latest(s.SoakedSeenAt, s.ReadySeenAt.Add(c.Work.MinSuccessTime))
			}
		}), now)
	},
	"takes the verdict of the last admission": func(in Input, now time.Time) Result {
		return Plan(changed(in, func(c *Cluster) { c.Work.Verdict.Admission = c.Work.Admission }), now)
	},
	"ignores the guard": func(in Input, now time.Time) Result {
		r := Plan(in, now)
		for _, c := range r.Clusters {
			if c.Reason == RemovalGuard {
				r.Remove = append(r.Remove, Remove{Cluster: c.Name})
			}
		}
		return r
	},
	"forgets the source":      func(in Input, now time.Time) Result { in.Record.Source = ""; return Plan(in, now) },
	"forgets vanished groups": func(in Input, now time.Time) Result { in.Record.Groups = nil; return Plan(in, now) },
	"writes its record again and again": func(in Input, now time.Time) Result {
		r := Plan(in, now)
		r.Record.Removals = append(slices.Clone(in.Record.Removals), RemovalBucket{At: now})
		return r
	},
	"admits above maxConcurrency": func(in Input, now time.Time) Result {
		return admitMore(in, now, func(_ Result, c ClusterResult) bool { return c.Reason == MaxConcurrency })
	},
	"waits for late joiners": func(in Input, now time.Time) Result {
		in = changed(in, func(c *Cluster) { c.Work.Stamps.MemberSince = epoch.Add(-time.Hour) })
		for i := range in.Clusters {
			in.Clusters[i].Created = epoch.Add(-time.Hour)
		}
		in.Views = everThere(in.Views)
		return Plan(in, now)
	},
	"admits newcomers while paused": func(in Input, now time.Time) Result {
		r := Plan(in, now)
		for _, c := range in.Clusters {
			if c.Work == nil && c.CompletedID != "" && r.Hold != nil && r.Hold.Reason == Paused {
				r.Admit = append(r.Admit, Admit{Cluster: c.Name, ID: c.CompletedID, Revision: c.CompletedID})
			}
		}
		return r
	},
	"ignores the failures of a queue": func(in Input, now time.Time) Result {
		in.Source.Lanes = slices.Clone(in.Source.Lanes)
		for i := range in.Source.Lanes {
			if s := &in.Source.Lanes[i].Strategy; s.Type == Progressive {
				s.MaxFailures = intstr.FromString("100%")
			}
		}
		return Plan(in, now)
	},
	"counts only the desired id as in flight": func(in Input, now time.Time) Result {
		return Plan(changed(in, func(c *Cluster) {
			if c.Work.ID != in.Revision {
				c.Work.Stamps.FailedAt = now
			}
		}), now)
	},
	"never rechecks": func(in Input, now time.Time) Result {
		r := Plan(in, now)
		r.RecheckAfter = 0
		return r
	},
	"depends on the order": func(in Input, now time.Time) Result {
		r := Plan(in, now)
		r.Sentence += in.Clusters[0].Name
		return r
	},
	"never rests": func(in Input, now time.Time) Result {
		r := Plan(in, now)
		for _, c := range in.Clusters {
			if c.Work != nil && len(r.Stamp) == 0 {
				r.Stamp = append(r.Stamp, Stamp{Cluster: c.Name, Stamps: c.Work.Stamps})
			}
		}
		return r
	},
	"never opens the last group": func(in Input, now time.Time) Result {
		r := Plan(in, now)
		var kept []Admit
		for _, a := range r.Admit {
			if a.Place.Name != "prod" {
				kept = append(kept, a)
			}
		}
		r.Admit = kept
		return r
	},
}

// everThere are views in which nobody ever joined.
func everThere(views map[string]*View) map[string]*View {
	out := map[string]*View{}
	for name, v := range views {
		if v == nil {
			continue
		}
		old := *v
		old.places = map[string]*placing{}
		for cluster, p := range v.places {
			always := *p
			always.joined = time.Time{}
			old.places[cluster] = &always
		}
		out[name] = &old
	}
	return out
}

func admitMore(in Input, now time.Time, which func(Result, ClusterResult) bool) Result {
	r := Plan(in, now)
	for _, c := range r.Clusters {
		if c.State == Pending && c.InLane && which(r, c) {
			r.Admit = append(r.Admit, Admit{Cluster: c.Name, Place: c.Place, ID: in.Revision, Revision: in.Revision, Stamps: Stamps{AdmittedAt: now}})
		}
	}
	return r
}

// hasty takes the settle time from some views.
func hasty(in Input, which func(*View) bool) Input {
	views := map[string]*View{}
	for name, v := range in.Views {
		if v != nil && which(v) {
			quick := *v
			quick.settle = 0
			v = &quick
		}
		views[name] = v
	}
	in.Views = views
	return in
}

// changed lets f falsify every cluster that has a work.
func changed(in Input, f func(*Cluster)) Input {
	list := make([]Cluster, 0, len(in.Clusters))
	for _, c := range in.Clusters {
		if c.Work != nil {
			w := *c.Work
			c.Work = &w
			f(&c)
		}
		list = append(list, c)
	}
	in.Clusters = list
	return in
}

// TestMutations shows that the properties can fail.
func TestMutations(t *testing.T) {
	for name, plan := range mutations {
		t.Run(name, func(t *testing.T) {
			for seed := range int64(300) {
				if err := seeded(seed, plan); err != nil {
					t.Logf("found by seed %d: %.300s", seed, fmt.Sprint(err))
					return
				}
			}
			t.Error("not found out")
		})
	}
}
