package hub_test

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// One object that Go cannot read keeps a client from every list that holds it: the
// manager would not see a policy of any namespace any more.
var _ = DescribeTable("A RolloutPolicy that Go cannot read is not stored", func(strategy, message string) {
	w := newWorld()
	body := fmt.Sprintf(`{"spec":{"placementRefs":[{"name":"stages","rolloutStrategy":%s}]}}`, strategy)
	err := k8s.Patch(bg, policyOf(w), client.RawPatch(types.MergePatchType, []byte(body)))
	if message == "" {
		Expect(err).NotTo(HaveOccurred())
		return
	}
	Expect(err).To(MatchError(ContainSubstring(message)))
},
	Entry("no strategy at all", `{}`, ""),
	Entry("a duration in parts", `{"type":"ProgressivePerGroup","progressivePerGroup":{"minSuccessTime":"1h30m","maxFailures":"10%"}}`, ""),
	Entry("an unknown unit", `{"type":"ProgressivePerGroup","progressivePerGroup":{"minSuccessTime":"5x"}}`,
		"progressivePerGroup.minSuccessTime must be a duration"),
	Entry("no unit", `{"type":"All","all":{"minSuccessTime":"5"}}`, "all.minSuccessTime must be a duration"),
	Entry("more than a duration can be", `{"type":"Progressive","progressive":{"minSuccessTime":"99999999999h"}}`,
		"progressive.minSuccessTime must be a duration"),
	Entry("a negative one", `{"type":"All","all":{"minSuccessTime":"-5s"}}`, "all.minSuccessTime must be a duration"),
	Entry("too many failures", `{"type":"ProgressivePerGroup","progressivePerGroup":{"maxFailures":99999999999}}`, "must be at most 2147483647"),
)
