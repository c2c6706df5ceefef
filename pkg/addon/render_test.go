package addon

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
)

// maxWork is what the framework puts into one ManifestWork at most.
const maxWork = 400 * 1024

// render the agent's chart for cluster dev the way the framework does.
func render(t *testing.T, spec map[string]any) map[string]runtime.Object {
	t.Helper()
	config, addon, configs := newConfig(spec), newAddon(), newConfigs()
	configs.OnAdd(config, true)
	follow(t, addon, config)
	agent, err := newAgentAddon(configs, defaultImage, nil)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := agent.Manifests(context.Background(), newCluster(nil), addon)
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]runtime.Object{}
	for _, object := range objects {
		accessor, err := meta.Accessor(object)
		if err != nil {
			t.Fatal(err)
		}
		byName[object.GetObjectKind().GroupVersionKind().Kind+" "+accessor.GetName()] = object
	}
	return byName
}

func deployment(t *testing.T, objects map[string]runtime.Object) *appsv1.Deployment {
	t.Helper()
	d, ok := objects["Deployment fleet-addon-agent"].(*appsv1.Deployment)
	if !ok {
		t.Fatalf("no Deployment among %v", objects)
	}
	return d
}

func TestRenderDefaults(t *testing.T) {
	objects := render(t, variables("version", "0.1.0", "logLevel", "debug", "statusInterval", "45s"))

	var names []string
	size := 0
	for name, object := range objects {
		names = append(names, name)
		raw, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		size += len(raw)
	}
	want := []string{
		"ClusterRole open-cluster-management:fleet-addon:work",
		"ClusterRoleBinding open-cluster-management:fleet-addon:agent",
		"CustomResourceDefinition bundledeployments.fleet.open-cluster-management.io",
		"Deployment fleet-addon-agent",
		"ServiceAccount fleet-addon-agent",
	}
	if diff := cmp.Diff(want, names, sorted); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
	if size > maxWork {
		t.Errorf("the agent takes %d bytes, one ManifestWork holds %d", size, maxWork)
	}

	d := deployment(t, objects)
	if d.Namespace != "open-cluster-management-agent-addon" {
		t.Errorf("namespace %q", d.Namespace)
	}
	container := d.Spec.Template.Spec.Containers[0]
	if container.Image != defaultImage {
		t.Errorf("image %q", container.Image)
	}
	if diff := cmp.Diff([]string{
		"--hub-kubeconfig=/var/run/hub/kubeconfig", "--cluster-name=dev",
		"--metrics-bind-address=:8080", "--health-probe-bind-address=:8081",
		"--log-level=debug", "--report-interval=45s",
	}, container.Args); diff != "" {
		t.Errorf("args (-want +got):\n%s", diff)
	}
	if got := container.Resources.Requests.Memory().String(); got != "96Mi" {
		t.Errorf("requested memory %s", got)
	}
	if got := d.Spec.Template.Spec.Volumes[0].Secret.SecretName; got != "fleet-hub-kubeconfig" {
		t.Errorf("Secret %q", got)
	}
	restricted(t, d.Spec.Template.Spec)
}

// What must outlive the agent, and what makes the work agent able to serve it.
func TestRenderWhatOutlivesTheAgent(t *testing.T) {
	objects := render(t, map[string]any{"agentInstallNamespace": "agents"})
	for _, name := range []string{
		"CustomResourceDefinition bundledeployments.fleet.open-cluster-management.io",
		"ClusterRole open-cluster-management:fleet-addon:work",
		"Namespace agents",
	} {
		accessor, err := meta.Accessor(objects[name])
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, orphan := accessor.GetAnnotations()[addonv1beta1.DeletionOrphanAnnotationKey]; !orphan {
			t.Errorf("%s would be deleted with the agent", name)
		}
	}
	role := objects["ClusterRole open-cluster-management:fleet-addon:work"].(*rbacv1.ClusterRole)
	if role.Labels["open-cluster-management.io/aggregate-to-work"] != "true" {
		t.Errorf("labels %v", role.Labels)
	}
	if d := deployment(t, objects); d.Namespace != "agents" {
		t.Errorf("namespace %q", d.Namespace)
	}
}

