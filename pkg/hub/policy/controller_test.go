package policy

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestAccepted(t *testing.T) {
	a, b := field.Invalid(field.NewPath("spec", "a"), 1, "no"), field.Invalid(field.NewPath("spec", "b"), 1, "no")
	tests := map[string]struct {
		errs       field.ErrorList
		around     surroundings
		wantStatus metav1.ConditionStatus
		wantReason string
		says       string
	}{
		"all is well":                  {wantStatus: metav1.ConditionTrue, wantReason: "Accepted", says: "every lane"},
		"a Placement is missing":       {around: surroundings{placements: []string{"P does not exist"}}, wantStatus: metav1.ConditionFalse, wantReason: "PlacementNotFound", says: "P does not exist"},
		"a mandatory group is missing": {around: surroundings{groups: []string{"no group canary"}}, wantStatus: metav1.ConditionFalse, wantReason: "MandatoryGroupMissing", says: "no group canary"},
		"errors in a stable order":     {errs: field.ErrorList{b, a}, wantStatus: metav1.ConditionFalse, wantReason: "StrategyInvalid", says: a.Error() + "; " + b.Error()},
		"errors before what is missing": {
			errs: field.ErrorList{a}, around: surroundings{placements: []string{"P does not exist"}}, wantStatus: metav1.ConditionFalse,
			wantReason: "StrategyInvalid", says: a.Error() + "; P does not exist",
		},
		"more than a condition takes": {
			around: surroundings{placements: []string{strings.Repeat("é", 40_000)}}, wantStatus: metav1.ConditionFalse, wantReason: "PlacementNotFound", says: "é",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := accepted(tt.errs, tt.around)
			if got.Status != tt.wantStatus || got.Reason != tt.wantReason {
				t.Errorf("%s %s, want %s %s", got.Status, got.Reason, tt.wantStatus, tt.wantReason)
			}
			if !strings.Contains(got.Message, tt.says) || len(got.Message) > maxMessage {
				t.Errorf("message of %d bytes does not say %q", len(got.Message), tt.says)
			}
		})
	}
}
