package target

import (
	"fmt"
	"testing"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
)

const (
	benchBundles  = 1000
	benchClusters = 1000
)

// benchFleet is 1,000 clusters of three environments, and 1,000 bundles as a GitRepo
// makes them: a restriction, its target and a customization for each environment.
func benchFleet(b *testing.B, helm string) ([]*fleet.Bundle, []Group, []Cluster) {
	b.Helper()
	envs := []string{"dev", "stg", "prod"}
	clusters := make([]Cluster, benchClusters)
	for i := range clusters {
		clusters[i] = cluster(fmt.Sprintf("c%04d", i), envs[i%3])
		for j := range 10 {
			clusters[i].Labels[fmt.Sprintf("label-%d", j)] = "x"
		}
	}
	own := optionsOfBench(b, helm)
	bundles := make([]*fleet.Bundle, benchBundles)
	for i := range bundles {
		var targets []fleet.BundleTarget
		for _, env := range envs {
			targets = append(targets, fleet.BundleTarget{Name: env, ClusterSelector: is(env),
				BundleDeploymentOptions: optionsOfBench(b, `{values: {replicas: 3, image: {tag: "`+env+`"}}}`)})
		}
		bundles[i] = bundle(append(targets, fleet.BundleTarget{Name: "all", ClusterGroup: "all"})...)
		bundles[i].Name = fmt.Sprintf("b%04d", i)
		bundles[i].Spec.BundleDeploymentOptions = own
		bundles[i].Spec.TargetRestrictions = []fleet.BundleTargetRestriction{{Name: "all", ClusterGroup: "all"}}
	}
	all := clusterGroup("all", "", nil)
	all.Spec.Selector = everything
	return bundles, []Group{all, clusterGroup("early", "dev", nil)}, clusters
}

func optionsOfBench(b *testing.B, helm string) fleet.BundleDeploymentOptions {
	b.Helper()
	return options(b, `{helm: `+helm+`}`)
}

// One operation is 1,000 bundles x 1,000 clusters, or 50 bundles where every cluster gets
// something else; ns/pair is for one bundle on one cluster.
func BenchmarkTarget(b *testing.B) {
	const static = `chart: c, values: {replicas: 1, image: {repository: r, tag: t}, resources: {limits: {cpu: 1, memory: 1Gi}}, env: [{name: a, value: b}]`
	for _, bc := range []struct {
		name, helm string
		bundles    int
	}{
		{"static", "{" + static + "}}", benchBundles},
		{"labels", "{" + static + ", environment: global.fleet.clusterLabels.env}}", benchBundles},
		{"templates of labels", "{" + static + ", host: '${ .ClusterLabels.env }.example.com'}}", benchBundles},
		{"templates of names", "{" + static + ", host: '${ .ClusterName }.example.com'}}", 50},
		{"templateValues of names", "{" + static + "}, templateValues: {hosts: '[${ .ClusterName }.example.com]'}}", 50},
	} {
		b.Run(bc.name, func(b *testing.B) {
			bundles, groups, clusters := benchFleet(b, bc.helm)
			byName := make(map[string]*Cluster, len(clusters))
			for i := range clusters {
				byName[clusters[i].Name] = &clusters[i]
			}
			for b.Loop() {
				for _, bundle := range bundles[:bc.bundles] {
					matches, err := Select(bundle, groups, clusters)
					if err != nil || len(matches) != len(clusters) {
						b.Fatal(len(matches), err)
					}
					for i := range matches {
						if _, err := matches[i].Render(byName[matches[i].Cluster]); err != nil {
							b.Fatal(err)
						}
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(bc.bundles*benchClusters), "ns/pair")
		})
	}
}

// One operation asks 1,000 bundles whether one label of one cluster matters to them.
func BenchmarkAffected(b *testing.B) {
	bundles, groups, clusters := benchFleet(b, `{values: {host: '${ .ClusterLabels.env }.example.com'}}`)
	uses := make([]Uses, len(bundles))
	for i := range bundles {
		uses[i] = usesOf(bundles[i], groups)
	}
	changed := Cluster{Name: clusters[0].Name, Labels: map[string]string{"env": "dev", "label-0": "other"}}
	for i := 1; i < 10; i++ {
		changed.Labels[fmt.Sprintf("label-%d", i)] = "x"
	}
	for b.Loop() {
		for i := range uses {
			if uses[i].Affected(&clusters[0], &changed) {
				b.Fatal("affected by a label that no bundle asks for")
			}
		}
	}
}

// One operation finds out what of clusters a bundle depends on.
func BenchmarkUsesOf(b *testing.B) {
	bundles, groups, _ := benchFleet(b, `{values: {host: '${ .ClusterLabels.env }.example.com'}}`)
	for b.Loop() {
		if uses := usesOf(bundles[0], groups); uses.None() {
			b.Fatal("nothing")
		}
	}
}
