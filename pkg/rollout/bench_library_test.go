package rollout

import (
	"fmt"
	"testing"
)

// BenchmarkBesideLibrary times this planner and the library of OCM's sdk-go on the same
// fleet, one after the other: 100 groups, the first half Done, the rest not admitted.
// The planner answers more: every cluster's reason, every group's counts, stamps.
func BenchmarkBesideLibrary(b *testing.B) {
	for _, s := range []Strategy{{Type: All}, queueOf("10%", "0"), perGroup("0")} {
		for _, n := range []int{100, 1_000, 10_000} {
			fleet := besideFleet(n)
			b.Run(fmt.Sprintf("%s/clusters=%d", s.Type, n), func(b *testing.B) { beside(b, s, fleet) })
		}
	}
}

func beside(b *testing.B, s Strategy, fleet []string) {
	var ours, theirs float64
	b.Run("planner", func(b *testing.B) {
		in := fleetOf(s, fleet...)
		if s.Type == All {
			for i := range in.Clusters {
				if w := in.Clusters[i].Work; w != nil {
					w.MinSuccessTime = 0
				}
			}
		}
		ours = measure(b, func() bool { return len(Plan(in, testNow).Admit) > 0 })
	})
	b.Run("library", func(b *testing.B) {
		call := libraryOf(s, fleet...)
		theirs = measure(b, func() bool {
			r, err := call.ask()
			return err == nil && len(r.ClustersToRollout) > 0
		})
		if ours > 0 {
			b.ReportMetric(theirs/ours, "times-the-planner")
		}
	})
}

// measure is the processor time of one call in nanoseconds.
func measure(b *testing.B, call func() bool) float64 {
	b.ReportAllocs()
	start := cpuTime(b)
	for b.Loop() {
		if !call() {
			b.Fatal("nothing is admitted")
		}
	}
	each := float64(cpuTime(b)-start) / float64(b.N)
	b.ReportMetric(each/1e6, "cpu-ms/op")
	return each
}

func besideFleet(n int) []string {
	out := make([]string, n)
	for i := range out {
		state := "-"
		if i < n/2 {
			state = "Done"
		}
		// Groups come in order; names do not follow them.
		out[i] = fmt.Sprintf("cluster-%05d g%02d %s", (i*7919)%n, i*100/n, state)
	}
	return out
}
