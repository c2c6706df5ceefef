package rollout

import (
	"cmp"
	"fmt"
	"math/rand"
	"slices"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// bigFleet is n clusters in 100 declared groups, settled; the first half of the
// groups is Done on the desired id and the rest has the one before.
func bigFleet(n int) (Input, time.Time) {
	now := epoch.Add(time.Hour)
	in := Input{
		Bundle: "app/web", Revision: "v2", Views: map[string]*View{}, RemovalGrace: time.Minute,
		Source: Source{Name: "RolloutPolicy/main", Lanes: []LaneSpec{{Name: "fleet", Placement: "app/fleet", Strategy: Strategy{
			Type: ProgressivePerGroup, MinSuccessTime: 20 * time.Second, ProgressDeadline: time.Minute, MaxFailures: intstr.FromInt32(0),
		}}}},
		Record: Record{Revision: "v2", RevisionSince: epoch},
	}
	s := Snapshot{Found: true, Where: map[string]GroupKey{}}
	for g := range 100 {
		key := GroupKey{Name: fmt.Sprintf("g%02d", g)}
		s.Groups, s.Declared = append(s.Groups, key), append(s.Declared, key.Name)
		in.Record.Groups = append(in.Record.Groups, RecordedGroup{Place: Place{"fleet", key}, OpenedAt: epoch})
	}
	for i := range n {
		// Names do not follow the groups.
		name := fmt.Sprintf("cluster-%05d", (i*7919)%n)
		g := i * 100 / n
		key := s.Groups[g]
		s.Where[name] = key
		w := &Work{ID: "v2", Revision: "v2", Admission: "t", Place: Place{"fleet", key}, MinSuccessTime: 20 * time.Second, Shape: "s",
			Stamps:  Stamps{AdmittedAt: epoch, ReadySeenAt: epoch, ReadyFor: "t|r|a", SoakedSeenAt: epoch.Add(21 * time.Second), DoneAt: epoch.Add(21 * time.Second), MemberSince: epoch},
			Verdict: Verdict{Admission: "t", Applied: true, Ready: true, ReadySince: "r", Soaked: 20 * time.Second, SoakedKnown: true}}
		if g >= 50 {
			w.ID, w.Revision = "v1", "v1"
		}
		in.Clusters = append(in.Clusters, Cluster{Name: name, Exists: true, Available: true, AvailableSince: "a", AddOn: AddOnPresent,
			Selected: true, DesiredID: "v2", DesiredShape: "s", Work: w})
	}
	// The hub's input is in name order.
	slices.SortFunc(in.Clusters, func(a, b Cluster) int { return cmp.Compare(a.Name, b.Name) })
	in.Views["app/fleet"] = Observe(nil, s, testSettle, epoch)
	return in, now
}

// benchStrategies are those that bigFleet is planned with: in the middle of a rollout,
// with one group or queue that is worked on.
func benchStrategies() []Strategy {
	all, queue := Strategy{Type: All}, queueOf("200", "0")
	return []Strategy{all, queue, perGroup("0"), eachGroup(perGroup("0"), "50%")}
}

// BenchmarkPlan prints the time of one whole plan at several sizes, and per cluster:
// the time per cluster at 10,000 is to be at most twice that at 1,000.
func BenchmarkPlan(b *testing.B) {
	for _, s := range benchStrategies() {
		name := string(s.Type)
		if s.GroupConcurrency != nil {
			name += "-limited"
		}
		before := 0.0
		for _, n := range []int{100, 1_000, 10_000} {
			b.Run(fmt.Sprintf("%s/clusters=%d", name, n), func(b *testing.B) {
				in, now := bigFleet(n)
				in.Source.Lanes[0].Strategy = s
				for i := range in.Clusters {
					in.Clusters[i].Work.MinSuccessTime = in.Source.Lanes[0].soakOfAll()
				}
				perCluster := measure(b, func() bool { return len(Plan(in, now).Admit) > 0 }) / float64(n)
				b.ReportMetric(perCluster, "cpu-ns/cluster")
				if before > 0 {
					b.ReportMetric(perCluster/before, "times-smaller-fleet")
				}
				before = perCluster
			})
		}
	}
}

// soakOfAll is the minSuccessTime of a lane whose groups have no settings.
func (l *LaneSpec) soakOfAll() time.Duration {
	if l.Strategy.Type == All {
		return 0
	}
	return l.Strategy.MinSuccessTime
}

// cpuTime of the process: the wall clock also counts what else the machine does.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkObserve prints the time to take in one snapshot.
func BenchmarkObserve(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000} {
		b.Run(fmt.Sprintf("clusters=%d", n), func(b *testing.B) {
			in, now := bigFleet(n)
			v := in.Views["app/fleet"]
			b.ReportAllocs()
			for b.Loop() {
				Observe(v, v.Snapshot, testSettle, now)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/cluster")
		})
	}
}

// partitionFleet is n clusters in ten automatic partitions, the first half of which are
// on the desired id.
func partitionFleet(n int) (Input, time.Time) {
	in, now := bigFleet(n)
	tenth, ten := intstr.FromString("10%"), 10
	in.Source = Source{Name: bundleSource, Lanes: []LaneSpec{partitionLane(&Partitions{
		Limits: Limits{MaxUnavailable: &tenth}, AutoSize: &tenth, AutoThreshold: &ten,
	})}}
	in.Views, in.Record.Groups, in.Record.Cuts = nil, nil, []PartitionCut{{Lane: DefaultLane, Clusters: n, Size: n / 10}}
	slices.SortFunc(in.Clusters, func(a, b Cluster) int { return cmp.Compare(a.Name, b.Name) })
	keys := in.Source.Lanes[0].Partitions.keys(in.Record.Cuts[0])
	for i := range in.Clusters {
		w := in.Clusters[i].Work
		w.Place, w.MinSuccessTime = Place{DefaultLane, keys[i*10/n]}, 0
		if w.ID, w.Revision = "v2", "v2"; i >= n/2 {
			w.ID, w.Revision = "v1", "v1"
		}
	}
	rand.New(rand.NewSource(1)).Shuffle(n, func(i, j int) { in.Clusters[i], in.Clusters[j] = in.Clusters[j], in.Clusters[i] })
	return in, now
}

// BenchmarkPlanPartitions prints the time of one plan of a lane of partitions.
func BenchmarkPlanPartitions(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000} {
		b.Run(fmt.Sprintf("clusters=%d", n), func(b *testing.B) {
			in, now := partitionFleet(n)
			b.ReportAllocs()
			start := cpuTime(b)
			for b.Loop() {
				if r := Plan(in, now); len(r.Admit) == 0 || len(r.Refresh) > 0 {
					b.Fatalf("admitted %d, refreshed %d: %s", len(r.Admit), len(r.Refresh), r.Sentence)
				}
			}
			perPlan := float64(cpuTime(b)-start) / float64(b.N)
			b.ReportMetric(perPlan/1e6, "cpu-ms/op")
			b.ReportMetric(perPlan/float64(n), "cpu-ns/cluster")
		})
	}
}
