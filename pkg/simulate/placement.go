package simulate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"open-cluster-management.io/fleet-addon/pkg/document"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

// perDecision is how many clusters OCM writes into one PlacementDecision.
const perDecision = 100

// selector is the AND of labels and claims.
type selector struct{ labels, claims labels.Selector }

func (s selector) matches(n *node) bool {
	return s.labels.Matches(labels.Set(n.labels)) && s.claims.Matches(labels.Set(n.claims))
}

// placement is a Placement that was checked.
type placement struct {
	object     *clusterv1beta1.Placement
	predicates []selector
	groups     []selector
	perGroup   intstr.IntOrString
	// tolerates a cluster that cannot be reached.
	tolerates bool
	// decided are the clusters of the last decisions: OCM prefers to keep them.
	decided map[string]bool
}

// newPlacement checks a Placement and says in notes what of it is not simulated.
func newPlacement(d source[clusterv1beta1.Placement]) (*placement, []string, error) {
	spec := field.NewPath("spec")
	out := &placement{object: d.object.DeepCopy(), decided: map[string]bool{}}
	var errs field.ErrorList
	for i, p := range d.object.Spec.Predicates {
		at := spec.Child("predicates").Index(i).Child("requiredClusterSelector")
		r := p.RequiredClusterSelector
		if len(r.CelSelector.CelExpressions) > 0 {
			errs = append(errs, field.Forbidden(at.Child("celSelector"), "cannot be simulated; use a labelSelector or a claimSelector"))
		}
		s, wrong := newSelector(r.LabelSelector, r.ClaimSelector, at)
		out.predicates, errs = append(out.predicates, s), append(errs, wrong...)
	}
	strategy := spec.Child("decisionStrategy", "groupStrategy")
	group := &out.object.Spec.DecisionStrategy.GroupStrategy
	for i, g := range group.DecisionGroups {
		at := strategy.Child("decisionGroups").Index(i)
		if g.GroupName == "" {
			errs = append(errs, field.Required(at.Child("groupName"), "the decision group's name"))
		}
		s, wrong := newSelector(g.ClusterSelector.LabelSelector, g.ClusterSelector.ClaimSelector, at.Child("groupClusterSelector"))
		out.groups, errs = append(out.groups, s), append(errs, wrong...)
	}
	if group.ClustersPerDecisionGroup == (intstr.IntOrString{}) {
		// What the API server fills in.
		group.ClustersPerDecisionGroup = intstr.FromString("100%")
	}
	out.perGroup = group.ClustersPerDecisionGroup
	if _, err := intstr.GetScaledValueFromIntOrPercent(&out.perGroup, 100, true); err != nil {
		errs = append(errs, field.Invalid(strategy.Child("clustersPerDecisionGroup"), out.perGroup.String(), "must be a number or a percentage from 1% to 100%"))
	}
	if n := d.object.Spec.NumberOfClusters; n != nil && *n < 0 {
		errs = append(errs, field.Invalid(spec.Child("numberOfClusters"), *n, "must not be negative"))
	}
	for i, t := range d.object.Spec.Tolerations {
		if t.TolerationSeconds != nil {
			errs = append(errs, field.Forbidden(spec.Child("tolerations").Index(i).Child("tolerationSeconds"), "cannot be simulated; leave it out to tolerate for ever"))
		}
		out.tolerates = out.tolerates || tolerates(&t)
	}
	if len(errs) > 0 {
		return nil, nil, document.Located(d.at, errs.ToAggregate())
	}
	return out, notSimulated(d), nil
}

// notSimulated says which fields have no effect here.
func notSimulated(d source[clusterv1beta1.Placement]) []string {
	var fields []string
	for name, set := range map[string]bool{
		"spec.clusterSets":       len(d.object.Spec.ClusterSets) > 0,
		"spec.prioritizerPolicy": d.object.Spec.PrioritizerPolicy.Mode != "" || len(d.object.Spec.PrioritizerPolicy.Configurations) > 0,
		"spec.spreadPolicy":      len(d.object.Spec.SpreadPolicy.SpreadConstraints) > 0,
		"spec.sortBy":            d.object.Spec.SortBy == clusterv1beta1.PlacementSortByScore,
	} {
		if set {
			fields = append(fields, name)
		}
	}
	if len(fields) == 0 {
		return nil
	}
	slices.Sort(fields)
	return []string{fmt.Sprintf("%s: not simulated: %s. Every cluster counts as in the sets, and names decide where scores would", d.at, strings.Join(fields, ", "))}
}

