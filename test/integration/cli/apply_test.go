package cli_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/fleet-addon/pkg/cli/publish"
	"open-cluster-management.io/fleet-addon/pkg/values"
)

const repoLabel = "fleet.cattle.io/repo-name=shop"

// author is a namespace with people who write bundles, and a directory of theirs.
type author struct {
	namespace, dir string
}

func newAuthor() *author {
	GinkgoHelper()
	a := &author{namespace: fmt.Sprintf("authors-%d", worlds.Add(1)), dir: GinkgoT().TempDir()}
	create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: a.namespace}})
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "examples", "bundle-author", "role.yaml"))
	Expect(err).NotTo(HaveOccurred())
	role := &rbacv1.Role{}
	Expect(yaml.UnmarshalStrict(data, role)).To(Succeed())
	a.grant(authorUser, role.Rules)
	a.grant(halfAuthorUser, role.Rules[:1])
	a.grant(readerUser, []rbacv1.PolicyRule{
		{APIGroups: []string{"fleet.cattle.io"}, Resources: []string{"bundles"}, Verbs: []string{"get", "list"}},
		{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}},
	})
	a.write("web", "helm: {values: {password: hunter2}}\ntargetCustomizations: [{name: prod, clusterSelector: {}, helm: {values: {size: 3}}}]\n")
	a.write("db", "labels: {tier: back}\n")
	return a
}

func (a *author) grant(user string, rules []rbacv1.PolicyRule) {
	GinkgoHelper()
	meta := metav1.ObjectMeta{Namespace: a.namespace, Name: user}
	create(&rbacv1.Role{ObjectMeta: meta, Rules: rules})
	create(&rbacv1.RoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: user}},
	})
}

// write makes a directory a bundle with this fleet.yaml.
func (a *author) write(name, options string) {
	GinkgoHelper()
	dir := filepath.Join(a.dir, "apps", name)
	Expect(os.MkdirAll(dir, 0o755)).To(Succeed())
	Expect(os.WriteFile(filepath.Join(dir, "fleet.yaml"), []byte(options), 0o600)).To(Succeed())
	manifest := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\n"
	Expect(os.WriteFile(filepath.Join(dir, "cm.yaml"), []byte(manifest), 0o600)).To(Succeed())
}

func (a *author) remove(name string) {
	GinkgoHelper()
	Expect(os.RemoveAll(filepath.Join(a.dir, "apps", name))).To(Succeed())
}

// apply runs `fleetctl apply` in the directory; it has to end with this status.
func (a *author) apply(status int, kubeconfig string, args ...string) string {
	GinkgoHelper()
	return a.run(status, append([]string{"apply", "--kubeconfig", kubeconfig, "-n", a.namespace}, args...)...)
}

func (a *author) run(status int, args ...string) string {
	GinkgoHelper()
	was, err := os.Getwd()
	Expect(err).NotTo(HaveOccurred())
	Expect(os.Chdir(a.dir)).To(Succeed())
	defer func() { Expect(os.Chdir(was)).To(Succeed()) }()
	o := &output{}
	got := execute(bg, o, args...)
	Expect(got).To(Equal(status), o.text())
	Expect(o.text()).NotTo(ContainSubstring("hunter2"))
	return o.text()
}

func (a *author) key(bundle string) types.NamespacedName {
	return types.NamespacedName{Namespace: a.namespace, Name: "shop-apps-" + bundle}
}

func (a *author) bundle(name string) *fleet.Bundle {
	GinkgoHelper()
	b := &fleet.Bundle{}
	Expect(k8s.Get(bg, a.key(name), b)).To(Succeed())
	return b
}

func (a *author) secret(name string) *corev1.Secret {
	GinkgoHelper()
	s := &corev1.Secret{}
	Expect(k8s.Get(bg, a.key(name), s)).To(Succeed())
	return s
}

// gone tells whether there is no such object.
func (a *author) gone(name string, kind client.Object) bool {
	GinkgoHelper()
	err := k8s.Get(bg, a.key(name), kind)
	Expect(client.IgnoreNotFound(err)).To(Succeed())
	return apierrors.IsNotFound(err)
}

