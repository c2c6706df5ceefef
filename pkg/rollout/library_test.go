package rollout

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/sets"
	testingclock "k8s.io/utils/clock/testing"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	library "open-cluster-management.io/sdk-go/pkg/apis/cluster/v1alpha1"
	tracker "open-cluster-management.io/sdk-go/pkg/apis/cluster/v1beta1"
)

// libraryCall is one question to the rollout library of OCM's sdk-go, on what fleetOf
// takes: clusters written as "name group state".
type libraryCall struct {
	handler  *library.RolloutHandler[any]
	strategy clusterv1alpha1.RolloutStrategy
	rows     []library.ClusterRolloutStatus
}

// libraryOf asks what a fleet needs next. "-" has no row, as the library knows clusters
// without the desired revision best, and "Old" one that is to be applied.
func libraryOf(s Strategy, fleet ...string) libraryCall {
	groups, keys := tracker.ClusterGroupsMap{}, map[string]tracker.GroupKey{}
	var rows []library.ClusterRolloutStatus
	for _, line := range fleet {
		f := strings.Fields(line)
		key, ok := keys[f[1]]
		if !ok {
			key = tracker.GroupKey{GroupName: f[1], GroupIndex: int32(len(keys))}
			keys[f[1]], groups[key] = key, sets.New[string]()
		}
		groups[key].Insert(f[0])
		if f[2] != "-" {
			rows = append(rows, libraryRow(f[0], f[2]))
		}
	}
	return libraryWith(s, groups, rows...)
}

func libraryWith(s Strategy, groups tracker.ClusterGroupsMap, rows ...library.ClusterRolloutStatus) libraryCall {
	library.RolloutClock = testingclock.NewFakeClock(testNow)
	handler, err := library.NewRolloutHandler[any](tracker.NewPlacementDecisionClustersTrackerWithGroups(nil, nil, groups), nil)
	if err != nil {
		panic(err)
	}
	return libraryCall{handler, libraryStrategy(s), rows}
}

// libraryRow is a cluster in one of our states.
func libraryRow(name, state string) library.ClusterRolloutStatus {
	status, since := libraryStatus(state)
	at := metav1.NewTime(testNow.Add(-since))
	return library.ClusterRolloutStatus{ClusterName: name, Status: status, LastTransitionTime: &at}
}

// libraryStatus is what a caller that knows our states tells the library, and since when.
func libraryStatus(state string) (library.RolloutStatus, time.Duration) {
	switch state {
	case "Old":
		return library.ToApply, 0
	case string(Progressing):
		return library.Progressing, 30 * time.Second
	case "Late": // It progresses, and its deadline is over.
		return library.Progressing, 2 * testDeadline
	case string(TimedOut):
		return library.TimeOut, 2 * testDeadline
	case string(Failed):
		return library.Failed, 30 * time.Second
	case "FailedLate": // It failed before its deadline, which is over.
		return library.Failed, 2 * testDeadline
	case string(Soaking), string(Recovering):
		return library.Succeeded, 5 * time.Second
	case string(Done):
		return library.Succeeded, time.Hour
	}
	panic("no state " + state)
}

// libraryStrategy is our strategy in OCM's words.
func libraryStrategy(s Strategy) clusterv1alpha1.RolloutStrategy {
	config := clusterv1alpha1.RolloutConfig{MinSuccessTime: metav1.Duration{Duration: s.MinSuccessTime}, ProgressDeadline: "None", MaxFailures: s.MaxFailures}
	if s.ProgressDeadline > 0 {
		config.ProgressDeadline = fmt.Sprintf("%ds", int(s.ProgressDeadline.Seconds()))
	}
	var mandatory clusterv1alpha1.MandatoryDecisionGroups
	for _, m := range s.Mandatory {
		mandatory.MandatoryDecisionGroups = append(mandatory.MandatoryDecisionGroups,
			clusterv1alpha1.MandatoryDecisionGroup{GroupName: m.Name, GroupIndex: int32(m.Index)})
	}
	out := clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.RolloutType(s.Type)}
	switch s.Type {
	case All:
		out.All = &clusterv1alpha1.RolloutAll{RolloutConfig: config}
	case ProgressivePerGroup:
		out.ProgressivePerGroup = &clusterv1alpha1.RolloutProgressivePerGroup{RolloutConfig: config, MandatoryDecisionGroups: mandatory}
	case Progressive:
		out.Progressive = &clusterv1alpha1.RolloutProgressive{RolloutConfig: config, MandatoryDecisionGroups: mandatory}
		if s.QueueConcurrency != nil {
			out.Progressive.MaxConcurrency = *s.QueueConcurrency
		}
	default:
		panic("the library has no " + s.Type)
	}
	return out
}

// ask the library. It sorts the rows that it is given.
func (c libraryCall) ask() (library.RolloutResult, error) {
	_, r, err := c.handler.GetRolloutCluster(c.strategy, c.rows)
	return r, err
}

// admits are the clusters that the library would have applied now, in name order, and
// "error" where it refuses to answer.
func (c libraryCall) admits() string {
	r, err := c.ask()
	if err != nil {
		return "error"
	}
	var names []string
	for _, cluster := range r.ClustersToRollout {
		if cluster.Status == library.ToApply {
			names = append(names, cluster.ClusterName)
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// TestLibraryAdapter shows that the adapter asks what it means to ask: the plain cases
// of the library's own tests.
func TestLibraryAdapter(t *testing.T) {
	two := intstr.FromInt32(2)
	queue := Strategy{Type: Progressive, MinSuccessTime: testSoak, ProgressDeadline: testDeadline, QueueConcurrency: &two}
	for name, tt := range map[string]struct {
		strategy Strategy
		fleet    []string
		want     string
	}{
		"All":                     {Strategy{Type: All}, []string{"a g0 -", "b g1 Old", "c g1 Progressing"}, "a b"},
		"the first group":         {perGroup("0"), []string{"a g0 -", "b g0 Old", "c g1 -"}, "a b"},
		"the next group":          {perGroup("0"), []string{"a g0 Done", "b g0 Done", "c g1 -"}, "c"},
		"a soak holds":            {perGroup("0"), []string{"a g0 Soaking", "c g1 -"}, ""},
		"a failure holds":         {perGroup("0"), []string{"a g0 Failed", "c g1 -"}, ""},
		"a mandatory group first": {perGroup("0", "g1"), []string{"a g0 -", "c g1 -"}, "c"},
		"a queue":                 {queue, []string{"a g0 Done", "b g0 Progressing", "c g0 -", "d g1 -"}, "c"},
	} {
		if got := libraryOf(tt.strategy, tt.fleet...).admits(); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