func newSelector(byLabel metav1.LabelSelector, byClaim clusterv1beta1.ClusterClaimSelector, path *field.Path) (selector, field.ErrorList) {
	var errs field.ErrorList
	l, err := metav1.LabelSelectorAsSelector(&byLabel)
	if err != nil {
		errs = append(errs, field.Invalid(path.Child("labelSelector"), field.OmitValueType{}, err.Error()))
	}
	c, err := metav1.LabelSelectorAsSelector(&metav1.LabelSelector{MatchExpressions: byClaim.MatchExpressions})
	if err != nil {
		errs = append(errs, field.Invalid(path.Child("claimSelector"), field.OmitValueType{}, err.Error()))
	}
	return selector{l, c}, errs
}

// tolerates tells whether a toleration is for the taint of a cluster that cannot be reached.
func tolerates(t *clusterv1beta1.Toleration) bool {
	if t.Effect != "" && t.Effect != clusterv1.TaintEffectNoSelect {
		return false
	}
	if t.Operator == clusterv1beta1.TolerationOpExists {
		return t.Key == "" || t.Key == clusterv1.ManagedClusterTaintUnreachable
	}
	return t.Key == clusterv1.ManagedClusterTaintUnreachable && t.Value == ""
}

// decide writes decisions as OCM's placement controller does, and reads them.
func (p *placement) decide(nodes []*node) rollout.Snapshot {
	left := p.choose(nodes)
	size := len(left)
	if n, err := intstr.GetScaledValueFromIntOrPercent(&p.perGroup, len(left), true); err == nil && n > 0 && n < size {
		size = n
	}
	w := &decisions{placement: p.object.DeepCopy()}
	w.placement.Status = clusterv1beta1.PlacementStatus{
		NumberOfSelectedClusters: int32(len(left)),
		Conditions:               []metav1.Condition{{Type: clusterv1beta1.PlacementConditionSatisfied, Status: metav1.ConditionTrue}},
	}
	for i, g := range p.groups {
		var mine, rest []*node
		for _, n := range left {
			if g.matches(n) {
				mine = append(mine, n)
			} else {
				rest = append(rest, n)
			}
		}
		w.group(p.object.Spec.DecisionStrategy.GroupStrategy.DecisionGroups[i].GroupName, mine, size)
		left = rest
	}
	w.group("", left, size)
	if len(w.placement.Status.DecisionGroups) == 0 {
		w.write("", nil)
	}
	return rollout.NewSnapshot(w.placement, w.list)
}

// choose returns the selected clusters in name order.
func (p *placement) choose(nodes []*node) []*node {
	var out []*node
	for _, n := range nodes {
		fits := len(p.predicates) == 0 || slices.ContainsFunc(p.predicates, func(s selector) bool { return s.matches(n) })
		if fits && n.row.Exists && (p.tolerates || !n.row.Unreachable) {
			out = append(out, n)
		}
	}
	if limit := p.object.Spec.NumberOfClusters; limit != nil && int(*limit) < len(out) {
		slices.SortStableFunc(out, func(a, b *node) int {
			return cmp.Or(-cmp.Compare(rank(p.decided[a.name]), rank(p.decided[b.name])), cmp.Compare(a.name, b.name))
		})
		out = out[:*limit]
		slices.SortFunc(out, func(a, b *node) int { return cmp.Compare(a.name, b.name) })
	}
	clear(p.decided)
	for _, n := range out {
		p.decided[n.name] = true
	}
	return out
}

func rank(decided bool) int {
	if decided {
		return 1
	}
	return 0
}

// decisions are what the placement controller writes.
type decisions struct {
	placement *clusterv1beta1.Placement
	list      []*clusterv1beta1.PlacementDecision
}

// group cuts the clusters of one name into groups of at most size.
func (w *decisions) group(name string, nodes []*node, size int) {
	for chunk := range slices.Chunk(nodes, max(size, 1)) {
		w.write(name, chunk)
	}
}

// write adds one group, with at most a hundred clusters in each decision.
func (w *decisions) write(name string, nodes []*node) {
	index := len(w.placement.Status.DecisionGroups)
	status := clusterv1beta1.DecisionGroupStatus{DecisionGroupIndex: int32(index), DecisionGroupName: name, ClustersCount: int32(len(nodes))}
	for from := 0; from == 0 || from < len(nodes); from += perDecision {
		d := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("%s-decision-%d", w.placement.Name, len(w.list)+1),
			Labels: map[string]string{
				clusterv1beta1.DecisionGroupIndexLabel: strconv.Itoa(index), clusterv1beta1.DecisionGroupNameLabel: name,
			},
		}}
		for _, n := range nodes[from:min(from+perDecision, len(nodes))] {
			d.Status.Decisions = append(d.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: n.name})
		}
		status.Decisions = append(status.Decisions, d.Name)
		w.list = append(w.list, d)
	}
	w.placement.Status.DecisionGroups = append(w.placement.Status.DecisionGroups, status)
}
