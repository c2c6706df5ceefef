package bundle

import (
	"context"
	"errors"
	"fmt"
	"strings"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/hub/lenient"
	"open-cluster-management.io/fleet-addon/pkg/revision"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

// maxKeptNamed of the revisions that one sentence tells.
const maxKeptNamed = 10

// readPin reads the edition that the Rollout's spec pins, if it pins one. One that
// cannot be used is no error: it holds the rollout until people help.
func (r *Reconciler) readPin(ctx context.Context, f *facts, m *memory) error {
	if f.pin() == "" || lenient.Unreadable(f.bundle) != "" {
		// Of a bundle that cannot be read nobody knows the pause and the strategy.
		return nil
	}
	e, err := r.edition(ctx, f, m, f.pin())
	switch {
	case errors.Is(err, errUnusable):
		f.pinTrouble = pinTrouble(f, err)
	case err != nil:
		return err
	default:
		f.pinned = e
	}
	return nil
}

// pin is the revision that the Rollout's spec names; "" if none.
func (f *facts) pin() string {
	if f.rollout == nil {
		return ""
	}
	return f.rollout.Spec.Revision
}

// inForce is the bundle as it is to be rolled out.
func (f *facts) inForce() *fleet.Bundle {
	if f.pinned != nil {
		return f.pinned.bundle
	}
	return f.bundle
}

// pinTrouble says why a pinned revision cannot be rolled out, and what to do.
func pinTrouble(f *facts, why error) string {
	var kept []string
	// The newest first.
	for i := len(f.revisions) - 1; i >= 0; i-- {
		if len(kept) == maxKeptNamed {
			kept = append(kept, fmt.Sprintf("and %d more", i+1))
			break
		}
		kept = append(kept, fmt.Sprintf("%s (%d)", revision.Hash(f.revisions[i]), f.revisions[i].Revision))
	}
	which := "no revision is kept"
	if len(kept) > 0 {
		which = "kept are " + strings.Join(kept, ", ")
	}
	text := strings.TrimPrefix(why.Error(), errUnusable.Error()+": ")
	return fmt.Sprintf("spec.revision of Rollout %s pins revision %s: %s; %s; pin another one, or remove spec.revision to go on with the bundle's own",
		f.key(), f.pin(), text, which)
}

// reasonNotPinned of the condition Pinned.
const reasonNotPinned = "NotPinned"

// pinnedCondition says whether the rollout is pinned, in the words of a condition.
func pinnedCondition(f *facts, own string) (is bool, reason, message string) {
	switch pin := f.pin(); {
	case pin == "":
		return false, reasonNotPinned, "the bundle's own revision is rolled out"
	case f.pinTrouble != "":
		return true, string(rollout.RevisionNotFound), f.pinTrouble
	default:
		return true, v1alpha1.RolloutPinned, fmt.Sprintf("spec.revision pins revision %s; the bundle's own is %s", pin, own)
	}
}
