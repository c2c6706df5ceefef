package cli_test

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

const patient = 20 * time.Second

var _ = Describe("fleetctl rollout, with rights in the bundle's namespace only", func() {
	var w *world
	BeforeEach(func() { w = newWorld() })

	It("shows the status with an exit status that a script can tell apart", func() {
		Expect(w.says(2, operator, "status", "hello")).To(ContainSubstring("stg    1      -     -        1 "))
		w.plan(becomes(v1alpha1.RolloutBreached))
		w.says(1, operator, "status", "hello")
		w.plan(becomes(v1alpha1.RolloutComplete))
		w.says(0, operator, "status", "hello")
		Expect(w.says(0, operator, "status", "hello", "-o", "yaml")).To(ContainSubstring("revision: rev3"))
		Expect(w.says(3, operator, "status", "other")).To(ContainSubstring("no Rollout " + w.namespace + "/other"))
	})

	It("says which right is missing where", func() {
		Expect(w.says(3, operator, "status", "hello", "--clusters")).To(ContainSubstring(
			"no right to list manifestworks.work.open-cluster-management.io in all namespaces"))
		Expect(w.says(3, operator, "status", "hello", "-n", "default")).To(ContainSubstring(
			"no right to get rollouts.fleet.open-cluster-management.io in namespace default"))
	})

	It("follows a rollout to its end", func() {
		o, ended := &output{}, make(chan int, 1)
		go func() {
			defer GinkgoRecover()
			ended <- w.start(bg, o, operator, "status", "hello", "--watch", "--timeout", "1m")
		}()
		Eventually(o.text).WithTimeout(patient).Should(ContainSubstring("stg: 1 progressing"))
		w.plan(func(s *v1alpha1.RolloutStatus) {
			s.Lanes[0].Groups[1].Counts = v1alpha1.StateCounts{Total: 1, Soaking: 1}
		})
		Eventually(o.text).WithTimeout(patient).Should(ContainSubstring("stg: 1 soaking"))
		Consistently(ended).WithTimeout(200 * time.Millisecond).ShouldNot(Receive())
		w.plan(becomes(v1alpha1.RolloutComplete))
		Eventually(ended).WithTimeout(patient).Should(Receive(Equal(0)))
	})

	It("takes a watch up again that broke, and misses nothing", func() {
		gate, through := newGate(operator)
		o, ended := &output{}, make(chan int, 1)
		go func() {
			defer GinkgoRecover()
			ended <- w.start(bg, o, through, "status", "hello", "--watch", "--timeout", "1m")
		}()
		Eventually(o.text).WithTimeout(patient).Should(ContainSubstring("stg: 1 progressing"))
		gate.close()
		Eventually(o.text).WithTimeout(patient).Should(ContainSubstring("the hub cannot be reached, trying again"))
		w.plan(becomes(v1alpha1.RolloutBreached))
		Consistently(ended).WithTimeout(200 * time.Millisecond).ShouldNot(Receive())
		gate.open()
		Eventually(ended).WithTimeout(patient).Should(Receive(Equal(1)))
	})

	It("ends a watch when the rollout is stopped, when it is gone, and when somebody has waited enough", func() {
		Expect(w.says(2, operator, "status", "hello", "-w", "--timeout", "500ms")).To(ContainSubstring(
			"not complete after 500ms: NotReady: waiting for group stg"))
		ended := make(chan int, 1)
		watch := func(ctx context.Context, o *output) {
			go func() {
				defer GinkgoRecover()
				ended <- w.start(ctx, o, operator, "status", "hello", "--watch")
			}()
			Eventually(o.text).WithTimeout(patient).Should(ContainSubstring("stg: 1 progressing"))
		}
		ctx, interrupt := context.WithCancel(bg)
		watch(ctx, &output{})
		interrupt()
		Eventually(ended).WithTimeout(patient).Should(Receive(Equal(2)))
		gone := &output{}
		watch(bg, gone)
		Expect(k8s.Delete(bg, w.rollout())).To(Succeed())
		Eventually(ended).WithTimeout(patient).Should(Receive(Equal(3)))
		Expect(gone.text()).To(ContainSubstring("was deleted"))
	})

	It("plans from the Rollout's status alone", func() {
		w.plan(func(s *v1alpha1.RolloutStatus) {
			s.Reason = "Paused"
			s.Lanes[0].Groups[1].Next, s.Lanes[0].Groups[1].NextClusters = 1, []string{"stg-1"}
		})
		Expect(w.says(0, operator, "plan", "hello")).To(And(
			ContainSubstring("1 (stg-1)"), ContainSubstring("resumed now, the rollout would admit 1 cluster."),
			ContainSubstring("WaitingForGroup: waiting for group stg")))
	})

	It("pauses and resumes, and says who else pauses", func() {
		Expect(w.says(0, operator, "pause", "hello")).To(ContainSubstring("is paused: nothing more is admitted"))
		Expect(w.rollout().Spec.Paused).To(BeTrue())
		Expect(w.says(0, operator, "pause", "hello")).To(ContainSubstring("is paused already"))
		b := &fleet.Bundle{}
		Expect(k8s.Get(bg, w.key(), b)).To(Succeed())
		b.Spec.Paused = true
		Expect(k8s.Update(bg, b)).To(Succeed())
		create(&v1alpha1.RolloutPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "stages"}, Spec: v1alpha1.RolloutPolicySpec{
			Paused:        true,
			PlacementRefs: []v1alpha1.PlacementRef{{Name: "stages", RolloutStrategy: v1alpha1.RolloutStrategy{Type: "All"}}},
		}})
		Expect(w.says(0, operator, "resume", "hello")).To(And(
			ContainSubstring("is resumed"), ContainSubstring("It stays paused all the same: the Bundle "+w.key().String()+" has spec.paused: true"),
			ContainSubstring("Whether the RolloutPolicy "+w.namespace+"/stages pauses it too is not known: you have no right to get it")))
		Expect(w.rollout().Spec.Paused).To(BeFalse())
		Expect(w.says(0, admin, "resume", "hello")).To(And(
			ContainSubstring("is not paused itself"), ContainSubstring("the RolloutPolicy "+w.namespace+"/stages has spec.paused: true")))
	})

	It("lists revisions, pins one and takes the pin away", func() {
		Expect(w.says(0, operator, "history", "hello")).To(ContainSubstring("No revision"))
		w.revision(1, "rev1")
		w.revision(2, "rev2")
		w.revision(3, "rev3")
		Expect(w.says(0, operator, "history", "hello")).To(And(
			MatchRegexp(`2 +rev2 .* c0ffeerev2 +last completed`), MatchRegexp(`3 +rev3 .* c0ffeerev3 +in force, the bundle's own`)))
		Expect(w.says(0, operator, "undo", "hello")).To(ContainSubstring("is pinned to revision 2 (rev2, commit c0ffeerev2)"))
		Expect(w.rollout().Spec.Revision).To(Equal("rev2"))
		Expect(w.says(0, operator, "history", "hello")).To(MatchRegexp(`2 +rev2 .* last completed, pinned`))
		Expect(w.says(3, operator, "undo", "hello", "--to-revision", "7")).To(ContainSubstring(`has no revision "7"; kept are: 1 (rev1`))
		Expect(w.says(0, operator, "undo", "hello", "--to-revision", "1")).To(ContainSubstring("pinned to revision 1"))
		Expect(w.rollout().Spec.Revision).To(Equal("rev1"))
		Expect(w.says(0, operator, "undo", "hello", "--clear")).To(ContainSubstring("pins revision rev1 no longer"))
		Expect(w.rollout().Spec.Revision).To(BeEmpty())
	})

	It("follows an undo from the moment that the manager has seen it", func() {
		w.revision(2, "rev2")
		w.plan(becomes(v1alpha1.RolloutComplete))
		ended := make(chan int, 1)
		o := &output{}
		go func() {
			defer GinkgoRecover()
			ended <- w.start(bg, o, operator, "undo", "hello", "--to-revision", "rev2", "--watch")
		}()
		Eventually(o.text).WithTimeout(patient).Should(ContainSubstring("has not looked at the last change"))
		Consistently(ended).WithTimeout(200 * time.Millisecond).ShouldNot(Receive())
		w.plan(func(s *v1alpha1.RolloutStatus) { s.Revision = "rev2" })
		Eventually(ended).WithTimeout(patient).Should(Receive(Equal(0)))
	})

	It("confirms what is shown, beside what somebody else confirmed", func() {
		Expect(w.says(0, operator, "confirm", "hello")).To(ContainSubstring("waits for a confirmation"))
		w.plan(func(s *v1alpha1.RolloutStatus) {
			s.Confirmations = []v1alpha1.ConfirmationRequest{
				{Reason: v1alpha1.ConfirmRemovals, Message: "2 clusters lose the bundle", Clusters: []string{"a", "b"}, Total: 2},
				{Reason: v1alpha1.ConfirmGroup, Subject: "stages/qa", Message: "group qa has no clusters any more"},
			}
		})
		old := v1alpha1.Confirmation{Reason: v1alpha1.ConfirmGroup, Subject: "stages/old", Revision: "rev1"}
		kept := v1alpha1.Confirmation{Reason: v1alpha1.ConfirmSource, Subject: "Default", Revision: "rev3"}
		r := w.rollout()
		before := r.DeepCopy()
		r.Spec.Confirmations = []v1alpha1.Confirmation{old, kept}
		Expect(k8s.Patch(bg, r, client.MergeFrom(before))).To(Succeed())

		Expect(w.says(3, operator, "confirm", "hello")).To(And(ContainSubstring("Clusters: a, b"), ContainSubstring("add --yes")))
		Expect(w.rollout().Spec.Confirmations).To(HaveLen(2))
		Expect(w.says(0, operator, "confirm", "hello", "--reason", "RemovalGuard", "--yes")).To(ContainSubstring(
			"the bundle is taken off 2 clusters"))
		removals := v1alpha1.Confirmation{Reason: v1alpha1.ConfirmRemovals, Revision: "rev3", Clusters: []string{"a", "b"}}
		Expect(w.rollout().Spec.Confirmations).To(Equal([]v1alpha1.Confirmation{kept, removals}))
		w.says(0, operator, "confirm", "hello", "--yes")
		Expect(w.rollout().Spec.Confirmations).To(Equal([]v1alpha1.Confirmation{kept, removals,
			{Reason: v1alpha1.ConfirmGroup, Subject: "stages/qa", Revision: "rev3"}}))
	})

	It("explains what it can of a cluster, and names what it may not read", func() {
		w.plan(func(s *v1alpha1.RolloutStatus) {
			s.Lanes[0].Groups[1].Clusters = []v1alpha1.HeldCluster{{Name: "stg-1", State: "Progressing", Reason: "Offline", Message: "the cluster is not available"}}
		})
		Expect(w.says(0, operator, "explain", "hello", "stg-1")).To(And(
			ContainSubstring("Offline: the cluster is not available"),
			ContainSubstring("manifestworks.work.open-cluster-management.io"), ContainSubstring("no right to get it in namespace stg-1")))
	})
})

