package hub_test

import (
	"encoding/json"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// lane is a policy of one Placement with these settings besides its name.
func lane(settings string) string {
	return fmt.Sprintf(`{"placementRefs":[{"name":"a",%s}]}`, settings)
}

func strategy(s string) string { return lane(`"rolloutStrategy":` + s) }

func progressive(s string) string {
	return strategy(fmt.Sprintf(`{"type":"Progressive","progressive":{%s}}`, s))
}

func perGroup(s string) string {
	return strategy(fmt.Sprintf(`{"type":"ProgressivePerGroup","progressivePerGroup":{%s}}`, s))
}

func groups(g ...string) string { return lane(`"groups":[` + strings.Join(g, ",") + `]`) }

// numbered are n objects, each with its number where %d stands.
func numbered(n int, object string) string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf(object, i)
	}
	return strings.Join(out, ",")
}

const (
	ref        = "spec.placementRefs[0]"
	queue      = ref + ".rolloutStrategy.progressive"
	byGroup    = ref + ".rolloutStrategy.progressivePerGroup"
	atOnce     = ref + ".rolloutStrategy.all"
	wantSoak   = "must be a duration such as 90s, 30m or 1h30m, and not negative"
	wantTime   = "must be None or a positive duration such as 90s, 30m or 1h30m"
	wantLimit  = "must be a number from 0 to 2147483647, or a percentage from 0% to 100%"
	wantSlots  = "must be a number from 1 to 2147483647, or a percentage from 1% to 100%"
	percentage = "should match '^(100|[0-9]{1,2})%$'"
	slots      = "should match '^(100|[1-9][0-9]?|0[1-9])%$'"
)

