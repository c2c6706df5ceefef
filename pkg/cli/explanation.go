package cli

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/cli/groups"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

// explanation is what `explain` prints of one cluster.
type explanation struct {
	// title names the cluster and its state.
	title string
	// group, revision, why, next are sentences; "" leaves the line out.
	group, revision, why, next string
	// earliest is when that can have happened at the earliest; zero if time alone
	// does not decide it.
	earliest time.Time
	unread   []string
}

func (e explanation) lines(now time.Time) []string {
	lines := []string{e.title}
	add := func(name, text string) {
		if text != "" {
			lines = append(lines, fmt.Sprintf("  %-9s  %s", name+":", text))
		}
	}
	add("Group", e.group)
	add("Revision", e.revision)
	add("Why", e.why)
	add("Next", e.next)
	if !e.earliest.IsZero() {
		add("Earliest", clock(e.earliest, now))
	}
	for _, u := range e.unread {
		add("Not read", u)
	}
	return lines
}

// explanationData is an explanation for scripts.
type explanationData struct {
	Bundle   string       `json:"bundle"`
	Cluster  string       `json:"cluster"`
	Summary  string       `json:"summary"`
	Group    string       `json:"group,omitempty"`
	Revision string       `json:"revision,omitempty"`
	Why      string       `json:"why,omitempty"`
	Next     string       `json:"next,omitempty"`
	Earliest *metav1.Time `json:"earliest,omitempty"`
	NotRead  []string     `json:"notRead,omitempty"`
}

func (e explanation) data(bundle, cluster string) explanationData {
	d := explanationData{
		Bundle: bundle, Cluster: cluster, Summary: e.title, Group: e.group, Revision: e.revision, Why: e.why, Next: e.next, NotRead: e.unread,
	}
	if !e.earliest.IsZero() {
		d.Earliest = &metav1.Time{Time: e.earliest}
	}
	return d
}

// explain says where a cluster stands, why, and what must happen next.
func explain(s *site, now time.Time) explanation {
	e := explanation{title: fmt.Sprintf("Cluster %s, Bundle %s/%s: ", s.cluster, s.rollout.Namespace, s.rollout.Name), unread: s.unread}
	told, named := toldOf(s.rollout)[s.cluster]
	switch {
	case s.damaged != "":
		e.title += "unknown"
		e.why = s.damaged
		e.next = "while one work of the bundle cannot be read, nothing of it is decided"
	case s.work != nil:
		e.ofWork(s, told, now)
	case s.mc == nil && !s.mcUnread && !named:
		e.title += "not a cluster of this hub"
		e.why = fmt.Sprintf("there is no ManagedCluster %s", s.cluster)
		e.next = "check the name, or have the cluster join the hub; then the Bundle's targets, the Placements and the namespace's ManagedClusterSetBindings decide"
	case named:
		e.title += told.State + ", nothing of the bundle is there yet"
		e.group, e.why = told.Group, because(told)
		e.pending(s.rollout, placeOf(s.rollout, s.cluster))
	case s.workUnread:
		e.title += "unknown"
		e.why = "its ManifestWork may not be read, and no group of the Rollout names it"
		e.next = fmt.Sprintf("ask for the right to get manifestworks.work.open-cluster-management.io in namespace %s", s.cluster)
	case len(s.decided) > 0:
		// The last lane that decides a cluster has it.
		at := s.decided[len(s.decided)-1]
		e.title += "Pending, nothing of the bundle is there yet"
		e.group = describe(s.rollout, at)
		e.pending(s.rollout, at)
		e.why = fmt.Sprintf("the Placement of lane %s decides it; it gets the bundle if a target of the Bundle matches its labels and the namespace is bound to one of its ManagedClusterSets", at.Lane)
	default:
		e.title += "not in the rollout"
		e.why = "it has nothing of the bundle, and no group of the Rollout names it"
		e.next = whatDecides(s.rollout)
	}
	return e
}

// ofWork explains a cluster that has a work.
func (e *explanation) ofWork(s *site, told clusterRow, now time.Time) {
	r, own := s.rollout, *s.work
	c := inspectSite(s, now)
	e.title += string(c.State)
	if c.Shown != "" && string(c.Shown) != string(c.State) {
		e.title += ", shown as " + string(c.Shown)
	}
	if !c.Since.IsZero() {
		e.title += ", since " + clock(c.Since, now)
	}
	e.group = describe(r, own.Place)
	e.revision = revisionLine(r, own)
	e.why = string(c.Reason) + ": " + c.Sentence
	switch c.State {
	case rollout.Pending:
		e.why = because(told)
		e.pending(r, own.Place)
		if own.Deleting {
			e.why, e.next = "its ManifestWork is being deleted", "the cluster's agent must take the release away; then the work goes"
		}
	case rollout.Progressing:
		e.next = "the agent must report this admission applied and ready, and the cluster must be available" + soakAfter(own)
		if !c.Until.IsZero() {
			e.next += fmt.Sprintf("; at %s it counts as failed", c.Until.UTC().Format(time.RFC3339))
		}
	case rollout.Soaking, rollout.Recovering:
		e.next = "it must stay ready and available without a break, and the agent must confirm the end of the soak"
		e.earliest = c.Until
	case rollout.Done:
		e.next = "nothing: it is done with this revision"
	case rollout.Failed:
		e.next = fmt.Sprintf("no retry cures this: a new revision has to repair it, or `fleetctl rollout undo %s -n %s` brings an earlier one", r.Name, r.Namespace)
	case rollout.TimedOut:
		e.next = "it must become ready" + soakAfter(own) + ", or a new revision has to repair it"
	}
	if c.State != rollout.Pending && r.Status.Record.PauseSeenAt != nil {
		e.next += "; the rollout is paused, so no deadline runs"
	}
}

