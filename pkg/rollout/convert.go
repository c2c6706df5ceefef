package rollout

import (
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

// ocmStrategy is a policy's strategy as OCM's type, whose JSON is the same.
func ocmStrategy(in *v1alpha1.RolloutStrategy) *clusterv1alpha1.RolloutStrategy {
	out := &clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.RolloutType(in.Type)}
	if in.All != nil {
		out.All = &clusterv1alpha1.RolloutAll{RolloutConfig: ocmConfig(&in.All.RolloutConfig)}
	}
	if p := in.Progressive; p != nil {
		out.Progressive = &clusterv1alpha1.RolloutProgressive{
			RolloutConfig: ocmConfig(&p.RolloutConfig), MandatoryDecisionGroups: ocmMandatory(p.MandatoryDecisionGroups),
		}
		if p.MaxConcurrency != nil {
			out.Progressive.MaxConcurrency = *p.MaxConcurrency
		}
	}
	if g := in.ProgressivePerGroup; g != nil {
		out.ProgressivePerGroup = &clusterv1alpha1.RolloutProgressivePerGroup{
			RolloutConfig: ocmConfig(&g.RolloutConfig), MandatoryDecisionGroups: ocmMandatory(g.MandatoryDecisionGroups),
		}
	}
	return out
}

func ocmConfig(in *v1alpha1.RolloutConfig) clusterv1alpha1.RolloutConfig {
	out := clusterv1alpha1.RolloutConfig{ProgressDeadline: in.ProgressDeadline}
	if in.MinSuccessTime != nil {
		out.MinSuccessTime = *in.MinSuccessTime
	}
	if in.MaxFailures != nil {
		out.MaxFailures = *in.MaxFailures
	}
	return out
}

func ocmMandatory(in []v1alpha1.MandatoryDecisionGroup) clusterv1alpha1.MandatoryDecisionGroups {
	var out clusterv1alpha1.MandatoryDecisionGroups
	for _, g := range in {
		out.MandatoryDecisionGroups = append(out.MandatoryDecisionGroups, clusterv1alpha1.MandatoryDecisionGroup(g))
	}
	return out
}

// checkQueue refuses a queue of no clusters; the number 0 is an unset one in OCM's type.
func checkQueue(in *v1alpha1.RolloutStrategy, path *field.Path) field.ErrorList {
	if in.Progressive == nil || in.Progressive.MaxConcurrency == nil || *in.Progressive.MaxConcurrency != (intstr.IntOrString{}) {
		return nil
	}
	return checkLimit(*in.Progressive.MaxConcurrency, 1, path.Child("progressive", "maxConcurrency"))
}