// What the planner would refuse must not be stored: kubectl apply names the field. What
// Go cannot read must be stored least of all, as it would keep the object from every
// list that holds it.
var _ = DescribeTable("A RolloutPolicy is refused at the door", func(spec, path, message string) {
	d := doorOf("rolloutpolicies", "RolloutPolicy")
	_, refused := d.knock(spec)
	Expect(refused).To(ContainElement(And(HavePrefix(path+": "), ContainSubstring(message))))
	_, told := planner(d.object(spec))
	Expect(told).NotTo(BeEmpty(), "ValidatePolicy has to refuse it as well")
	if !strings.HasPrefix(told, "cannot be read") {
		Expect(strings.Split(told, "\n")).To(ContainElement(HavePrefix(path)))
	}
},
	Entry("no Placement", `{"placementRefs":[]}`, "spec.placementRefs", "should have at least 1 items"),
	Entry("a Placement without a name", `{"placementRefs":[{"name":""}]}`, ref+".name", "should be at least 1 chars long"),
	Entry("a percentage of four digits", perGroup(`"maxFailures":"0010%"`), byGroup+".maxFailures", percentage),
	Entry("a Placement twice", `{"placementRefs":[{"name":"a"},{"name":"b"},{"name":"a"}]}`, "spec.placementRefs[2]", "Duplicate value"),
	Entry("an operator without values", `{"bundleSelector":{"matchExpressions":[{"key":"a","operator":"In"}]},"placementRefs":[{"name":"a"}]}`,
		"spec.bundleSelector", "In or NotIn with values"),
	Entry("an unknown operator", `{"bundleSelector":{"matchExpressions":[{"key":"a","operator":"Near"}]},"placementRefs":[{"name":"a"}]}`,
		"spec.bundleSelector", "In or NotIn with values"),

	Entry("an unknown type", strategy(`{"type":"Canary"}`), ref+".rolloutStrategy.type", `supported values: "All", "Progressive", "ProgressivePerGroup"`),
	Entry("Progressive without its struct", strategy(`{"type":"Progressive"}`), queue, "type Progressive needs it"),
	Entry("ProgressivePerGroup without its struct", strategy(`{"type":"ProgressivePerGroup"}`), byGroup, "type ProgressivePerGroup needs it"),
	Entry("All with the struct of another", strategy(`{"type":"All","progressive":{}}`), queue, "belongs to type Progressive"),
	Entry("no type with the struct of another", strategy(`{"progressivePerGroup":{}}`), byGroup, "belongs to type ProgressivePerGroup"),
	Entry("Progressive with the struct of another", strategy(`{"type":"Progressive","progressive":{},"progressivePerGroup":{}}`), byGroup, "belongs to type ProgressivePerGroup"),
	Entry("ProgressivePerGroup with All's", strategy(`{"type":"ProgressivePerGroup","progressivePerGroup":{},"all":{}}`), atOnce, "belongs to type All"),

	Entry("maxFailures of All over 100 %", strategy(`{"type":"All","all":{"maxFailures":"101%"}}`), atOnce+".maxFailures", percentage),
	Entry("maxFailures over 100 %", progressive(`"maxFailures":"150%"`), queue+".maxFailures", percentage),
	Entry("maxFailures negative", progressive(`"maxFailures":-1`), queue+".maxFailures", wantLimit),
	Entry("maxFailures negative %", perGroup(`"maxFailures":"-1%"`), byGroup+".maxFailures", percentage),
	Entry("maxFailures NaN", perGroup(`"maxFailures":"NaN"`), byGroup+".maxFailures", percentage),
	Entry("maxFailures NaN %", perGroup(`"maxFailures":"NaN%"`), byGroup+".maxFailures", percentage),
	Entry("maxFailures a number as a string", perGroup(`"maxFailures":"2"`), byGroup+".maxFailures", percentage),
	Entry("maxFailures empty", perGroup(`"maxFailures":""`), byGroup+".maxFailures", percentage),
	Entry("maxFailures a fraction", perGroup(`"maxFailures":1.5`), byGroup+".maxFailures", "must be of type integer"),
	Entry("maxFailures more than Go reads", perGroup(`"maxFailures":99999999999`), byGroup+".maxFailures", wantLimit),
	Entry("maxFailures a number that Go does not read", perGroup(`"maxFailures":2.0`), byGroup+".maxFailures", "either a string or integer"),
	Entry("maxFailures true", perGroup(`"maxFailures":true`), byGroup+".maxFailures", "must be of type integer"),

	Entry("minSuccessTime of All negative", strategy(`{"type":"All","all":{"minSuccessTime":"-5s"}}`), atOnce+".minSuccessTime", wantSoak),
	Entry("minSuccessTime negative", progressive(`"minSuccessTime":"-5s"`), queue+".minSuccessTime", wantSoak),
	Entry("minSuccessTime without a unit", perGroup(`"minSuccessTime":"5"`), byGroup+".minSuccessTime", wantSoak),
	Entry("minSuccessTime of an unknown unit", perGroup(`"minSuccessTime":"5x"`), byGroup+".minSuccessTime", wantSoak),
	Entry("minSuccessTime a number", perGroup(`"minSuccessTime":5`), byGroup+".minSuccessTime", "must be of type string"),
	Entry("minSuccessTime longer than Go counts", perGroup(`"minSuccessTime":"99999999999h"`), byGroup+".minSuccessTime", wantSoak),

	Entry("progressDeadline of All zero", strategy(`{"type":"All","all":{"progressDeadline":"0s"}}`), atOnce+".progressDeadline", wantTime),
	Entry("progressDeadline zero", progressive(`"progressDeadline":"0"`), queue+".progressDeadline", wantTime),
	Entry("progressDeadline negative", perGroup(`"progressDeadline":"-5m"`), byGroup+".progressDeadline", wantTime),
	Entry("progressDeadline without a unit", perGroup(`"progressDeadline":"5"`), byGroup+".progressDeadline", wantTime),
	Entry("progressDeadline with a rest", perGroup(`"progressDeadline":"5mfoo"`), byGroup+".progressDeadline", wantTime),
	Entry("progressDeadline almost None", perGroup(`"progressDeadline":"xNone"`), byGroup+".progressDeadline", wantTime),

	Entry("a mandatory group twice by name", progressive(`"mandatoryDecisionGroups":[{"groupName":"x"},{"groupName":"x","groupIndex":2}]`),
		queue+".mandatoryDecisionGroups", "must not name a group twice"),
	Entry("a mandatory group twice by index", perGroup(`"mandatoryDecisionGroups":[{"groupIndex":1},{"groupName":"x"},{"groupIndex":1}]`),
		byGroup+".mandatoryDecisionGroups", "must not name a group twice"),
	Entry("the first group twice", perGroup(`"mandatoryDecisionGroups":[{"groupIndex":0},{"groupName":""}]`),
		byGroup+".mandatoryDecisionGroups", "must not name a group twice"),
	Entry("a mandatory group before the first", perGroup(`"mandatoryDecisionGroups":[{"groupIndex":-1}]`),
		byGroup+".mandatoryDecisionGroups[0].groupIndex", "greater than or equal to 0"),
	Entry("a mandatory group beyond what Go reads", perGroup(`"mandatoryDecisionGroups":[{"groupIndex":99999999999}]`),
		byGroup+".mandatoryDecisionGroups[0].groupIndex", "less than or equal to 2147483647"),

	Entry("maxConcurrency of the queue 0", progressive(`"maxConcurrency":0`), queue+".maxConcurrency", wantSlots),
	Entry("maxConcurrency of the queue 0 %", progressive(`"maxConcurrency":"0%"`), queue+".maxConcurrency", slots),
	Entry("maxConcurrency of the queue a number as a string", progressive(`"maxConcurrency":"3"`), queue+".maxConcurrency", slots),
	Entry("maxConcurrency of the queue too large", progressive(`"maxConcurrency":2147483648`), queue+".maxConcurrency", wantSlots),
	Entry("maxConcurrency 0", lane(`"maxConcurrency":0`), ref+".maxConcurrency", wantSlots),
	Entry("maxConcurrency negative", lane(`"maxConcurrency":-3`), ref+".maxConcurrency", wantSlots),
	Entry("maxConcurrency 0 %", lane(`"maxConcurrency":"00%"`), ref+".maxConcurrency", slots),
	Entry("maxConcurrency over 100 %", lane(`"maxConcurrency":"101%"`), ref+".maxConcurrency", slots),
	Entry("maxConcurrency a number as a string", lane(`"maxConcurrency":"2"`), ref+".maxConcurrency", slots),
	Entry("maxConcurrency more than Go reads", lane(`"maxConcurrency":99999999999`), ref+".maxConcurrency", wantSlots),

	Entry("a group without a name", groups(`{"name":""}`), ref+".groups[0].name", "should be at least 1 chars long"),
	Entry("a group twice", groups(`{"name":"dev"}`, `{"name":"stg"}`, `{"name":"dev"}`), ref+".groups[2]", "Duplicate value"),
	Entry("a group's minSuccessTime negative", groups(`{"name":"dev","minSuccessTime":"-1ns"}`), ref+".groups[0].minSuccessTime", wantSoak),
	Entry("a group's progressDeadline zero", groups(`{"name":"dev","progressDeadline":"0h"}`), ref+".groups[0].progressDeadline", wantTime),
	Entry("a group's maxFailures a number as a string", groups(`{"name":"a"}`, `{"name":"dev","maxFailures":"2"}`), ref+".groups[1].maxFailures", percentage),
	Entry("a group's maxFailures negative", groups(`{"name":"dev","maxFailures":-1}`), ref+".groups[0].maxFailures", wantLimit),
	Entry("a group's maxConcurrency 0", groups(`{"name":"dev","maxConcurrency":0}`), ref+".groups[0].maxConcurrency", wantSlots),
	Entry("a group's maxConcurrency over 100 %", groups(`{"name":"dev","maxConcurrency":"200%"}`), ref+".groups[0].maxConcurrency", slots),
)

