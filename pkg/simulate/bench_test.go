package simulate

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
)

// hundredGroups is a policy with a hundred groups, 10,000 clusters, and an update.
func hundredGroups(outcome string) string {
	var groups, clusters strings.Builder
	for g := range 100 {
		fmt.Fprintf(&groups, "      - {groupName: g%02d, groupClusterSelector: {labelSelector: {matchLabels: {group: g%02d}}}}\n", g, g)
		fmt.Fprintf(&clusters, "  - {namePrefix: c%02d-, count: 100, labels: {group: g%02d}}\n", g, g)
	}
	return `
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: p, namespace: app}
spec:
  decisionStrategy:
    groupStrategy:
      decisionGroups:
` + groups.String() + "---\n" + policyOf("{name: p, rolloutStrategy: {type: ProgressivePerGroup, progressivePerGroup: {minSuccessTime: 1m, progressDeadline: 10m}}}") +
		"---\n" + bundleWeb + "---\n" + script1("\n  installed: v1\n  outcomes: ["+outcome+"]\n  clusters:\n"+clusters.String())
}

// partitioned is 10,000 clusters in Fleet's four partitions.
func partitioned(outcome string) string {
	return strings.Replace(bundleWeb, "spec: {", "spec: {rolloutStrategy: {autoPartitionSize: 25%, maxUnavailable: 10%}, ", 1) +
		"---\n" + script1("{installed: v1, outcomes: ["+outcome+"], clusters: [{namePrefix: c, count: 10000}]}")
}

// BenchmarkRun prints the time of whole simulations of 10,000 clusters.
func BenchmarkRun(b *testing.B) {
	for _, tc := range []struct{ name, files string }{
		{"groups=100/after=30s", hundredGroups("{after: 30s}")},
		{"groups=100/spread=20s", hundredGroups("{after: 30s, spread: 20s}")},
		{"partitions=4/after=30s", partitioned("{after: 30s}")},
		{"partitions=4/spread=20s", partitioned("{after: 30s, spread: 20s}")},
	} {
		b.Run(tc.name, func(b *testing.B) {
			b.ReportAllocs()
			plans, start := 0, cpuTime(b)
			for b.Loop() {
				s, err := load(b, tc.files)
				if err != nil {
					b.Fatal(err)
				}
				r, err := s.Run(context.Background(), Options{})
				if err != nil || r.End != EndComplete || r.Counts.Done != 10_000 {
					b.Fatalf("%v: %s", err, r.Headline())
				}
				plans = r.Plans
			}
			b.ReportMetric(float64(plans), "plans/op")
			b.ReportMetric((cpuTime(b)-start).Seconds()/float64(b.N), "cpu-s/op")
		})
	}
}

// cpuTime of the process: the wall clock also counts what else the machine does.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
