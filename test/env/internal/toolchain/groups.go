package toolchain

import (
	"fmt"
	"slices"
	"strings"
)

// Versions of what is built; tools/*/go.mod carry the same, and a test compares them.
const (
	KubernetesVersion = "v1.35.4"
	EtcdVersion       = "v3.6.16"
	KwokVersion       = "v0.7.0"
	OCMVersion        = "v1.2.1"
	FleetVersion      = "v0.16.0"
)

const (
	ocmModule   = "open-cluster-management.io/ocm"
	fleetModule = "github.com/rancher/fleet"
)

// group is what one tool module builds. The first program of a group compiles nearly all that the others need.
type group struct {
	module   string
	version  string
	dir      string // in the cache
	path     string // module path of what is built, as in go.mod
	programs []program
	stamps   []string
	// cold is the time a first build takes on two cores, for the progress line.
	cold string
	// apart is true for what an environment does without: it is built for those only who name it.
	apart bool
}

type program struct{ name, pkg string }

func groups() []group {
	return []group{
		{
			module: "etcd", version: EtcdVersion, path: "go.etcd.io/etcd/server/v3", cold: "1.5 min",
			programs: []program{{"etcd", "go.etcd.io/etcd/server/v3"}},
		},
		{
			module: "kube", version: KubernetesVersion, path: "k8s.io/kubernetes", cold: "6 min", stamps: kubernetesStamps(),
			programs: []program{
				{"kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"},
				{"kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager"},
				{"kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler"},
				{"kubectl", "k8s.io/kubernetes/cmd/kubectl"},
			},
		},
		{
			module: "ocm", version: OCMVersion, path: ocmModule, cold: "5.5 min",
			stamps: []string{ocmModule + "/pkg/version.versionFromGit=" + OCMVersion},
			programs: []program{
				{"registration", ocmModule + "/cmd/registration"},
				{"work", ocmModule + "/cmd/work"},
				{"placement", ocmModule + "/cmd/placement"},
				{"addon", ocmModule + "/cmd/addon"},
				{"webhooks", "./webhooks"},
			},
		},
		{
			module: "kwok", version: KwokVersion, path: "sigs.k8s.io/kwok", cold: "2 min",
			programs: []program{{"kwok", "sigs.k8s.io/kwok/cmd/kwok"}},
		},
		{
			module: "fleet", version: FleetVersion, path: fleetModule, cold: "3 min", apart: true,
			stamps:   []string{fleetModule + "/pkg/version.Version=" + FleetVersion},
			programs: []program{{"fleet", fleetModule + "/cmd/fleetcli"}},
		},
	}
}

// kubernetesStamps are the version variables: without them clients and servers believe to be v0.0.0.
func kubernetesStamps() []string {
	var stamps []string
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		for _, v := range [][2]string{
			{"gitVersion", KubernetesVersion}, {"gitMajor", "1"}, {"gitMinor", "35"}, {"gitTreeState", "clean"},
			{"buildDate", "1970-01-01T00:00:00Z"},
		} {
			stamps = append(stamps, fmt.Sprintf("%s.%s=%s", pkg, v[0], v[1]))
		}
	}
	return stamps
}

// chosen are the groups of these names; without a name those that an environment needs.
func chosen(names []string) ([]group, error) {
	all := groups()
	if len(names) == 0 {
		return slices.DeleteFunc(all, func(g group) bool { return g.apart }), nil
	}
	var known []string
	for _, g := range all {
		known = append(known, g.module)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("nothing to build is called %q: there are %s", name, strings.Join(known, ", "))
		}
	}
	return slices.DeleteFunc(all, func(g group) bool { return !slices.Contains(names, g.module) }), nil
}
