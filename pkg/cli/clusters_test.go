package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

func TestClusterTable(t *testing.T) {
	list := &clusterList{
		Clusters: []clusterRow{
			{Name: "d1", Group: "dev", Revision: "abc", State: "Done", Shown: "Ready", Since: &metav1.Time{Time: noon.Add(-time.Hour)}, Reason: "Complete", Message: "ready"},
			{Name: "s1", Group: "stg", State: "Pending", Shown: "Pending", Message: "is next"},
		},
		notes: []string{"3 more of the 5 selected clusters have nothing of the bundle yet."},
	}
	want := `CLUSTER  GROUP  REVISION  STATE    SHOWN AS  SINCE  MESSAGE
d1       dev    abc       Done     Ready     60m    ready
s1       stg              Pending  Pending          is next
3 more of the 5 selected clusters have nothing of the bundle yet.`
	if diff := cmp.Diff(want, strings.Join(list.table(noon), "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPlaceLabel(t *testing.T) {
	one := threeGroups()
	two := threeGroups()
	two.Status.Lanes = append(two.Status.Lanes, v1alpha1.LaneStatus{Name: "edge"})
	cases := map[string]struct {
		rollout     *v1alpha1.Rollout
		lane, group string
		index       int
		want        string
	}{
		"one lane needs no name":           {rollout: one, lane: "all", group: "dev", want: "dev"},
		"the second group of its name":     {rollout: one, lane: "all", group: "dev", index: 1, want: "dev[1]"},
		"no declared group":                {rollout: one, lane: "all", want: "(unmatched)"},
		"several lanes":                    {rollout: two, lane: "all", group: "dev", want: "all/dev"},
		"a lane that is not there anymore": {rollout: one, lane: "old", group: "dev", want: "old/dev"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			at := rollout.Place{Lane: tc.lane, GroupKey: rollout.GroupKey{Name: tc.group, Index: tc.index}}
			if got := placeLabel(tc.rollout, at); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}
