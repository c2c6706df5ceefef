package e2e

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/rollout"
	"open-cluster-management.io/fleet-addon/pkg/work"
)

// journal records every change of a bundle's works as the hub's API shows it.
type journal struct {
	bundle types.NamespacedName
	mu     sync.Mutex
	list   []entry
}

// entry is one work at one moment.
type entry struct {
	// number counts the entries of the journal; the order is the API server's.
	number     int
	at         time.Time
	cluster    string
	uid        types.UID
	generation int64
	gone       bool
	rollout.Work
}

// record starts a journal that ends with the spec.
func record(bundle types.NamespacedName) *journal {
	GinkgoHelper()
	j := &journal{bundle: bundle}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	started := make(chan struct{})
	go func() {
		defer GinkgoRecover()
		defer close(done)
		for first := true; ctx.Err() == nil; first = false {
			j.follow(ctx, func() {
				if first {
					close(started)
				}
			})
		}
	}()
	DeferCleanup(func() {
		cancel()
		<-done
	})
	Eventually(started).Should(BeClosed(), "a watch of the works of %s", bundle)
	return j
}

// follow watches until the watch ends; the first events of a watch are what is there.
func (j *journal) follow(ctx context.Context, ready func()) {
	w, err := hub.Watch(ctx, &workv1.ManifestWorkList{}, client.MatchingLabelsSelector{Selector: work.Selector(j.bundle)})
	if err != nil {
		return
	}
	defer w.Stop()
	ready()
	for event := range w.ResultChan() {
		if m, ok := event.Object.(*workv1.ManifestWork); ok {
			j.add(m, event.Type == watch.Deleted)
		}
	}
}

func (j *journal) add(w *workv1.ManifestWork, gone bool) {
	read, err := work.Read(w)
	if err != nil {
		GinkgoWriter.Printf("journal: %v\n", err)
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	e := entry{number: len(j.list), at: time.Now(), cluster: w.Namespace, uid: w.UID, generation: w.Generation, gone: gone, Work: read}
	j.list = append(j.list, e)
	GinkgoWriter.Printf("%s %-4s generation %d revision %s admission %.13s %s %s\n", e.at.Format("15:04:05.000"), e.cluster, e.generation,
		e.Revision, e.Admission, e.Verdict.State, map[bool]string{true: "gone"}[gone])
}

// of returns the entries of one cluster.
func (j *journal) of(cluster string) []entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(j.list), func(e entry) bool { return e.cluster != cluster })
}

// admission is one token on one cluster: what was first and last seen with it.
type admission struct {
	cluster, revision string
	first, last       entry
	// ready is the entry in which the agent's last unbroken readiness for it was first seen; zero if it never was.
	ready entry
}

// admissions of a cluster, in order.
func (j *journal) admissions(cluster string) []admission {
	return j.admissionsBefore(cluster, math.MaxInt)
}

// admissionsBefore are those that are told by the entries before a number.
func (j *journal) admissionsBefore(cluster string, number int) []admission {
	var out []admission
	for _, e := range j.of(cluster) {
		if e.number >= number {
			break
		}
		if len(out) == 0 || out[len(out)-1].first.Admission != e.Admission {
			out = append(out, admission{cluster: cluster, revision: e.Revision, first: e})
		}
		a := &out[len(out)-1]
		a.last = e
		if v := e.Verdict; v.Admission == e.Admission && v.Ready && v.ReadySince != a.ready.Verdict.ReadySince {
			a.ready = e
		}
	}
	return out
}

// revisions that a cluster was admitted to, in order.
func (j *journal) revisions(cluster string) []string {
	var out []string
	for _, a := range j.admissions(cluster) {
		out = append(out, a.revision)
	}
	return out
}

// admitted is the one admission of a cluster to a revision.
func (j *journal) admitted(cluster, revision string) admission {
	GinkgoHelper()
	return j.admittedBefore(cluster, revision, math.MaxInt)
}

func (j *journal) admittedBefore(cluster, revision string, number int) admission {
	GinkgoHelper()
	var found []admission
	for _, a := range j.admissionsBefore(cluster, number) {
		if a.revision == revision {
			found = append(found, a)
		}
	}
	Expect(found).To(HaveLen(1), "admissions of %s to revision %s", cluster, revision)
	return found[0]
}

// late is how much later than the hub this process may see a change.
const late = time.Second

// expectOrder asserts that a revision went through the groups in order: each cluster was written only when every cluster
// of the group before had been ready for minSuccess, by the hub's clock and by what this process saw.
func (j *journal) expectOrder(revision string, minSuccess time.Duration, order ...[]string) {
	GinkgoHelper()
	for i, group := range order[1:] {
		for _, name := range group {
			next := j.admitted(name, revision)
			for _, before := range order[i] {
				// As it was when the next one was written: what happens to it later is no matter.
				previous := j.admittedBefore(before, revision, next.first.number)
				Expect(previous.ready.at).NotTo(BeZero(), "%s was never ready", before)
				Expect(next.first.Stamps.AdmittedAt.Sub(previous.last.Stamps.ReadySeenAt)).To(BeNumerically(">=", minSuccess),
					"%s was admitted at %s, %s was ready at %s", name, next.first.Stamps.AdmittedAt, before, previous.last.Stamps.ReadySeenAt)
				Expect(next.first.at.Sub(previous.ready.at)).To(BeNumerically(">=", minSuccess-late),
					"the work of %s was written at %s, %s was seen ready at %s", name, next.first.at, before, previous.ready.at)
			}
		}
	}
}

// expectOneWrite asserts that a cluster's work was written exactly once for each of these revisions.
func (j *journal) expectOneWrite(cluster string, revisions ...string) {
	GinkgoHelper()
	Expect(j.revisions(cluster)).To(Equal(revisions), "revisions that %s was admitted to", cluster)
	entries := j.of(cluster)
	Expect(entries[len(entries)-1].generation).To(BeEquivalentTo(len(revisions)), "writes of the work of %s", cluster)
}

// expectUntouched asserts that nothing was written to a cluster's work since a moment; the status of a work may change.
func (j *journal) expectUntouched(cluster string, since time.Time) {
	GinkgoHelper()
	all := j.of(cluster)
	first := slices.IndexFunc(all, func(e entry) bool { return !e.at.Before(since) })
	if first < 0 {
		return
	}
	Expect(first).To(BeNumerically(">", 0), "%s had no work at %s", cluster, since)
	before := all[first-1]
	for _, e := range all[first:] {
		Expect(e.gone).To(BeFalse(), "the work of %s was deleted", cluster)
		Expect(e.uid).To(Equal(before.uid), "the work of %s was made anew", cluster)
		Expect(e.generation).To(Equal(before.generation), "the work of %s was written", cluster)
	}
}

// size is the number of entries so far.
func (j *journal) size() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.list)
}