var _ = DescribeTable("A valid RolloutPolicy is let in", func(spec string) {
	d := doorOf("rolloutpolicies", "RolloutPolicy")
	stored, refused := d.knock(spec)
	Expect(refused).To(BeEmpty())
	for _, object := range [][]byte{stored, d.object(spec)} {
		_, told := planner(object)
		Expect(told).To(BeEmpty())
	}
},
	Entry("nothing but a Placement", `{"placementRefs":[{"name":"a"}]}`),
	Entry("32 Placements", `{"placementRefs":[`+numbered(32, `{"name":"p%d"}`)+`]}`),
	Entry("a selector of all", `{"bundleSelector":{},"placementRefs":[{"name":"a"}]}`),
	Entry("a selector with expressions", `{"bundleSelector":{"matchLabels":{"a":"b"},"matchExpressions":[{"key":"a","operator":"In","values":["b"]},{"key":"c","operator":"DoesNotExist"}]},"placementRefs":[{"name":"a"}]}`),
	Entry("no strategy at all", strategy(`{}`)),
	Entry("what nobody set", strategy(`null`)),
	Entry("All", strategy(`{"type":"All"}`)),
	Entry("All with settings", strategy(`{"type":"All","all":{"minSuccessTime":"0","progressDeadline":"10m","maxFailures":1}}`)),
	Entry("Progressive with the defaults", progressive(``)),
	Entry("Progressive with everything", progressive(`"minSuccessTime":"1h30m","progressDeadline":"1.5h","maxFailures":"100%","maxConcurrency":"1%","mandatoryDecisionGroups":[{"groupName":"x"},{"groupIndex":0},{"groupIndex":1}]`)),
	Entry("Progressive one by one", progressive(`"maxConcurrency":1`)),
	Entry("ProgressivePerGroup with the defaults", perGroup(``)),
	Entry("ProgressivePerGroup with everything", perGroup(`"minSuccessTime":"20s","progressDeadline":"None","maxFailures":"0%","mandatoryDecisionGroups":[{"groupIndex":2147483647}]`)),
	Entry("64 mandatory groups", perGroup(`"mandatoryDecisionGroups":[`+numbered(64, `{"groupName":"g%d"}`)+`]`)),
	Entry("what OCM writes of an unset strategy", perGroup(`"minSuccessTime":"0s","progressDeadline":"","maxFailures":0`)),
	Entry("the largest numbers", lane(`"maxConcurrency":2147483647,"groups":[{"name":"g","maxFailures":2147483647}]`)),
	Entry("a share of the group", lane(`"maxConcurrency":"100%"`)),
	Entry("a group with everything", groups(`{"name":"dev","minSuccessTime":"0s","progressDeadline":"None","maxFailures":"10%","maxConcurrency":2}`, `{"name":"stg","progressDeadline":"90s"}`)),
	Entry("1,000 groups", groups(numbered(1000, `{"name":"g%d","minSuccessTime":"1h","progressDeadline":"90s","maxFailures":"10%%","maxConcurrency":2}`))),
)