func TestRenderConfig(t *testing.T) {
	objects := render(t, map[string]any{
		"nodePlacement": map[string]any{
			"nodeSelector": map[string]any{"disk": "ssd"},
			"tolerations":  []any{map[string]any{"key": "infra", "operator": "Exists"}},
		},
		"proxyConfig": map[string]any{
			"httpProxy": "http://proxy:3128", "httpsProxy": "https://proxy:3128", "noProxy": "10.0.0.0/8",
			"caBundle": "Q0E=",
		},
		"registries": []any{map[string]any{"source": "quay.io/open-cluster-management", "mirror": "mirror.example.com"}},
		"resourceRequirements": []any{
			map[string]any{"containerID": "*:*:*", "resources": map[string]any{"limits": map[string]any{"memory": "1Gi"}}},
			map[string]any{"containerID": "deployments:fleet-addon-agent:agent", "resources": map[string]any{"limits": map[string]any{"memory": "2Gi"}}},
			map[string]any{"containerID": "deployments:other:*", "resources": map[string]any{"limits": map[string]any{"memory": "3Gi"}}},
		},
	})
	pod := deployment(t, objects).Spec.Template.Spec
	container := pod.Containers[0]

	if diff := cmp.Diff(map[string]string{"disk": "ssd"}, pod.NodeSelector); diff != "" {
		t.Errorf("node selector (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]corev1.Toleration{{Key: "infra", Operator: corev1.TolerationOpExists}}, pod.Tolerations); diff != "" {
		t.Errorf("tolerations (-want +got):\n%s", diff)
	}
	if container.Image != "mirror.example.com/fleet-addon:0.1.0" {
		t.Errorf("image %q", container.Image)
	}
	if got := container.Resources.Limits.Memory().String(); got != "2Gi" {
		t.Errorf("memory limit %s, want that of the last match, 2Gi", got)
	}
	env := map[string]string{}
	for _, e := range container.Env {
		env[e.Name] = e.Value
	}
	if diff := cmp.Diff(map[string]string{
		"HOME": "/tmp", "POD_NAMESPACE": "", "SSL_CERT_DIR": "/etc/ssl/certs:/var/run/proxy-ca",
		"HTTP_PROXY": "http://proxy:3128", "HTTPS_PROXY": "https://proxy:3128", "NO_PROXY": "10.0.0.0/8",
	}, env); diff != "" {
		t.Errorf("env (-want +got):\n%s", diff)
	}
	ca := objects["ConfigMap fleet-addon-agent-proxy-ca"].(*corev1.ConfigMap)
	if strings.TrimSpace(ca.Data["ca.crt"]) != "CA" {
		t.Errorf("proxy CA %q", ca.Data["ca.crt"])
	}
}

// Each part alone: what is not set keeps the chart's default.
func TestRenderPartsOfAConfig(t *testing.T) {
	for name, spec := range map[string]map[string]any{
		"nothing":         {},
		"tolerations":     {"nodePlacement": map[string]any{"tolerations": []any{map[string]any{"operator": "Exists"}}}},
		"a node selector": {"nodePlacement": map[string]any{"nodeSelector": map[string]any{"disk": "ssd"}}},
		"one proxy":       {"proxyConfig": map[string]any{"httpProxy": "http://proxy:3128"}},
		"requests": {"resourceRequirements": []any{map[string]any{
			"containerID": "*:*:*", "resources": map[string]any{"requests": map[string]any{"cpu": "1"}},
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			if d := deployment(t, render(t, spec)); d.Spec.Template.Spec.Containers[0].Image != defaultImage {
				t.Errorf("image %q", d.Spec.Template.Spec.Containers[0].Image)
			}
		})
	}
}

// restricted is what the Pod Security Standard of that name asks for.
func restricted(t *testing.T, pod corev1.PodSpec) {
	t.Helper()
	if pod.SecurityContext == nil || pod.SecurityContext.RunAsNonRoot == nil || !*pod.SecurityContext.RunAsNonRoot ||
		pod.SecurityContext.SeccompProfile == nil || pod.SecurityContext.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
		t.Errorf("the pod is not restricted: %v", pod.SecurityContext)
	}
	for _, c := range pod.Containers {
		s := c.SecurityContext
		if s == nil || s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation ||
			s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem ||
			s.Capabilities == nil || len(s.Capabilities.Drop) != 1 || s.Capabilities.Drop[0] != "ALL" {
			t.Errorf("container %s is not restricted: %v", c.Name, s)
		}
	}
}
