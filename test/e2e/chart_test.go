package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart/loader"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

// Where the chart is installed.
const (
	chartRelease   = "fleet-addon"
	chartNamespace = "fleet-system"
)

// Times that the chart is installed with. The grace is longer than the settle time, so that both can be told apart.
const (
	settleTime   = 2 * time.Second
	removalGrace = 25 * time.Second
)

// chartValues are the ones of a user, with short times, and with the agents in groups like the bundles.
func chartValues() map[string]any {
	var decisionGroups []any
	for _, name := range []string{"dev", "stg", "prod"} {
		decisionGroups = append(decisionGroups, map[string]any{"groupName": name, "groupClusterSelector": map[string]any{
			"labelSelector": map[string]any{"matchLabels": map[string]any{environmentLabel: name}}}})
	}
	values := map[string]any{
		"settleTime":        settleTime.String(),
		"removalGrace":      removalGrace.String(),
		"uninstallDeadline": "1m",
		"placement":         map[string]any{"clusterSets": []any{clusterSet}, "decisionGroups": decisionGroups},
		"rolloutStrategy":   map[string]any{"type": "ProgressivePerGroup"},
		"agent":             map[string]any{"statusInterval": "5s"},
	}
	if image := os.Getenv("FLEET_E2E_IMAGE"); image != "" {
		colon := strings.LastIndexByte(image, ':')
		values["image"] = map[string]any{"repository": image[:colon], "tag": image[colon+1:]}
	}
	return values
}

// hookOutput collects what the chart's hooks print.
type hookOutput struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (h *hookOutput) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(p)
}

func (h *hookOutput) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

func helm(out *hookOutput) *action.Configuration {
	GinkgoHelper()
	flags := genericclioptions.NewConfigFlags(false)
	namespace := chartNamespace
	flags.KubeConfig, flags.Namespace = &env.Hub.Kubeconfig, &namespace
	config := &action.Configuration{}
	Expect(config.Init(flags, chartNamespace, "secret", func(format string, args ...any) {
		fmt.Fprintf(GinkgoWriter, "helm: "+format+"\n", args...)
	})).To(Succeed())
	config.SetHookOutputFunc(func(_, _, _ string) io.Writer { return out })
	return config
}

// installChart is `helm install`, with what the README says.
func installChart(ctx context.Context) {
	GinkgoHelper()
	chart, err := loader.Load(filepath.Join("..", "..", "charts", "fleet-addon"))
	Expect(err).NotTo(HaveOccurred())
	install := action.NewInstall(helm(&hookOutput{}))
	install.ReleaseName, install.Namespace, install.CreateNamespace = chartRelease, chartNamespace, true
	install.Wait, install.Timeout = true, 2*time.Minute
	_, err = install.RunWithContext(ctx, chart, chartValues())
	Expect(err).NotTo(HaveOccurred(), "helm install")
}

// uninstallChart is `helm uninstall --wait`. It returns what Helm shows.
func uninstallChart() string {
	GinkgoHelper()
	out := &hookOutput{}
	uninstall := action.NewUninstall(helm(out))
	uninstall.Wait, uninstall.Timeout = true, 4*time.Minute
	response, err := uninstall.Run(chartRelease)
	GinkgoWriter.Printf("helm uninstall: %s\n", out)
	Expect(err).NotTo(HaveOccurred(), "helm uninstall")
	return out.String() + response.Info
}

// awaitAgents waits until the add-on is there on all clusters.
func awaitAgents(ctx context.Context) {
	GinkgoHelper()
	for _, name := range every {
		Eventually(ctx, func(g Gomega, ctx context.Context) {
			addon := &addonv1beta1.ManagedClusterAddOn{}
			g.Expect(hub.Get(ctx, types.NamespacedName{Namespace: name, Name: v1alpha1.AddOnName}, addon)).To(Succeed())
			g.Expect(addon.DeletionTimestamp.IsZero()).To(BeTrue())
			g.Expect(meta.IsStatusConditionTrue(addon.Status.Conditions, addonv1beta1.ManagedClusterAddOnConditionAvailable)).
				To(BeTrue(), "%s: %v", name, addon.Status.Conditions)
		}).WithTimeout(3*patience).Should(Succeed(), "the agent of %s", name)
	}
}
