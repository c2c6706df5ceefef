package agent_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	helmrelease "helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage"
	"helm.sh/helm/v3/pkg/storage/driver"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/content"
)

// bundle is a BundleDeployment under test, with a namespace for its release.
type bundle struct {
	site *site
	name string
	spec v1alpha1.BundleDeploymentSpec
	n    int
}

var serial int

// newBundle prepares a bundle; nothing is created before its first admission. It
// goes with the spec.
func newBundle(s *site, name string) *bundle {
	serial++
	b := &bundle{site: s, name: fmt.Sprintf("%s-%d", name, serial)}
	b.spec.Bundle = "apps/" + b.name
	b.spec.Options.DefaultNamespace = b.name
	DeferCleanup(func() {
		bd := &v1alpha1.BundleDeployment{ObjectMeta: metav1.ObjectMeta{Name: b.name, Namespace: s.namespace}}
		Expect(client.IgnoreNotFound(c.Delete(ctx, bd))).To(Succeed())
	})
	return b
}

func files(nameAndContent ...string) []fleet.BundleResource {
	var out []fleet.BundleResource
	for i := 0; i < len(nameAndContent); i += 2 {
		out = append(out, fleet.BundleResource{Name: nameAndContent[i], Content: nameAndContent[i+1]})
	}
	return out
}

// configMap is a manifest with one datum.
func configMap(name, value string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\ndata:\n  value: %q\n", name, value)
}

const chartYAML = "apiVersion: v2\nname: web\nversion: 1.0.0\n"

// pack makes the spec's content inline.
func (b *bundle) pack(resources []fleet.BundleResource) *bundle {
	GinkgoHelper()
	name, gz, _, err := content.Pack(resources)
	Expect(err).NotTo(HaveOccurred())
	b.spec.Content = v1alpha1.ContentSource{Name: name, Inline: gz}
	return b
}

// admit writes the spec with a new admission; the id follows from the content
// and the options.
func (b *bundle) admit(change ...func(*v1alpha1.BundleDeploymentSpec)) *bundle {
	GinkgoHelper()
	for _, f := range change {
		f(&b.spec)
	}
	b.n++
	options, err := json.Marshal(b.spec.Options)
	Expect(err).NotTo(HaveOccurred())
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %v", options, b.spec.ValuesHash))
	b.spec.DeploymentID = b.spec.Content.Name + ":" + hex.EncodeToString(sum[:])
	b.spec.Admission = fmt.Sprintf("%s-%d", b.name, b.n)
	return b.refresh()
}

// refresh writes the spec without a new admission.
func (b *bundle) refresh(change ...func(*v1alpha1.BundleDeploymentSpec)) *bundle {
	GinkgoHelper()
	for _, f := range change {
		f(&b.spec)
	}
	bd := b.get()
	if bd == nil {
		bd = &v1alpha1.BundleDeployment{ObjectMeta: metav1.ObjectMeta{Name: b.name, Namespace: b.site.namespace}, Spec: b.spec}
		Expect(c.Create(ctx, bd)).To(Succeed())
		return b
	}
	before := bd.DeepCopy()
	bd.Spec = b.spec
	Expect(c.Patch(ctx, bd, client.MergeFrom(before))).To(Succeed())
	return b
}

func (b *bundle) remove() {
	GinkgoHelper()
	Expect(c.Delete(ctx, &v1alpha1.BundleDeployment{ObjectMeta: metav1.ObjectMeta{Name: b.name, Namespace: b.site.namespace}})).To(Succeed())
}

func (b *bundle) get() *v1alpha1.BundleDeployment {
	GinkgoHelper()
	var bd v1alpha1.BundleDeployment
	err := c.Get(ctx, client.ObjectKey{Namespace: b.site.namespace, Name: b.name}, &bd)
	if apierrors.IsNotFound(err) {
		return nil
	}
	Expect(err).NotTo(HaveOccurred())
	return &bd
}

