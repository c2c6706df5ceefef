package e2e

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// Limits for Eventually and Consistently where a spec says nothing else.
const (
	patience = time.Minute
	poll     = 200 * time.Millisecond
)

var _ = Describe("fleet-addon", func() {
	// Before anything is cleaned up.
	JustAfterEach(func() {
		if CurrentSpecReport().Failed() {
			describeState(CurrentSpecReport())
		}
	})

	// These have a namespace of their own each and leave the clusters alone: they may run side by side.
	Describe("the example", exampleSpecs)
	Describe("failures", budgetSpecs)
	Describe("a new version", supersedeSpecs)
	Describe("placement decisions", decisionSpecs)
	Describe("kubectl", kubectlSpecs)
	Describe("rollouts", engineSpecs)
	Describe("Fleet's own command line", fleetCLISpecs)
	Describe("what people write for Fleet", everythingSpecs)

	// These do something to the clusters or to the add-on, and what takes them away comes last.
	Describe("alone", Serial, Ordered, ContinueOnFailure, func() {
		Describe("in steady state", quietSpecs)
		Describe("a manager that is killed", Label("local"), killSpecs)
		Describe("a cluster that is no longer selected", membershipSpecs)
		Describe("a version", cutOffSpecs)
		Describe("agent settings", agentConfigSpecs)
		Describe("the end", lifecycleSpecs)
		Describe("without an agent", sequenceSpecs)
	})
})

func TestE2E(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(patience)
	SetDefaultEventuallyPollingInterval(poll)
	SetDefaultConsistentlyPollingInterval(poll)
	EnforceDefaultTimeoutsWhenUsingContexts()
	RunSpecs(t, "e2e")
}

// The chart is installed once, and the clients are made in each of Ginkgo's processes.
var _ = SynchronizedBeforeSuite(func(ctx context.Context) {
	connect()
	installChart(ctx)
	awaitAgents(ctx)
}, func(context.Context) {
	connect()
}, NodeTimeout(5*time.Minute))
