package hub_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = DescribeTable("A Rollout's spec at the door", func(spec, path, message string) {
	stored, refused := doorOf("rollouts", "Rollout").knock(spec)
	if path == "" {
		Expect(refused).To(BeEmpty())
		Expect(stored).NotTo(BeEmpty())
		return
	}
	Expect(refused).To(ConsistOf(And(HavePrefix(path+": "), ContainSubstring(message))))
},
	Entry("nothing", `{}`, "", ""),
	Entry("a pause and a pin", `{"paused":true,"revision":"4f8ab1"}`, "", ""),
	Entry("removals", confirmation(`"reason":"RemovalGuard","clusters":["a","b"]`), "", ""),
	Entry("500 removals", confirmation(`"reason":"RemovalGuard","clusters":[`+numbered(500, `"c%d"`)+`]`), "", ""),
	Entry("a source", confirmation(`"reason":"RolloutSourceChanged","subject":"RolloutPolicy/b"`), "", ""),
	Entry("a vanished group", confirmation(`"reason":"GroupVanished","subject":"lane/dev"`), "", ""),
	Entry("removals of nobody", confirmation(`"reason":"RemovalGuard"`), "spec.confirmations[0].clusters", "needs the clusters"),
	Entry("removals of an empty list", confirmation(`"reason":"RemovalGuard","clusters":[]`), "spec.confirmations[0].clusters", "needs the clusters"),
	Entry("removals with a subject", confirmation(`"reason":"RemovalGuard","clusters":["a"],"subject":"x"`), "spec.confirmations[0].subject", "no subject"),
	Entry("501 removals", confirmation(`"reason":"RemovalGuard","clusters":[`+numbered(501, `"c%d"`)+`]`), "spec.confirmations[0].clusters", "at most 500"),
	Entry("a source that is not named", confirmation(`"reason":"RolloutSourceChanged"`), "spec.confirmations[0].subject", "needs the subject"),
	Entry("a group that is not named", confirmation(`"reason":"GroupVanished","subject":""`), "spec.confirmations[0].subject", "needs the subject"),
	Entry("a group with clusters", confirmation(`"reason":"GroupVanished","subject":"lane/dev","clusters":["a"]`), "spec.confirmations[0].clusters", "belongs to RemovalGuard"),
	Entry("an unknown reason", confirmation(`"reason":"Paused","subject":"x"`), "spec.confirmations[0].reason", "Unsupported value"),
	Entry("no revision", `{"confirmations":[{"reason":"GroupVanished","subject":"lane/dev"}]}`, "spec.confirmations[0].revision", "Required"),
	Entry("a pin that is no revision", `{"revision":"V 1"}`, "spec.revision", "should match"),
	Entry("a pin that is too long", `{"revision":"`+strings.Repeat("a", 64)+`"}`, "spec.revision", "may not be more than 63"),
)

// confirmation is a Rollout's spec that confirms one thing.
func confirmation(c string) string { return `{"confirmations":[{"revision":"4f8ab1",` + c + `}]}` }