func (b *bundle) status() v1alpha1.BundleDeploymentStatus {
	bd := b.get()
	if bd == nil {
		return v1alpha1.BundleDeploymentStatus{}
	}
	return bd.Status
}

// verdict is the state of the current admission; empty while there is none.
func (b *bundle) verdict() string {
	s := b.status()
	if s.Admission != b.spec.Admission {
		return ""
	}
	return s.State
}

// ready waits until the current admission is.
func (b *bundle) ready() v1alpha1.BundleDeploymentStatus {
	GinkgoHelper()
	Eventually(b.verdict).Should(Equal("Ready"), func() string { return b.status().Message })
	return b.status()
}

func (b *bundle) helm() *storage.Storage {
	GinkgoHelper()
	return helmIn(b.name)
}

func helmIn(namespace string) *storage.Storage {
	GinkgoHelper()
	kube, err := kubernetes.NewForConfig(admin)
	Expect(err).NotTo(HaveOccurred())
	return storage.Init(driver.NewSecrets(kube.CoreV1().Secrets(namespace)))
}

// history is "revision status" of each revision of the release.
func (b *bundle) history() []string {
	GinkgoHelper()
	revisions, err := b.helm().History(b.name)
	if errors.Is(err, driver.ErrReleaseNotFound) {
		return nil
	}
	Expect(err).NotTo(HaveOccurred())
	out := make([]string, 0, len(revisions))
	for _, r := range revisions {
		out = append(out, fmt.Sprintf("%d %s", r.Version, r.Info.Status))
	}
	return out
}

// value is the datum of a ConfigMap of the release; empty if it does not exist.
func (b *bundle) value(name string) string {
	GinkgoHelper()
	cm := b.object(name)
	if cm == nil {
		return ""
	}
	return cm.Data["value"]
}

func (b *bundle) object(name string) *corev1.ConfigMap {
	GinkgoHelper()
	var cm corev1.ConfigMap
	err := c.Get(ctx, client.ObjectKey{Namespace: b.name, Name: name}, &cm)
	if apierrors.IsNotFound(err) {
		return nil
	}
	Expect(err).NotTo(HaveOccurred())
	return &cm
}

// interrupted puts a revision on top of the history as a killed agent leaves it,
// with an object of it that was already created.
func (b *bundle) interrupted(status helmrelease.Status, leftover string) {
	GinkgoHelper()
	last, err := b.helm().Last(b.name)
	Expect(err).NotTo(HaveOccurred())
	if status == helmrelease.StatusPendingInstall {
		last.Info.Status = status
		Expect(b.helm().Update(last)).To(Succeed())
		return
	}
	last.Version++
	last.Info.Status = status
	last.Info.Description = "Preparing upgrade"
	last.Manifest += "---\n" + configMap(leftover, "left")
	for _, system := range []string{"name", "owner", "status", "version", "createdAt", "modifiedAt"} {
		delete(last.Labels, system)
	}
	Expect(b.helm().Create(last)).To(Succeed())
	Expect(c.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Name: leftover, Namespace: b.name,
		Labels:      map[string]string{"fleet.open-cluster-management.io/bundle-deployment": b.name, "app.kubernetes.io/managed-by": "Helm"},
		Annotations: map[string]string{"meta.helm.sh/release-name": b.name, "meta.helm.sh/release-namespace": b.name},
	}})).To(Succeed())
}

func minSuccess(d time.Duration) func(*v1alpha1.BundleDeploymentSpec) {
	return func(s *v1alpha1.BundleDeploymentSpec) { s.MinSuccessTime = &metav1.Duration{Duration: d} }
}

func helmOptions(change func(*fleet.HelmOptions)) func(*v1alpha1.BundleDeploymentSpec) {
	return func(s *v1alpha1.BundleDeploymentSpec) {
		if s.Options.Helm == nil {
			s.Options.Helm = &fleet.HelmOptions{}
		}
		change(s.Options.Helm)
	}
}
