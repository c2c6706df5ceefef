package env

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// ClusterSpec is a managed cluster to be: its name, and the labels of its ManagedCluster.
type ClusterSpec struct {
	Name   string            `json:"name"`
	Labels map[string]string `json:"labels,omitempty"`
}

// DefaultClusters are dev, stg and prod, each labelled environment=<name>.
func DefaultClusters() []ClusterSpec {
	var clusters []ClusterSpec
	for _, name := range []string{"dev", "stg", "prod"} {
		clusters = append(clusters, ClusterSpec{Name: name, Labels: map[string]string{"environment": name}})
	}
	return clusters
}

// ParseCluster reads NAME[:KEY=VALUE[,KEY=VALUE...]], such as dev1:environment=dev.
func ParseCluster(text string) (ClusterSpec, error) {
	name, rest, labelled := strings.Cut(text, ":")
	spec := ClusterSpec{Name: name}
	if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
		return spec, fmt.Errorf("cluster %q: the name %s", text, strings.Join(problems, "; "))
	}
	if name == HubName {
		return spec, fmt.Errorf("cluster %q: that is the name of the hub, take another", text)
	}
	if !labelled {
		return spec, nil
	}
	spec.Labels = map[string]string{}
	for pair := range strings.SplitSeq(rest, ",") {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			return spec, fmt.Errorf("cluster %q: label %q is not KEY=VALUE", text, pair)
		}
		problems := slices.Concat(validation.IsQualifiedName(key), validation.IsValidLabelValue(value))
		if len(problems) > 0 {
			return spec, fmt.Errorf("cluster %q: label %q: %s", text, pair, strings.Join(problems, "; "))
		}
		spec.Labels[key] = value
	}
	return spec, nil
}

// ParseClusters reads a list and refuses a name that comes twice.
func ParseClusters(texts []string) ([]ClusterSpec, error) {
	var clusters []ClusterSpec
	seen := map[string]bool{}
	for _, text := range texts {
		spec, err := ParseCluster(text)
		if err != nil {
			return nil, err
		}
		if seen[spec.Name] {
			return nil, fmt.Errorf("cluster %q is named twice", spec.Name)
		}
		seen[spec.Name] = true
		clusters = append(clusters, spec)
	}
	return clusters, nil
}

// String is the form that ParseCluster reads.
func (c ClusterSpec) String() string {
	var pairs []string
	for _, key := range slices.Sorted(maps.Keys(c.Labels)) {
		pairs = append(pairs, key+"="+c.Labels[key])
	}
	if len(pairs) == 0 {
		return c.Name
	}
	return c.Name + ":" + strings.Join(pairs, ",")
}
