package ocm

import (
	"context"
	_ "embed"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"

	"open-cluster-management.io/fleet-addon/test/env/internal/controlplane"
	"open-cluster-management.io/fleet-addon/test/env/internal/manifest"
	"open-cluster-management.io/fleet-addon/test/env/internal/process"
)

// HubPortNames are the ports that the hub needs beside those of its control plane.
func HubPortNames() []string {
	return []string{"webhooks", "registration-controller", "placement-controller", "work-manager", "addon-manager"}
}

const hubNamespace = "open-cluster-management-hub"

//go:embed hub.yaml
var hubObjects string

var crdKind = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}

// Hub is the hub side.
type Hub struct {
	Plane      controlplane.Cluster
	Applier    *manifest.Applier
	Clients    kubernetes.Interface
	ClusterSet string
}

// InstallCRDs applies the hub's CRDs, with conversion by our webhook process, and waits until they are served.
func (h Hub) InstallCRDs(ctx context.Context) error {
	files, err := filepath.Glob(filepath.Join(h.Plane.Tools.Manifests, "crds", "*.yaml"))
	if err != nil {
		return err
	}
	return installCRDs(ctx, h.Applier, files, h.templateData(), h.rewire)
}

func installCRDs(ctx context.Context, applier *manifest.Applier, files []string, data any, rewire func(*unstructured.Unstructured) error) error {
	var all []*unstructured.Unstructured
	for _, file := range files {
		objects, err := manifest.RenderFile(file, data)
		if err != nil {
			return err
		}
		for _, object := range objects {
			if err := rewire(object); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
		}
		all = append(all, objects...)
	}
	if err := applier.Apply(ctx, all...); err != nil {
		return err
	}
	for _, crd := range all {
		err := manifest.Poll(ctx, "CRD "+crd.GetName(), time.Minute, func(ctx context.Context) (bool, error) {
			got, err := applier.Get(ctx, crdKind, "", crd.GetName())
			return err == nil && manifest.ConditionTrue(got, "Established"), err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// InstallWebhooks applies the webhook configurations; the webhook process must serve already, they fail closed.
func (h Hub) InstallWebhooks(ctx context.Context) error {
	var files []string
	for _, dir := range []string{"registration", "work"} {
		found, err := filepath.Glob(filepath.Join(h.Plane.Tools.Manifests, dir, "webhook-*configuration.yaml"))
		if err != nil {
			return err
		}
		files = append(files, found...)
	}
	for _, file := range files {
		objects, err := manifest.RenderFile(file, h.templateData())
		if err != nil {
			return err
		}
		for _, object := range objects {
			if err := h.rewire(object); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
		}
		if err := h.Applier.Apply(ctx, objects...); err != nil {
			return err
		}
	}
	return nil
}

// InstallObjects applies namespaces, the identity that clusters bootstrap with, and the ManagedClusterSet.
func (h Hub) InstallObjects(ctx context.Context) error {
	objects, err := manifest.Render("hub.yaml", hubObjects, map[string]string{"ClusterSet": h.ClusterSet})
	if err != nil {
		return err
	}
	return h.Applier.Apply(ctx, objects...)
}

// Webhooks is the process with all webhooks.
func (h Hub) Webhooks() process.Spec {
	return process.Spec{
		Name: "hub/webhooks", Path: h.Plane.Tools.Path("webhooks"), Log: h.Plane.Log("webhooks"), Dir: h.Plane.Dir,
		Args: []string{
			"--hub-kubeconfig=" + h.Plane.Kubeconfig(), "--certs=" + h.Plane.PKI.Dir(),
			fmt.Sprintf("--port=%d", h.Plane.Ports["webhooks"]),
		},
	}
}

// Controllers are OCM's hub controllers.
func (h Hub) Controllers() []process.Spec {
	var specs []process.Spec
	for _, c := range [][]string{
		{"registration", "controller", "--feature-gates=DefaultClusterSet=true"},
		{"placement", "controller"}, {"work", "manager"}, {"addon", "manager"},
	} {
		name := c[0] + "-" + c[1]
		args := append(c[1:],
			"--kubeconfig="+h.Plane.Kubeconfig(), "--namespace="+hubNamespace, "--disable-leader-election",
			fmt.Sprintf("--listen=127.0.0.1:%d", h.Plane.Ports[name]))
		specs = append(specs, process.Spec{
			Name: "hub/" + name, Path: h.Plane.Tools.Path(c[0]), Args: args, Log: h.Plane.Log(name), Dir: h.Plane.Dir,
		})
	}
	return specs
}

func (h Hub) templateData() map[string]any {
	return map[string]any{
		"Labels": map[string]string{}, "ClusterManagerNamespace": hubNamespace, "RegistrationWebhook": map[string]int{"Port": 0},
		"AddonAPIServiceCABundle": "", "RegistrationAPIServiceCABundle": "", "WorkAPIServiceCABundle": "",
	}
}

// rewire turns client configurations that name a Service into ones that name our process on loopback.
func (h Hub) rewire(object *unstructured.Unstructured) error {
	ca, err := h.Plane.PKI.CAData()
	if err != nil {
		return err
	}
	redirect := func(client map[string]any) {
		service, ok := client["service"].(map[string]any)
		if !ok {
			return
		}
		path, _ := service["path"].(string)
		delete(client, "service")
		client["url"] = fmt.Sprintf("https://127.0.0.1:%d/%s", h.Plane.Ports["webhooks"], strings.TrimPrefix(path, "/"))
		client["caBundle"] = encode(ca)
	}
	if client, ok, _ := unstructured.NestedFieldNoCopy(object.Object, "spec", "conversion", "webhook", "clientConfig"); ok {
		redirect(client.(map[string]any))
	}
	webhooks, _, _ := unstructured.NestedFieldNoCopy(object.Object, "webhooks")
	for w := range slices.Values(anySlice(webhooks)) {
		if client, ok := w.(map[string]any)["clientConfig"].(map[string]any); ok {
			redirect(client)
		}
	}
	return nil
}

func anySlice(v any) []any {
	s, _ := v.([]any)
	return s
}
