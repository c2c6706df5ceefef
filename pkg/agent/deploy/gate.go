package deploy

import (
	"open-cluster-management.io/fleet-addon/pkg/agent/fault"
	"open-cluster-management.io/fleet-addon/pkg/agent/hub"
	v1alpha1 "open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

// situation is what the gates look at.
type situation struct {
	bd      *v1alpha1.BundleDeployment
	last    v1alpha1.BundleDeploymentStatus
	hub     hub.State
	refusal error
}

// gates keep a release as it is; the first that says why counts.
var gates = []func(situation) error{failed, refused, paused, leaving}

func held(s situation) error {
	for _, gate := range gates {
		if err := gate(s); err != nil {
			return err
		}
	}
	return nil
}

// failed: a terminal error stays until the next admission, over restarts too.
func failed(s situation) error {
	if s.last.Terminal && s.last.Admission == s.bd.Spec.Admission {
		return fault.Terminalf("%s", s.last.Message)
	}
	return nil
}

// refused: the options ask for something that this agent cannot do.
func refused(s situation) error { return s.refusal }

func paused(s situation) error {
	if s.bd.Spec.Paused {
		return fault.Waitingf(0, "paused: what is deployed stays as it is")
	}
	return nil
}

func leaving(s situation) error {
	if s.hub.Deleting {
		return fault.Waitingf(0, "the add-on is being removed from this cluster: nothing is installed any more")
	}
	return nil
}

// mayRemove tells whether releases may be removed. When in doubt they stay: a
// hub that was never reached may have asked to keep them.
func mayRemove(s hub.State) error {
	switch {
	case !s.Known:
		return fault.Waitingf(0, "nothing is removed before the ManagedClusterAddOn could be read from the hub")
	case !s.Exists:
		return fault.Waitingf(0, "nothing is removed while the hub has no ManagedClusterAddOn for this cluster")
	case s.KeepBundles:
		return fault.Waitingf(0, "nothing is removed: the ManagedClusterAddOn has the annotation %s", v1alpha1.AnnotationKeepBundles)
	}
	return nil
}
