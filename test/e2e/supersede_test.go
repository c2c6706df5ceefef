package e2e

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

func supersedeSpecs() {
	It("starts again at dev while another soaks, and its soak counts for nothing", func(ctx context.Context) {
		const soak = 6 * time.Second
		t := newTenant("supersede").gates(soak, "None", 0).create(ctx)
		a := t.app("web")
		journal := record(a.key())
		first := a.apply(ctx)
		awaitComplete(ctx, a.key(), first)
		second := a.next().apply(ctx)
		awaitGroup(ctx, a.key(), second, "stg", v1alpha1.StateCounts{Total: 1, Soaking: 1})
		third := a.next().apply(ctx)
		awaitComplete(ctx, a.key(), third)
		for _, name := range append(dev, stg...) {
			Expect(journal.revisions(name)).To(Equal([]string{first, second, third}))
		}
		Expect(journal.revisions("prod")).To(Equal([]string{first, third}))
		journal.expectOrder(third, soak, groups...)
	}, SpecTimeout(3*time.Minute))
}
