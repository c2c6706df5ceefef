package e2e

import (
	"context"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// agentDeployment is the agent on each cluster.
var agentDeployment = types.NamespacedName{Namespace: agentNamespace, Name: "fleet-addon-agent"}

func agentConfigSpecs() {
	It("go from dev to stg to prod", func(ctx context.Context) {
		cpu := resource.MustParse("37m")
		setAgentCPU(ctx, cpu)
		var order []string
		Eventually(ctx, func(g Gomega, ctx context.Context) {
			// The later groups first: what is seen of them is never newer than what is seen of the earlier ones.
			var seen []string
			for _, group := range slices.Backward(groups) {
				for _, name := range group {
					if agentCPU(ctx, g, name).Cmp(cpu) == 0 && !slices.Contains(order, name) {
						seen = append([]string{name}, seen...)
					}
				}
			}
			order = append(order, seen...)
			g.Expect(order).To(HaveLen(len(every)))
		}).WithTimeout(2 * patience).WithPolling(20 * time.Millisecond).Should(Succeed())
		place := func(name string) int { return slices.Index(order, name) }
		for _, name := range dev {
			Expect(place(name)).To(BeNumerically("<", place("stg")), "order %v", order)
		}
		Expect(place("stg")).To(BeNumerically("<", place("prod")), "order %v", order)
		awaitAgents(ctx)
	}, SpecTimeout(4*time.Minute))
}

// setAgentCPU changes the chart's AddOnDeploymentConfig, as an administrator would.
func setAgentCPU(ctx context.Context, cpu resource.Quantity) {
	GinkgoHelper()
	configs := &addonv1beta1.AddOnDeploymentConfigList{}
	Expect(hub.List(ctx, configs, client.InNamespace(chartNamespace))).To(Succeed())
	Expect(configs.Items).To(HaveLen(1))
	config := &configs.Items[0]
	before := config.DeepCopy()
	config.Spec.ResourceRequirements = []addonv1beta1.ContainerResourceRequirements{{
		ContainerID: "deployments:" + agentDeployment.Name + ":agent",
		Resources:   corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: cpu}},
	}}
	Expect(hub.Patch(ctx, config, client.MergeFrom(before))).To(Succeed())
}

func agentCPU(ctx context.Context, g Gomega, cluster string) *resource.Quantity {
	d := &appsv1.Deployment{}
	g.Expect(clusters[cluster].Get(ctx, agentDeployment, d)).To(Succeed())
	return d.Spec.Template.Spec.Containers[0].Resources.Requests.Cpu()
}