var _ = Describe("fleetctl rollout, with rights on the clusters' namespaces", func() {
	var w *world
	var dev, stg, prod string
	BeforeEach(func() {
		w = newWorld()
		dev, stg, prod = w.namespace+"-dev", w.namespace+"-stg", w.namespace+"-prod"
		w.cluster(dev, "dev", "rev2")
		w.cluster(stg, "stg", "rev3")
		w.cluster(prod, "prod", "")
	})

	It("lists the clusters of the bundle", func() {
		Expect(w.says(2, admin, "status", "hello", "--clusters")).To(And(
			MatchRegexp(dev+` +dev +rev2 +Pending +OutOfSync`),
			MatchRegexp(stg+` +stg +rev3 +Progressing +WaitApplied +[67][0-9]s +waiting for the cluster's first word`),
			ContainSubstring("1 more of the 3 selected clusters have nothing of the bundle yet.")))
		Expect(w.says(2, admin, "status", "hello", "--clusters", "-o", "json")).To(And(
			ContainSubstring(`"rollout": {`), ContainSubstring(`"name": "`+stg+`"`)))
	})

	It("explains a cluster that is under way, and one that is not there", func() {
		Expect(w.says(0, admin, "explain", "hello", stg)).To(And(
			ContainSubstring(": Progressing"), ContainSubstring("stg, open"), ContainSubstring("rev3, the one that is rolled out"),
			ContainSubstring("Next:")))
		Expect(w.says(0, admin, "explain", "hello", prod)).To(ContainSubstring("not in the rollout"))
		Expect(w.says(0, admin, "explain", "hello", "nowhere")).To(ContainSubstring("there is no ManagedCluster nowhere"))
	})
})
