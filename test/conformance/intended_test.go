package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestJudge(t *testing.T) {
	values := difference{Case: "a", Field: "spec.helm.values.x"}
	longer := difference{Case: "a", Field: "spec.helm.valuesFiles"}
	target := difference{Case: "b", Field: "spec.targets[0]"}
	for name, test := range map[string]struct {
		list           []intention
		wantUnintended []difference
		wantStale      []intention
	}{
		"nothing is intended": {wantUnintended: []difference{values, longer, target}},
		"a field with all below it, in any case": {
			list:           []intention{{Field: "spec.helm.values"}, {Field: "spec.targets"}},
			wantUnintended: []difference{longer},
		},
		"a case alone": {
			list:           []intention{{Case: "a", Field: "spec.targets"}, {Case: "a", Field: "spec.helm"}},
			wantUnintended: []difference{target},
			wantStale:      []intention{{Case: "a", Field: "spec.targets"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			unintended, stale := judge(test.list, []difference{values, longer, target})
			if diff := cmp.Diff(test.wantUnintended, unintended); diff != "" {
				t.Errorf("unintended (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.wantStale, stale); diff != "" {
				t.Errorf("stale (-want +got):\n%s", diff)
			}
		})
	}
}

func TestIntendedHaveReasons(t *testing.T) {
	for _, i := range intended {
		if i.Field == "" || i.Reason == "" {
			t.Errorf("%s lacks a field or a reason", i)
		}
	}
}