var _ = Describe("fleetctl apply, with rights in the namespace of the bundles only", func() {
	var a *author
	BeforeEach(func() { a = newAuthor() })

	It("writes Bundles, and their values into Secrets", func() {
		Expect(a.apply(0, writer, "-l", "a=b", "--commit", "abc", "shop", "apps")).To(And(
			ContainSubstring("Bundle "+a.key("web").String()+" created"), ContainSubstring("Bundle "+a.key("db").String()+" created")))
		web, secret := a.bundle("web"), a.secret("web")
		Expect(web.Labels).To(Equal(map[string]string{"a": "b", fleet.CommitLabel: "abc"}))
		Expect(web.Spec.Helm.Values).To(BeNil())
		Expect(web.Spec.Targets[0].Helm.Values).To(BeNil())
		Expect(web.Spec.Resources).To(HaveLen(1))
		Expect(secret.Type).To(Equal(values.SecretType))
		Expect(secret.Data).To(Equal(map[string][]byte{"values.yaml": []byte(`{"password":"hunter2"}`), "prod": []byte(`{"size":3}`)}))
		Expect(values.Hash(secret.Data)).To(Equal(web.Spec.ValuesHash))
		Expect(secret.OwnerReferences).To(HaveLen(1))
		Expect(secret.OwnerReferences[0]).To(And(HaveField("Kind", "Bundle"), HaveField("UID", web.UID), HaveField("Controller", HaveValue(BeTrue()))))
		Expect(a.bundle("db").Spec.ValuesHash).To(BeEmpty())
		Expect(a.gone("db", &corev1.Secret{})).To(BeTrue())
	})

	It("writes nothing that is as it should be", func() {
		a.apply(0, writer, "-l", repoLabel, "shop", "apps")
		web, secret := a.bundle("web"), a.secret("web")
		// Who may read only cannot write anything without an error.
		Expect(a.apply(0, reader, "-l", repoLabel, "shop", "apps")).To(And(
			ContainSubstring("Bundle "+a.key("web").String()+" unchanged"), ContainSubstring("Bundle "+a.key("db").String()+" unchanged")))
		a.apply(0, writer, "-l", repoLabel, "shop", "apps")
		Expect(a.bundle("web").ResourceVersion).To(Equal(web.ResourceVersion))
		Expect(a.secret("web").ResourceVersion).To(Equal(secret.ResourceVersion))
	})

	It("takes away what it wrote before, and leaves labels of others", func() {
		a.apply(0, writer, "-l", "mine=x,stays=x", "shop", "apps")
		db := a.bundle("db")
		before := db.DeepCopy()
		db.Labels["theirs"] = "y"
		db.Spec.DefaultNamespace = "elsewhere"
		Expect(k8s.Patch(bg, db, client.MergeFrom(before))).To(Succeed())
		Expect(a.apply(0, writer, "-l", "stays=x", "shop", "apps")).To(ContainSubstring("Bundle " + a.key("db").String() + " configured"))
		db = a.bundle("db")
		Expect(db.Labels).To(Equal(map[string]string{"stays": "x", "theirs": "y", "tier": "back"}))
		Expect(db.Spec.DefaultNamespace).To(BeEmpty(), "the files say what the spec is")
		a.apply(0, reader, "-l", "stays=x", "shop", "apps")

		By("taking away a label where nothing else changed")
		a.apply(0, writer, "shop", "apps")
		Expect(a.bundle("db").Labels).To(Equal(map[string]string{"theirs": "y", "tier": "back"}))
	})

	It("makes the Secret follow the values", func() {
		a.apply(0, writer, "shop", "apps")
		first := a.bundle("web").Spec.ValuesHash
		a.write("web", "helm: {values: {password: other}}\n")
		Expect(a.apply(0, writer, "shop", "apps")).To(ContainSubstring("Bundle " + a.key("web").String() + " configured"))
		Expect(a.secret("web").Data).To(Equal(map[string][]byte{"values.yaml": []byte(`{"password":"other"}`)}))
		Expect(a.bundle("web").Spec.ValuesHash).To(And(Equal(values.Hash(a.secret("web").Data)), Not(Equal(first))))

		By("mending a Secret that somebody changed")
		secret := a.secret("web")
		secret.Data["more"] = []byte("x")
		Expect(k8s.Update(bg, secret)).To(Succeed())
		Expect(a.apply(0, writer, "shop", "apps")).To(ContainSubstring("Bundle " + a.key("web").String() + " configured"))
		Expect(a.secret("web").Data).NotTo(HaveKey("more"))

		By("removing it with the values")
		a.write("web", "")
		a.apply(0, writer, "shop", "apps")
		Expect(a.bundle("web").Spec.ValuesHash).To(BeEmpty())
		Expect(a.gone("web", &corev1.Secret{})).To(BeTrue())

		By("leaving a Secret that is none of values")
		create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: a.namespace, Name: a.key("web").Name}, StringData: map[string]string{"a": "b"}})
		a.apply(0, writer, "shop", "apps")
		Expect(a.secret("web").Data).To(HaveKey("a"))
		a.write("web", "helm: {values: {password: hunter2}}\n")
		Expect(a.apply(3, writer, "shop", "apps")).To(ContainSubstring("has the type Opaque, and the values of the bundle need its place"))
		Expect(a.bundle("web").Spec.ValuesHash).To(BeEmpty(), "the Bundle was written, and waits for ever")
		Expect(a.secret("web").Data).To(HaveKey("a"))
	})

	It("goes on where it was stopped between a Bundle and its values", func() {
		Expect(a.apply(3, halfWriter, "shop", "apps/web")).To(And(
			ContainSubstring("is written, and its values are not: nothing of it rolls out until they are; apply again"),
			ContainSubstring("you have no right to get secrets in namespace "+a.namespace)))
		web := a.bundle("web")
		Expect(web.Spec.ValuesHash).NotTo(BeEmpty())
		Expect(a.apply(0, writer, "shop", "apps/web")).To(ContainSubstring("configured"))
		Expect(a.bundle("web").ResourceVersion).To(Equal(web.ResourceVersion), "the Bundle was as it should be")
		Expect(values.Hash(a.secret("web").Data)).To(Equal(web.Spec.ValuesHash))

		By("needing no right to Secrets for a bundle without values")
		a.apply(0, halfWriter, "shop", "apps/db")
	})

	It("deletes what is not made any more, after everything was written", func() {
		a.apply(0, writer, "-l", repoLabel, "shop", "apps")
		create(&fleet.Bundle{ObjectMeta: metav1.ObjectMeta{Namespace: a.namespace, Name: "by-hand"}})
		a.remove("db")
		a.write("new", "")

		By("keeping everything while a bundle cannot be written")
		blocked := &fleet.Bundle{ObjectMeta: metav1.ObjectMeta{Namespace: a.namespace, Name: a.key("new").Name, Labels: map[string]string{fleet.RepoLabel: "other"}}}
		create(blocked)
		Expect(a.apply(3, writer, "-l", repoLabel, "shop", "apps")).To(And(
			ContainSubstring("belongs to other (label fleet.cattle.io/repo-name)"), ContainSubstring("nothing was deleted")))
		Expect(a.gone("db", &fleet.Bundle{})).To(BeFalse())
		Expect(k8s.Delete(bg, blocked)).To(Succeed())

		By("keeping everything while a directory cannot be read")
		a.write("web", "no: field\n")
		a.apply(3, writer, "-l", repoLabel, "shop", "apps")
		Expect(a.gone("db", &fleet.Bundle{})).To(BeFalse())
		a.write("web", "")

		Expect(a.apply(0, writer, "-l", repoLabel, "shop", "apps")).To(And(
			ContainSubstring("Bundle "+a.key("db").String()+" deleted"), ContainSubstring("Bundle "+a.key("new").String()+" created")))
		Expect(a.gone("db", &fleet.Bundle{})).To(BeTrue())

		By("deleting everything only when asked to")
		a.remove("web")
		a.remove("new")
		Expect(a.apply(3, writer, "-l", repoLabel, "shop", "apps")).To(ContainSubstring("no bundle in the paths apps: nothing was written or deleted"))
		Expect(a.gone("web", &fleet.Bundle{})).To(BeFalse())
		a.apply(0, writer, "-l", repoLabel, "--allow-empty", "shop", "apps")
		list := &fleet.BundleList{}
		Expect(k8s.List(bg, list, client.InNamespace(a.namespace))).To(Succeed())
		Expect(list.Items).To(HaveExactElements(HaveField("Name", "by-hand")))
	})

	It("leaves bundles alone that are not its own to write", func() {
		helmOp := &fleet.Bundle{ObjectMeta: metav1.ObjectMeta{Namespace: a.namespace, Name: a.key("web").Name}}
		helmOp.Spec.HelmOpOptions = &fleet.BundleHelmOptions{SecretName: "x"}
		create(helmOp)
		leaving := &fleet.Bundle{ObjectMeta: metav1.ObjectMeta{Namespace: a.namespace, Name: a.key("db").Name, Finalizers: []string{"example.com/wait"}}}
		create(leaving)
		Expect(k8s.Delete(bg, leaving)).To(Succeed())
		Expect(a.apply(3, writer, "shop", "apps")).To(And(
			ContainSubstring("a bundle of that name is made by a HelmOp"), ContainSubstring("is being deleted: wait until it is gone")))
		Expect(a.bundle("web").Spec.Resources).To(BeEmpty())
		Expect(a.gone("web", &corev1.Secret{})).To(BeTrue())
		leaving = a.bundle("db")
		leaving.Finalizers = nil
		Expect(k8s.Update(bg, leaving)).To(Succeed())
	})

	It("takes a Bundle over that nobody owns", func() {
		create(&fleet.Bundle{ObjectMeta: metav1.ObjectMeta{Namespace: a.namespace, Name: a.key("web").Name, Labels: map[string]string{"theirs": "y"}}, Spec: fleet.BundleSpec{Paused: true}})
		a.apply(0, writer, "shop", "apps/web")
		Expect(a.bundle("web").Spec.Paused).To(BeFalse())
		Expect(a.bundle("web").Labels).To(HaveKey("theirs"))
	})

	It("says which right is missing", func() {
		Expect(a.apply(3, reader, "shop", "apps/db")).To(ContainSubstring("you have no right to create bundles.fleet.cattle.io in namespace " + a.namespace))
		a.apply(0, writer, "shop", "apps/db")
		a.write("db", "paused: true\n")
		Expect(a.apply(3, reader, "shop", "apps/db")).To(ContainSubstring("you have no right to patch bundles.fleet.cattle.io in namespace " + a.namespace))
		Expect(a.apply(3, operator, "shop", "apps/db")).To(ContainSubstring("you have no right to get bundles.fleet.cattle.io in namespace " + a.namespace))
	})

	It("writes the Bundles of a file, and deletes none", func() {
		a.apply(0, writer, "-l", repoLabel, "shop", "apps/db")
		a.run(0, "apply", "-n", a.namespace, "-l", repoLabel, "-o", "bundle.yaml", "shop", "apps/web")
		Expect(a.apply(0, writer, "--bundle-file", "bundle.yaml")).To(ContainSubstring("Bundle " + a.key("web").String() + " created"))
		Expect(values.Hash(a.secret("web").Data)).To(Equal(a.bundle("web").Spec.ValuesHash))
		Expect(a.gone("db", &fleet.Bundle{})).To(BeFalse())
	})

	It("tries again while somebody else writes the same bundle", func() {
		a.apply(0, writer, "shop", "apps/web")
		meddler := &meddler{Client: k8s, times: 2}
		p := &publish.Publisher{Client: meddler, Progress: GinkgoWriter, Owner: "shop", Tries: 3, Parallel: 1}
		want := func() *fleet.Bundle {
			return &fleet.Bundle{ObjectMeta: metav1.ObjectMeta{Namespace: a.namespace, Name: a.key("web").Name}, Spec: fleet.BundleSpec{Paused: true}}
		}
		Expect(p.Publish(bg, []*fleet.Bundle{want()})).To(Succeed())
		Expect(a.bundle("web").Spec.Paused).To(BeTrue())
		Expect(a.bundle("web").Labels).To(HaveKeyWithValue("meddled", "1"))

		By("giving up in the end")
		meddler.times, p.Tries = 100, 2
		again := want()
		again.Spec.Paused = false
		err := p.Publish(bg, []*fleet.Bundle{again})
		Expect(err).To(MatchError(ContainSubstring("somebody else changes it at the same time")))
		Expect(a.bundle("web").Spec.Paused).To(BeTrue())
	})
})

// meddler changes each Bundle just after it was read, some times.
type meddler struct {
	client.Client
	mu    sync.Mutex
	times int
}

func (m *meddler) Get(ctx context.Context, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
	err := m.Client.Get(ctx, key, into, opts...)
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := into.(*fleet.Bundle)
	if err != nil || !ok || m.times == 0 {
		return err
	}
	m.times--
	changed := b.DeepCopy()
	if changed.Labels == nil {
		changed.Labels = map[string]string{}
	}
	changed.Labels["meddled"] = fmt.Sprint(m.times + 1)
	return m.Patch(ctx, changed, client.MergeFrom(b))
}
