// Package charts tests the hub chart as Helm renders it, without a cluster.
package charts

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/fleet-addon/manifests"
	"open-cluster-management.io/fleet-addon/pkg/addon"
	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

func load(t *testing.T) *chart.Chart {
	t.Helper()
	c, err := loader.LoadDir("fleet-addon")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// render returns the chart's objects by "Kind name", hooks included.
func render(t *testing.T, values string) map[string]*unstructured.Unstructured {
	t.Helper()
	objects, err := tryRender(load(t), values)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

func tryRender(c *chart.Chart, values string) (map[string]*unstructured.Unstructured, error) {
	given, err := chartutil.ReadValues([]byte(values))
	if err != nil {
		return nil, err
	}
	all, err := chartutil.ToRenderValues(c, given, chartutil.ReleaseOptions{
		Name: "fleet-addon", Namespace: "ocm", IsInstall: true, Revision: 1,
	}, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	files, err := engine.Engine{Strict: true}.Render(c, all)
	if err != nil {
		return nil, err
	}
	objects := map[string]*unstructured.Unstructured{}
	for name, content := range files {
		if strings.HasSuffix(name, "NOTES.txt") {
			continue
		}
		decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewBufferString(content), 4096)
		for {
			object := &unstructured.Unstructured{}
			err := decoder.Decode(object)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			if len(object.Object) > 0 {
				objects[object.GetKind()+" "+object.GetName()] = object
			}
		}
	}
	return objects, nil
}

func as[T any](t *testing.T, objects map[string]*unstructured.Unstructured, name string) *T {
	t.Helper()
	object, found := objects[name]
	if !found {
		t.Fatalf("no %s", name)
	}
	raw, err := object.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	typed := new(T)
	if err := yaml.UnmarshalStrict(raw, typed); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return typed
}

const (
	manager     = "Deployment fleet-addon-manager"
	agentConfig = "AddOnDeploymentConfig fleet-agent-0.1.0"
)

func TestVersionsAgree(t *testing.T) {
	agent, err := addon.Version()
	if err != nil {
		t.Fatal(err)
	}
	meta := load(t).Metadata
	if meta.Version != agent || meta.AppVersion != agent {
		t.Errorf("the chart is %s of %s, the agent's chart %s", meta.Version, meta.AppVersion, agent)
	}
}

func TestCRDs(t *testing.T) {
	objects := render(t, "")
	var names []string
	for name, object := range objects {
		if object.GetKind() != "CustomResourceDefinition" {
			continue
		}
		names = append(names, object.GetName())
		if object.GetAnnotations()["helm.sh/resource-policy"] != "keep" {
			t.Errorf("%s would be deleted with the chart, and with it all its objects", name)
		}
		if group, _, _ := unstructured.NestedString(object.Object, "spec", "group"); group == "" {
			t.Errorf("%s has no group", name)
		}
	}
	slices.Sort(names)
	if diff := cmp.Diff([]string{
		"bundlenamespacemappings.fleet.cattle.io", "bundles.fleet.cattle.io", "clustergroups.fleet.cattle.io",
		"contents.fleet.open-cluster-management.io", "rolloutpolicies.fleet.open-cluster-management.io",
		"rollouts.fleet.open-cluster-management.io",
	}, names); diff != "" {
		t.Errorf("CRDs (-want +got):\n%s", diff)
	}
}

// `make generate` copies; a file changed by hand or forgotten shows here.
func TestCRDsAreTheGeneratedOnes(t *testing.T) {
	err := fs.WalkDir(manifests.CRDs, "crds", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		generated, err := manifests.CRDs.ReadFile(path)
		if err != nil {
			return err
		}
		copied := filepath.Join("fleet-addon/files/crds", entry.Name())
		want := string(generated)
		if strings.HasSuffix(path, "_bundledeployments.yaml") {
			copied = filepath.Join("../manifests/agent/crds", entry.Name())
			want = strings.Replace(want, "  annotations:\n",
				"  annotations:\n    "+addonv1beta1.DeletionOrphanAnnotationKey+": \"\"\n", 1)
		}
		got, err := os.ReadFile(copied)
		if err != nil {
			return err
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s is not what is generated (-want +got):\n%s", copied, diff)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The same CRD must come out of the template as went in, but for its metadata.
func TestCRDsSurviveTheTemplate(t *testing.T) {
	objects := render(t, "")
	for _, name := range []string{"fleet.cattle.io_bundles", "fleet.open-cluster-management.io_rolloutpolicies"} {
		raw, err := manifests.CRDs.ReadFile("crds/" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		want := &unstructured.Unstructured{}
		if err := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(raw), 4096).Decode(want); err != nil {
			t.Fatal(err)
		}
		got := objects["CustomResourceDefinition "+want.GetName()]
		if diff := cmp.Diff(want.Object["spec"], got.Object["spec"]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestNoWildcards(t *testing.T) {
	for name, object := range render(t, "") {
		if kind := object.GetKind(); kind != "ClusterRole" && kind != "Role" {
			continue
		}
		role := &rbacv1.ClusterRole{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, role); err != nil {
			t.Fatal(err)
		}
		if len(role.Rules) == 0 {
			t.Errorf("%s grants nothing", name)
		}
		for _, rule := range role.Rules {
			for _, value := range slices.Concat(rule.APIGroups, rule.Resources, rule.Verbs, rule.ResourceNames) {
				if strings.Contains(value, "*") {
					t.Errorf("%s: %v", name, rule)
				}
			}
		}
	}
}

func TestWhatTheManagerMayNot(t *testing.T) {
	role := as[rbacv1.ClusterRole](t, render(t, ""), "ClusterRole open-cluster-management:fleet-addon:manager")
	for _, rule := range role.Rules {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				switch {
				case resource == "secrets" && !slices.Contains([]string{"get", "create", "delete"}, verb),
					slices.Contains([]string{"escalate", "bind", "impersonate", "deletecollection"}, verb),
					resource == "bundles" && verb != "get" && verb != "list" && verb != "watch":
					t.Errorf("may %s %s", verb, resource)
				}
			}
		}
	}
}

func TestAgentsMayGetContents(t *testing.T) {
	objects := render(t, "")
	role := as[rbacv1.ClusterRole](t, objects, "ClusterRole open-cluster-management:fleet-addon:agents")
	if diff := cmp.Diff([]rbacv1.PolicyRule{{
		APIGroups: []string{v1alpha1.GroupName}, Resources: []string{"contents"}, Verbs: []string{"get"},
	}}, role.Rules); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	binding := as[rbacv1.ClusterRoleBinding](t, objects, "ClusterRoleBinding open-cluster-management:fleet-addon:agents")
	if diff := cmp.Diff([]rbacv1.Subject{{
		APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "system:open-cluster-management:addon:fleet",
	}}, binding.Subjects); diff != "" {
		t.Errorf("subjects (-want +got):\n%s", diff)
	}
}

func TestPods(t *testing.T) {
	objects := render(t, `
replicas: 2
image: {repository: example.com/fleet-addon, tag: "7"}
imagePullPolicy: Always
imagePullSecrets: [{name: pull}]
logLevel: debug
settleTime: 1s
removalGrace: 2s
revisionHistoryLimit: 3
uninstallDeadline: 3s
resources: {limits: {memory: 3Gi}}
nodeSelector: {disk: ssd}
tolerations: [{operator: Exists}]
affinity: {nodeAffinity: {}}
priorityClassName: high
podAnnotations: {a: b}
podLabels: {c: d}
`)
	deployment := as[appsv1.Deployment](t, objects, manager)
	if *deployment.Spec.Replicas != 2 {
		t.Errorf("%d replicas", *deployment.Spec.Replicas)
	}
	pod := deployment.Spec.Template
	if diff := cmp.Diff([]string{
		"--agent-image=example.com/fleet-addon:7", "--settle-time=1s", "--removal-grace=2s",
		"--revision-history-limit=3", "--log-level=debug",
		"--metrics-bind-address=:8080", "--health-probe-bind-address=:8081",
	}, pod.Spec.Containers[0].Args); diff != "" {
		t.Errorf("manager's args (-want +got):\n%s", diff)
	}
	if pod.Labels["c"] != "d" || pod.Annotations["a"] != "b" || pod.Spec.Affinity == nil {
		t.Errorf("pod %v", pod)
	}
	for key, value := range deployment.Spec.Selector.MatchLabels {
		if pod.Labels[key] != value {
			t.Errorf("the Deployment does not select its pods: %s", key)
		}
	}
	job := as[batchv1.Job](t, objects, "Job fleet-addon-uninstall")
	if diff := cmp.Diff([]string{"--deadline=3s"}, job.Spec.Template.Spec.Containers[0].Args); diff != "" {
		t.Errorf("Job's args (-want +got):\n%s", diff)
	}
	for name, spec := range map[string]corev1.PodSpec{"manager": pod.Spec, "uninstall": job.Spec.Template.Spec} {
		c := spec.Containers[0]
		if c.Image != "example.com/fleet-addon:7" || c.ImagePullPolicy != corev1.PullAlways {
			t.Errorf("%s: image %s, %s", name, c.Image, c.ImagePullPolicy)
		}
		if spec.NodeSelector["disk"] != "ssd" || len(spec.Tolerations) != 1 || spec.PriorityClassName != "high" {
			t.Errorf("%s: node placement %v", name, spec)
		}
		if !*spec.SecurityContext.RunAsNonRoot || !*c.SecurityContext.ReadOnlyRootFilesystem ||
			*c.SecurityContext.AllowPrivilegeEscalation || c.SecurityContext.Capabilities.Drop[0] != "ALL" {
			t.Errorf("%s is not restricted", name)
		}
	}
	for _, name := range []string{"ServiceAccount fleet-addon-manager", "ServiceAccount fleet-addon-uninstall"} {
		if account := as[corev1.ServiceAccount](t, objects, name); account.ImagePullSecrets[0].Name != "pull" {
			t.Errorf("%s: %v", name, account.ImagePullSecrets)
		}
	}
}

func TestImages(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0", 64)
	for name, tc := range map[string]struct{ values, wantManager, wantAgent string }{
		"the chart's version": {
			"", "quay.io/open-cluster-management/fleet-addon:0.1.0", "quay.io/open-cluster-management/fleet-addon:0.1.0",
		},
		"a digest wins": {
			"image: {tag: x, digest: '" + digest + "'}", "quay.io/open-cluster-management/fleet-addon@" + digest,
			"quay.io/open-cluster-management/fleet-addon@" + digest,
		},
		"another agent": {
			"agent: {image: 'example.com/fleet-addon:9'}", "quay.io/open-cluster-management/fleet-addon:0.1.0", "example.com/fleet-addon:9",
		},
	} {
		t.Run(name, func(t *testing.T) {
			objects := render(t, tc.values)
			container := as[appsv1.Deployment](t, objects, manager).Spec.Template.Spec.Containers[0]
			if container.Image != tc.wantManager {
				t.Errorf("manager %s, want %s", container.Image, tc.wantManager)
			}
			if !slices.Contains(container.Args, "--agent-image="+tc.wantAgent) {
				t.Errorf("args %v", container.Args)
			}
			if got := variable(as[addonv1beta1.AddOnDeploymentConfig](t, objects, agentConfig), "image"); got != tc.wantAgent {
				t.Errorf("agent %s, want %s", got, tc.wantAgent)
			}
		})
	}
}

func variable(config *addonv1beta1.AddOnDeploymentConfig, name string) string {
	for _, v := range config.Spec.CustomizedVariables {
		if v.Name == name {
			return v.Value
		}
	}
	return ""
}

func TestAddOn(t *testing.T) {
	objects := render(t, `
placement:
  name: fleet
  namespace: fleet-system
  clusterSets: [fleet, edge]
  predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {x: y}}}}]
  decisionGroups:
    - {groupName: dev, groupClusterSelector: {labelSelector: {matchLabels: {environment: dev}}}}
    - {groupName: prod, groupClusterSelector: {labelSelector: {matchLabels: {environment: prod}}}}
rolloutStrategy: {type: ProgressivePerGroup, progressivePerGroup: {minSuccessTime: 1m, progressDeadline: 10m, maxFailures: 10%}}
agent:
  logLevel: warn
  statusInterval: 45s
  namespace: agents
  resources: {limits: {memory: 2Gi}}
  nodeSelector: {disk: ssd}
  tolerations: [{operator: Exists}]
  proxyConfig: {httpsProxy: "https://proxy:1", caBundle: Q0E=}
  registries: [{source: quay.io, mirror: example.com}]
`)
	cma := as[addonv1beta1.ClusterManagementAddOn](t, objects, "ClusterManagementAddOn fleet")
	if config := cma.Spec.DefaultConfigs[0]; config.Name != "fleet-agent-0.1.0" || config.Namespace != "ocm" {
		t.Errorf("default config %v", config)
	}
	placements := cma.Spec.InstallStrategy.Placements
	if len(placements) != 2 || placements[0].Name != "fleet-ungrouped" {
		t.Fatalf("placements %v: a cluster that changes its group would lose the add-on", placements)
	}
	strategy := placements[1]
	if strategy.Name != "fleet" || strategy.Namespace != "fleet-system" || strategy.RolloutStrategy.Type != "ProgressivePerGroup" ||
		strategy.RolloutStrategy.ProgressivePerGroup.MaxFailures.String() != "10%" {
		t.Errorf("install strategy %v", strategy)
	}

	config := as[addonv1beta1.AddOnDeploymentConfig](t, objects, agentConfig)
	if config.Annotations["helm.sh/resource-policy"] != "keep" {
		t.Error("an upgrade would delete the config that clusters still follow")
	}
	for name, want := range map[string]string{"version": "0.1.0", "logLevel": "warn", "statusInterval": "45s", "imagePullPolicy": "IfNotPresent"} {
		if got := variable(config, name); got != want {
			t.Errorf("variable %s is %q, want %q", name, got, want)
		}
	}
	spec := config.Spec
	if spec.AgentInstallNamespace != "agents" || spec.NodePlacement.NodeSelector["disk"] != "ssd" ||
		len(spec.NodePlacement.Tolerations) != 1 || spec.ProxyConfig.HTTPSProxy != "https://proxy:1" ||
		string(spec.ProxyConfig.CABundle) != "CA" || spec.Registries[0].Mirror != "example.com" ||
		spec.ResourceRequirements[0].Resources.Limits.Memory().String() != "2Gi" {
		t.Errorf("config %+v", spec)
	}

	placement := as[clusterv1beta1.Placement](t, objects, "Placement fleet")
	ungrouped := as[clusterv1beta1.Placement](t, objects, "Placement fleet-ungrouped")
	want := placement.Spec.DeepCopy()
	want.DecisionStrategy = clusterv1beta1.DecisionStrategy{}
	if diff := cmp.Diff(*want, ungrouped.Spec); diff != "" {
		t.Errorf("the ungrouped placement selects other clusters (-want +got):\n%s", diff)
	}
	if placement.Namespace != "fleet-system" || len(placement.Spec.Predicates) != 1 ||
		len(placement.Spec.DecisionStrategy.GroupStrategy.DecisionGroups) != 2 {
		t.Errorf("placement %+v", placement.Spec)
	}
	if diff := cmp.Diff([]string{"fleet", "edge"}, placement.Spec.ClusterSets); diff != "" {
		t.Errorf("cluster sets (-want +got):\n%s", diff)
	}
	for _, set := range placement.Spec.ClusterSets {
		if binding := objects["ManagedClusterSetBinding "+set]; binding == nil || binding.GetNamespace() != "fleet-system" {
			t.Errorf("ManagedClusterSet %s is not bound: %v", set, binding)
		}
	}
	var tolerated []string
	for _, toleration := range placement.Spec.Tolerations {
		tolerated = append(tolerated, toleration.Key)
	}
	if diff := cmp.Diff([]string{
		"cluster.open-cluster-management.io/unreachable", "cluster.open-cluster-management.io/unavailable",
	}, tolerated); diff != "" {
		t.Errorf("tolerations (-want +got):\n%s", diff)
	}
}

func TestAPlacementOfOnesOwn(t *testing.T) {
	objects := render(t, "placement: {create: false, name: mine, namespace: theirs}")
	for name, object := range objects {
		if kind := object.GetKind(); kind == "Placement" || kind == "ManagedClusterSetBinding" {
			t.Errorf("%s is rendered", name)
		}
	}
	cma := as[addonv1beta1.ClusterManagementAddOn](t, objects, "ClusterManagementAddOn fleet")
	if p := cma.Spec.InstallStrategy.Placements[0]; p.Name != "mine" || p.Namespace != "theirs" {
		t.Errorf("placement %v", p)
	}
}

// Everything that the uninstall needs has to be there before it runs, and to go after it.
func TestUninstallHook(t *testing.T) {
	hooks := 0
	for name, object := range render(t, "") {
		annotations := object.GetAnnotations()
		if !strings.Contains(name, "uninstall") {
			if annotations["helm.sh/hook"] != "" {
				t.Errorf("%s is a hook", name)
			}
			continue
		}
		hooks++
		if annotations["helm.sh/hook"] != "pre-delete" ||
			annotations["helm.sh/hook-delete-policy"] != "before-hook-creation,hook-succeeded" {
			t.Errorf("%s: %v", name, annotations)
		}
		if first := annotations["helm.sh/hook-weight"] != "0"; first == (object.GetKind() == "Job") {
			t.Errorf("%s has weight %s", name, annotations["helm.sh/hook-weight"])
		}
	}
	if hooks != 6 {
		t.Errorf("%d hooks, want 6", hooks)
	}
}

func TestLeaseNamesAgree(t *testing.T) {
	objects := render(t, "")
	for _, name := range []string{"Role fleet-addon-manager", "Role fleet-addon-uninstall"} {
		found := false
		for _, rule := range as[rbacv1.Role](t, objects, name).Rules {
			found = found || slices.Contains(rule.ResourceNames, addon.LeaseName)
		}
		if !found {
			t.Errorf("%s does not name Lease %s", name, addon.LeaseName)
		}
	}
}

func TestSchemaRefuses(t *testing.T) {
	for name, tc := range map[string]struct{ values, want string }{
		"an unknown value":         {"replica: 2", "additional properties 'replica' not allowed"},
		"an unknown nested value":  {"agent: {loglevel: debug}", "additional properties 'loglevel' not allowed"},
		"an unknown strategy part": {"rolloutStrategy: {type: All, all: {minSucessTime: 1m}}", "additional properties 'minSucessTime' not allowed"},
		"a strategy that is none":  {"rolloutStrategy: {type: Canary}", "value must be one of 'All', 'Progressive', 'ProgressivePerGroup'"},
		"a log level":              {"logLevel: trace", "value must be one of 'error', 'warn', 'info', 'debug'"},
		"a duration without unit":  {"settleTime: '10'", "settleTime"},
		"a number of replicas":     {"replicas: -1", "replicas"},
		"a digest":                 {"image: {digest: abc}", "digest"},
		"max failures":             {"rolloutStrategy: {type: All, all: {maxFailures: few}}", "maxFailures"},
		"max failures in quotes":   {"rolloutStrategy: {type: All, all: {maxFailures: '2'}}", "maxFailures"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tryRender(load(t), tc.values)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q in it", err, tc.want)
			}
		})
	}
}

// values.yaml names every value, so every value there has to be in the schema and to be explained.
func TestValuesAreExplained(t *testing.T) {
	raw, err := os.ReadFile("fleet-addon/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(raw), "#") {
		t.Error("values.yaml does not begin with an explanation")
	}
	if _, err := tryRender(load(t), string(raw)); err != nil {
		t.Errorf("the chart does not accept its own values: %v", err)
	}
}