// Sizes and names are bounded by the API server alone, so that no rule can cost too much;
// the planner takes more. Labels of a selector are parsed by the planner alone.
var _ = DescribeTable("Where the door and the planner differ", func(spec, path string, planned bool) {
	d := doorOf("rolloutpolicies", "RolloutPolicy")
	_, refused := d.knock(spec)
	_, told := planner(d.object(spec))
	if planned {
		Expect(refused).To(ContainElement(HavePrefix(path + ": ")))
		Expect(told).To(BeEmpty())
		return
	}
	Expect(refused).To(BeEmpty())
	Expect(told).To(HavePrefix(path + ": "))
},
	Entry("33 Placements", `{"placementRefs":[`+numbered(33, `{"name":"p%d"}`)+`]}`, "spec.placementRefs", true),
	Entry("1,001 groups", groups(numbered(1001, `{"name":"g%d"}`)), ref+".groups", true),
	Entry("65 mandatory groups", perGroup(`"mandatoryDecisionGroups":[`+numbered(65, `{"groupName":"g%d"}`)+`]`), byGroup+".mandatoryDecisionGroups", true),
	Entry("a group's name that is no label", groups(`{"name":"`+strings.Repeat("a", 64)+`"}`), ref+".groups[0].name", true),
	Entry("a mandatory name that is no label", perGroup(`"mandatoryDecisionGroups":[{"groupName":"`+strings.Repeat("a", 64)+`"}]`), byGroup+".mandatoryDecisionGroups[0].groupName", true),
	Entry("a Placement's name that is none", `{"placementRefs":[{"name":"`+strings.Repeat("a", 254)+`"}]}`, ref+".name", true),
	Entry("a duration of 65 digits", perGroup(`"minSuccessTime":"`+strings.Repeat("0", 64)+`s"`), byGroup+".minSuccessTime", true),
	Entry("a label that is none", `{"bundleSelector":{"matchLabels":{"a b":"c"}},"placementRefs":[{"name":"a"}]}`, "spec.bundleSelector", false),
)

