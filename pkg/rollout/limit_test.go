package rollout

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"
)

func amount(v string) *intstr.IntOrString {
	if v == "" {
		return nil
	}
	out := intstr.Parse(v)
	return &out
}

func text(v string) *intstr.IntOrString {
	out := intstr.FromString(v)
	return &out
}

// TestLimit has Fleet's own vectors, then those where this planner differs from Fleet.
func TestLimit(t *testing.T) {
	tests := map[string]struct {
		count int
		value *intstr.IntOrString
		want  int
	}{
		"(10, 5) = 5":                           {10, amount("5"), 5},
		"(10, 15) = 10":                         {10, amount("15"), 10},
		"(0, 15) = 1":                           {0, amount("15"), 1},
		"(-15, 15) = 1":                         {-15, amount("15"), 1},
		"(10, nil) = 10":                        {10, nil, 10},
		"(50, none) = 50":                       {50, nil, 50},
		"(10, 0) = 0":                           {10, amount("0"), 0},
		"(10, 50%) = 5":                         {10, amount("50%"), 5},
		"(11, 100%) = 11":                       {11, amount("100%"), 11},
		"(10, 150%) = 10":                       {10, amount("150%"), 10},
		"(10, 10%) = 1":                         {10, amount("10%"), 1},
		"(5, 10%) = 1":                          {5, amount("10%"), 1},
		"(10, 49%) = 4":                         {10, amount("49%"), 4},
		"(10, 0%) = 1":                          {10, amount("0%"), 1},
		"(10, 33.4%) = 3":                       {10, amount("33.4%"), 3},
		"(4, 1%) = 1":                           {4, amount("1%"), 1},
		"(4, 25%) = 1":                          {4, amount("25%"), 1},
		"(4, 49%) = 1":                          {4, amount("49%"), 1},
		"(4, 50%) = 2":                          {4, amount("50%"), 2},
		"(230, 25%) = 57":                       {230, amount("25%"), 57},
		"text 5 is the number 5":                {10, text("5"), 5},
		"text 15 of 10 is capped, not in Fleet": {10, text("15"), 10},
		"text 0 is 0, an error in Fleet":        {10, text("0"), 0},
		"a number too large for 32 bits":        {10, text("9999999999"), 10},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := limit(tt.count, tt.value); got != tt.want {
				t.Errorf("limit(%d, %v) = %d, want %d", tt.count, tt.value, got, tt.want)
			}
		})
	}
}

func TestReadLimitRefuses(t *testing.T) {
	tests := map[string]string{
		"-10%": "negative", "-1": "negative", "-1%": "negative", // Fleet: 1, 0 and 1
		"": "a number such as", "many": "a number such as", "%": "a number such as", "NaN%": "a number such as", "Inf%": "a number such as",
		"1.5": "a number such as", "10 %": "a number such as", "5%%": "a number such as",
	}
	for value, want := range tests {
		t.Run(value, func(t *testing.T) {
			if _, _, err := readLimit(intstr.FromString(value)); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want an error that says %q", value, err, want)
			}
		})
	}
	if _, _, err := readLimit(intstr.FromInt32(-2)); err == nil {
		t.Error("the number -2 is taken")
	}
}

// limitsIn are a bundle's limits inside the groups of a policy.
func limitsIn(in Input, maxUnavailable string, maxNew int) Input {
	in.Source.Limits = &Limits{MaxUnavailable: amount(maxUnavailable)}
	if maxNew >= 0 {
		in.Source.Limits.MaxNew = &maxNew
	}
	return in
}

func TestLimitsInsideGroups(t *testing.T) {
	tests := map[string]struct {
		in        Input
		want      string
		held      string
		reason    Reason
		says      string
		most, out int
	}{
		"updates of a group while enough are available": {
			in:   limitsIn(fleetOf(perGroup("0"), "a dev Old", "b dev Old", "c dev Old", "d stg Old"), "2", -1),
			want: "a b", held: "c", reason: MaxUnavailable, says: "group dev: 2 clusters are unavailable (a, b), maxUnavailable is 2", most: 2, out: 2},
		"first installs in batches of maxNew": {
			in:   limitsIn(fleetOf(perGroup("0"), "a dev -", "b dev -", "c dev -"), "1", 2),
			want: "a b", held: "c", reason: MaxNew, says: "the next 2 first installs of group dev wait: 2 clusters are unavailable (a, b), maxUnavailable is 1", most: 1, out: 2},
		"maxNew 0 installs nothing and says for how long": {
			in:   limitsIn(fleetOf(perGroup("0"), "a dev -"), "", 0),
			want: "", held: "a", reason: MaxNew, says: "maxNew is 0: group dev gets no first installs until the bundle's spec.rolloutStrategy.maxNew is raised", most: 1},
		"a failure that is tolerated takes no part": {
			in:   limitsIn(fleetOf(perGroup("1"), "a dev Failed", "b dev Old", "c dev Old"), "1", -1),
			want: "b", held: "c", reason: MaxUnavailable, says: "1 cluster is unavailable (b)", most: 1, out: 2},
		"one that waits for its first success does": {
			in:   limitsIn(fleetOf(perGroup("1"), "a dev Progressing", "b dev Old"), "1", -1),
			want: "", held: "b", reason: MaxUnavailable, says: "1 cluster is unavailable (a)", most: 1, out: 1},
		"one that soaks is available": {
			in:   limitsIn(fleetOf(perGroup("1"), "a dev Soaking", "b dev Old"), "1", -1),
			want: "b", held: "a", reason: SoakingReason, most: 1, out: 1},
		"with 0 one at a time": {
			in:   limitsIn(fleetOf(perGroup("0"), "a dev Old", "b dev Old"), "0", -1),
			want: "a", held: "b", reason: MaxUnavailable, says: "maxUnavailable is 0, so one cluster follows at a time and only while no other is unavailable", out: 1},
		"without limits there is none": {
			in:   fleetOf(perGroup("0"), "a dev Old", "b dev Progressing"),
			want: "a", held: "b", reason: NotReady, most: -1, out: 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := Plan(tt.in, testNow)
			if got := admitted(r); got != tt.want {
				t.Errorf("admitted %q, want %q", got, tt.want)
			}
			if c := row(t, r, tt.held); c.Reason != tt.reason || !strings.Contains(c.Sentence, tt.says) {
				t.Errorf("%s %q, want %s %q", c.Reason, c.Sentence, tt.reason, tt.says)
			}
			if g := r.Lanes[0].Groups[0]; g.MaxUnavailable != tt.most || g.Unavailable != tt.out {
				t.Errorf("unavailable %d of %d, want %d of %d", g.Unavailable, g.MaxUnavailable, tt.out, tt.most)
			}
		})
	}
}

// TestSupersededBreakageIsRepairedAtOnce shows that the limit does not keep a repair
// from the cluster that needs it, and that the repair takes no more of it.
func TestSupersededBreakageIsRepairedAtOnce(t *testing.T) {
	in := limitsIn(fleetOf(perGroup("0"), "a dev Old", "b dev Old", "c dev Old"), "1", -1)
	in.cluster(t, "c").Work.Verdict.Ready = false
	if r := Plan(in, testNow); admitted(r) != "c" || row(t, r, "a").Reason != MaxUnavailable {
		t.Errorf("admitted %q, a: %s", admitted(r), row(t, r, "a").Reason)
	}
}
