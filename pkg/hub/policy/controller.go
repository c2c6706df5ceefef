package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/clock"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/hub/lenient"
	"open-cluster-management.io/fleet-addon/pkg/hub/outcome"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

// Reasons of the condition Accepted.
const (
	reasonAccepted = "Accepted"
	reasonInvalid  = string(rollout.StrategyInvalid)
	reasonMissing  = string(rollout.PlacementNotFound)
)

// maxMessage is the API's limit of a condition's message, with room to spare.
const maxMessage = 4096

// indexPlacement finds RolloutPolicies by the Placements that they name.
const indexPlacement = "policy.placement"

// AddIndexes adds the indexes of this package.
func AddIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	if err := indexer.IndexField(ctx, &v1alpha1.RolloutPolicy{}, indexPlacement, func(o client.Object) []string {
		var names []string
		for _, ref := range o.(*v1alpha1.RolloutPolicy).Spec.PlacementRefs {
			names = append(names, ref.Name)
		}
		return names
	}); err != nil {
		return fmt.Errorf("index RolloutPolicies: %w", err)
	}
	return nil
}

// Reconciler is the controller of RolloutPolicies.
type Reconciler struct {
	Reader client.Reader
	Writer client.Client
	Clock  clock.PassiveClock
}

// SetupWithManager starts the controller: its root kind is RolloutPolicy.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	comesOrGoes := predicate.Funcs{UpdateFunc: func(event.UpdateEvent) bool { return false }}
	return ctrl.NewControllerManagedBy(mgr).
		Named("policy").
		For(&v1alpha1.RolloutPolicy{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&clusterv1beta1.Placement{}, handler.EnqueueRequestsFromMapFunc(r.ofPlacement), builder.WithPredicates(comesOrGoes)).
		Complete(r)
}

// Reconcile judges one policy.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	return outcome.Result(ctx, 0, r.judge(ctx, req))
}

func (r *Reconciler) judge(ctx context.Context, req ctrl.Request) error {
	p := &v1alpha1.RolloutPolicy{}
	if err := r.Reader.Get(ctx, req.NamespacedName, p); err != nil {
		return client.IgnoreNotFound(err)
	}
	missing, err := r.missing(ctx, p)
	if err != nil {
		return err
	}
	before := p.DeepCopy()
	condition := accepted(rollout.ValidatePolicy(p), missing)
	if why := lenient.Unreadable(p); why != "" {
		condition = metav1.Condition{Type: v1alpha1.RolloutPolicyAccepted, Status: metav1.ConditionFalse, Reason: reasonInvalid, Message: why}
	}
	condition.ObservedGeneration = p.Generation
	condition.LastTransitionTime = metav1.Time{Time: r.Clock.Now().UTC().Truncate(time.Second)}
	meta.SetStatusCondition(&p.Status.Conditions, condition)
	p.Status.ObservedGeneration = p.Generation
	if equality.Semantic.DeepEqual(before.Status, p.Status) {
		return nil
	}
	_, err = lenient.PatchStatus(ctx, r.Writer, v1alpha1.GroupVersion.WithKind("RolloutPolicy"), req.NamespacedName, before, p)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("patch status of RolloutPolicy %s: %w", req.NamespacedName, err)
	}
	return nil
}

// missing returns the Placements that the policy names and that do not exist.
func (r *Reconciler) missing(ctx context.Context, p *v1alpha1.RolloutPolicy) ([]string, error) {
	var out []string
	for i, ref := range p.Spec.PlacementRefs {
		err := r.Reader.Get(ctx, client.ObjectKey{Namespace: p.Namespace, Name: ref.Name}, &clusterv1beta1.Placement{})
		if apierrors.IsNotFound(err) {
			out = append(out, fmt.Sprintf("spec.placementRefs[%d].name: Placement %s/%s does not exist", i, p.Namespace, ref.Name))
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("get Placement %s/%s: %w", p.Namespace, ref.Name, err)
		}
	}
	return out, nil
}

// accepted is the condition for what was found. What is wrong in the policy itself
// comes before what is missing around it.
func accepted(errs field.ErrorList, missing []string) metav1.Condition {
	c := metav1.Condition{Type: v1alpha1.RolloutPolicyAccepted, Status: metav1.ConditionFalse}
	texts := make([]string, 0, len(errs)+len(missing))
	for _, err := range errs {
		texts = append(texts, err.Error())
	}
	slices.Sort(texts)
	switch {
	case len(errs) > 0:
		c.Reason = reasonInvalid
	case len(missing) > 0:
		c.Reason = reasonMissing
	default:
		c.Status, c.Reason, c.Message = metav1.ConditionTrue, reasonAccepted, "every lane can be used"
		return c
	}
	c.Message = strings.Join(append(texts, missing...), "; ")
	if len(c.Message) > maxMessage {
		c.Message = strings.ToValidUTF8(c.Message[:maxMessage], "")
	}
	return c
}

func (r *Reconciler) ofPlacement(ctx context.Context, o client.Object) []reconcile.Request {
	var list v1alpha1.RolloutPolicyList
	if err := r.Reader.List(ctx, &list, client.InNamespace(o.GetNamespace()),
		client.MatchingFields{indexPlacement: o.GetName()}); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Cannot list the policies of a Placement", "placement", client.ObjectKeyFromObject(o))
		return nil
	}
	var out []reconcile.Request
	for i := range list.Items {
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
	}
	return out
}