// inspectSite judges the cluster with all that could be read of it.
func inspectSite(s *site, now time.Time) rollout.ClusterResult {
	return inspect(s.rollout, s.cluster, s.work, s.addOn, s.mc, !s.mcUnread, now)
}

func soakAfter(own rollout.Work) string {
	if own.MinSuccessTime <= 0 {
		return ""
	}
	return fmt.Sprintf(" and stay so for %s", own.MinSuccessTime)
}

func because(told clusterRow) string {
	if told.Reason == "" {
		return told.Message
	}
	return told.Reason + ": " + told.Message
}

// revisionLine says which revision the cluster has and whether it is the one wanted.
func revisionLine(r *v1alpha1.Rollout, own rollout.Work) string {
	if own.Revision == r.Status.Revision {
		return own.Revision + ", the one that is rolled out"
	}
	return fmt.Sprintf("%s; %s is rolled out", own.Revision, r.Status.Revision)
}

// describe names a group and says whether it is open.
func describe(r *v1alpha1.Rollout, at rollout.Place) string {
	label := placeLabel(r, at)
	g, lane := groupAt(r, at)
	switch {
	case lane == nil:
		return label + ", which the rollout does not have any more"
	case g == nil:
		return label + ", which has no clusters now"
	case g.Breached:
		return label + ", stopped by too many failures"
	case g.Passed:
		return label + ", passed"
	case g.Open:
		return label + ", open"
	}
	return label + ", closed"
}

// pending says what a cluster waits for that is not admitted.
func (e *explanation) pending(r *v1alpha1.Rollout, at rollout.Place) {
	g, lane := groupAt(r, at)
	message, isHeld := isTrue(r, v1alpha1.RolloutHeld)
	why := ""
	switch {
	case isHeld && r.Status.Reason == string(rollout.Paused):
		why, e.next = message, fmt.Sprintf("the rollout must be resumed: `fleetctl rollout resume %s -n %s`", r.Name, r.Namespace)
	case isHeld:
		why, e.next = message, "what holds the whole rollout must end"
	case lane != nil && lane.Reason != "":
		why, e.next = lane.Reason+": "+lane.Message, fmt.Sprintf("what holds lane %s must end", lane.Name)
	case g == nil:
		e.next = whatDecides(r)
	case stopped(lane) != nil:
		b := stopped(lane)
		label := groups.Label(r, lane.Name, b)
		why, e.next = stop(b), fmt.Sprintf("the failures in group %s must fall to what it tolerates (%d), by repair, a new revision or an edit of the strategy", label, b.MaxFailures)
	case !g.Open:
		why, e.next = stop(g), "every earlier group must pass"
		e.earliest = firstOpen(lane)
	default:
		why, e.next = stop(g), "it is its turn when the group's limits allow it"
		e.earliest = timeOf(g)
	}
	if e.why == "" {
		e.why = why
	}
}

// stopped is the first group of a lane with too many failures; nil if there is none.
func stopped(lane *v1alpha1.LaneStatus) *v1alpha1.GroupStatus {
	for i := range lane.Groups {
		if lane.Groups[i].Breached {
			return &lane.Groups[i]
		}
	}
	return nil
}

// firstOpen is when time alone changes something in the group that the others wait for.
func firstOpen(lane *v1alpha1.LaneStatus) time.Time {
	for i := range lane.Groups {
		if g := &lane.Groups[i]; !g.Passed {
			return timeOf(g)
		}
	}
	return time.Time{}
}

func timeOf(g *v1alpha1.GroupStatus) time.Time {
	if g.NextAt == nil {
		return time.Time{}
	}
	return g.NextAt.Time
}

// placeOf finds the group that names a cluster in the status.
func placeOf(r *v1alpha1.Rollout, name string) rollout.Place {
	for _, lane := range r.Status.Lanes {
		for i := range lane.Groups {
			if g := &lane.Groups[i]; names(g, name) {
				return rollout.PlaceOf(lane.Name, g)
			}
		}
	}
	return rollout.Place{}
}

func names(g *v1alpha1.GroupStatus, name string) bool {
	for _, next := range g.NextClusters {
		if next == name {
			return true
		}
	}
	for _, c := range g.Clusters {
		if c.Name == name {
			return true
		}
	}
	return false
}

// whatDecides says what has to name a cluster for it to be in a rollout.
func whatDecides(r *v1alpha1.Rollout) string {
	text := fmt.Sprintf("a target of Bundle %s/%s must match its labels, and namespace %s must be bound to one of its ManagedClusterSets", r.Namespace, r.Name, r.Namespace)
	for i, lane := range r.Status.Lanes {
		key, ok := placementOf(r, lane.Name)
		if !ok {
			continue
		}
		word := ", and a Placement of the rollout must decide it: "
		if i > 0 {
			word = " or "
		}
		text += word + key.String()
	}
	return text
}
