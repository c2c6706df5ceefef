// The webhooks program serves the registration, work and add-on webhooks of Open Cluster Management in one process on
// loopback: the three servers that its own commands start listen on fixed ports and cannot run side by side.
package main

import (
	"crypto/tls"
	"flag"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/component-base/featuregate"
	"k8s.io/klog/v2"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"open-cluster-management.io/api/feature"
	workv1 "open-cluster-management.io/api/work/v1"
	addonv1alpha1 "open-cluster-management.io/ocm/pkg/addon/webhook/v1alpha1"
	addonv1beta1 "open-cluster-management.io/ocm/pkg/addon/webhook/v1beta1"
	"open-cluster-management.io/ocm/pkg/common/options"
	"open-cluster-management.io/ocm/pkg/features"
	clusterwebhookv1 "open-cluster-management.io/ocm/pkg/registration/webhook/v1"
	clusterwebhookv1beta2 "open-cluster-management.io/ocm/pkg/registration/webhook/v1beta2"
	"open-cluster-management.io/ocm/pkg/work/webhook/common"
	workwebhookv1 "open-cluster-management.io/ocm/pkg/work/webhook/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// manifestLimit is the default of OCM's own work webhook.
const manifestLimit = 500 * 1024

func main() {
	kubeconfig := flag.String("hub-kubeconfig", "", "kubeconfig of the hub")
	port := flag.Int("port", 0, "port on 127.0.0.1")
	certs := flag.String("certs", "", "folder with tls.crt and tls.key")
	flag.Parse()
	if err := run(*kubeconfig, *certs, *port); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(kubeconfig, certs string, port int) error {
	ctrl.SetLogger(klog.Background())
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return fmt.Errorf("read kubeconfig: %w", err)
	}
	scheme := runtime.NewScheme()
	for _, install := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, clusterv1.Install, clusterwebhookv1beta2.Install, workv1.Install,
		addonv1alpha1.Install, addonv1beta1.Install,
	} {
		if err := install(scheme); err != nil {
			return err
		}
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  scheme,
		Metrics: metricsserver.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(webhook.Options{
			Host: "127.0.0.1", Port: port, CertDir: certs,
			TLSOpts: []func(*tls.Config){func(c *tls.Config) { c.MinVersion = tls.VersionTLS12 }},
		}),
	})
	if err != nil {
		return fmt.Errorf("create manager: %w", err)
	}
	// The webhooks read gates that only OCM's own programs register.
	for _, gates := range []map[featuregate.Feature]featuregate.FeatureSpec{
		feature.DefaultHubRegistrationFeatureGates, feature.DefaultHubWorkFeatureGates,
	} {
		if err := features.HubMutableFeatureGate.Add(gates); err != nil {
			return err
		}
	}
	common.ManifestValidator.WithLimit(manifestLimit)
	for _, w := range []options.WebhookInitializer{
		&clusterwebhookv1.ManagedClusterWebhook{}, &clusterwebhookv1beta2.ManagedClusterSetBindingWebhook{},
		&workwebhookv1.ManifestWorkWebhook{},
		&addonv1alpha1.ManagedClusterAddOnWebhook{}, &addonv1beta1.ManagedClusterAddOnWebhook{},
		&addonv1alpha1.ClusterManagementAddOnWebhook{}, &addonv1beta1.ClusterManagementAddOnWebhook{},
	} {
		if err := w.Init(mgr); err != nil {
			return fmt.Errorf("set up %T: %w", w, err)
		}
	}
	return mgr.Start(ctrl.SetupSignalHandler())
}