// Values that people write, right and wrong, in every field of their kind.
var _ = It("lets in what ValidatePolicy accepts, and nothing else", func() {
	d := doorOf("rolloutpolicies", "RolloutPolicy")
	inAll := func(s string) string { return strategy(fmt.Sprintf(`{"type":"All","all":{%s}}`, s)) }
	inGroup := func(s string) string { return groups(`{"name":"x"}`, `{"name":"y",`+s+`}`) }
	places := map[string][]func(string) string{
		"minSuccessTime":   {inAll, progressive, perGroup, inGroup},
		"progressDeadline": {inAll, progressive, perGroup, inGroup},
		"maxFailures":      {inAll, progressive, perGroup, inGroup},
		"maxConcurrency":   {lane, progressive, inGroup},
	}
	durations := []string{`"0"`, `"0s"`, `"-0s"`, `"-5s"`, `"5"`, `"5x"`, `"5m"`, `"1h30m"`, `"1h 30m"`, `"1.5h"`, `"+5s"`, `".5h"`, `"5µs"`, `"1e3s"`, `"None"`,
		`"none"`, `"xNone"`, `"5mfoo"`, `"99999999999h"`, `"2562047h"`, `"2562048h"`, `"1d"`, `" 5s"`, `5`, `-1`, `true`, `null`, `[]`, `{}`}
	limits := []string{`-2147483649`, `-2147483648`, `-1`, `0`, `1`, `2147483647`, `2147483648`, `99999999999`, `99999999999999999999`, `1.5`, `1e3`, `"2"`, `"0"`, `"-1"`, `"0%"`, `"00%"`, `"1%"`, `"05%"`,
		`"007%"`, `"100%"`, `"101%"`, `"150%"`, `"-1%"`, `"NaN"`, `"NaN%"`, `"Infinity"`, `""`, `"%"`, `"%%"`, `"5"`, `" 5%"`, `"5 %"`, `"5%\n"`, `"+5%"`, `"2.5%"`, `"0x5%"`, `"all"`, `true`, `null`, `[]`, `{}`}
	// Both take an unset deadline that is written; an empty duration is none.
	values := map[string][]string{"minSuccessTime": append(durations, `""`), "progressDeadline": append(durations, `""`), "maxFailures": limits, "maxConcurrency": limits}
	var in, out int
	for name, fields := range places {
		for i, at := range fields {
			for _, value := range values[name] {
				spec := at(fmt.Sprintf("%q:%s", name, value))
				stored, refused := d.knock(spec)
				policy, told := planner(d.object(spec))
				Expect(refused == nil).To(Equal(told == ""), "%s %s (%d):\nthe door: %v\nthe planner: %s", name, value, i, refused, told)
				if refused != nil {
					out++
					Expect(strings.Join(refused, "\n")).To(ContainSubstring("."+name), "%s", value)
					continue
				}
				in++
				again, err := json.Marshal(policy.Spec)
				Expect(err).NotTo(HaveOccurred())
				_, refused = d.knock(string(again))
				Expect(refused).To(BeEmpty(), "what Go writes has to be let in again: %s", again)
				_, told = planner(stored)
				Expect(told).To(BeEmpty())
			}
		}
	}
	Expect(in).To(BeNumerically(">", 100))
	Expect(out).To(BeNumerically(">", 250))
})

// YAML has a way to write what JSON cannot.
var _ = It("refuses NaN that is applied as YAML", func() {
	w := newWorld()
	body := "apiVersion: fleet.open-cluster-management.io/v1alpha1\nkind: RolloutPolicy\nmetadata: {name: stages}\nspec: {placementRefs: [{name: stages, maxConcurrency: .nan}]}"
	patch := client.RawPatch(types.ApplyPatchType, []byte(body))
	Expect(k8s.Patch(bg, policyOf(w), patch, client.FieldOwner("people"), client.ForceOwnership)).To(MatchError(ContainSubstring("NaN")))
})
