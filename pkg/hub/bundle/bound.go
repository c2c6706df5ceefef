package bundle

import (
	"encoding/json"
	"slices"
	"strings"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

// Bounds of what a status says and names.
const (
	// maxStatus is what the status of a Rollout takes as JSON.
	maxStatus          = 200 << 10
	maxMessage         = 1024
	maxGroups          = 1000
	maxNamesPerGroup   = 20
	maxHeld            = 200
	maxNext            = 200
	maxGroupWords      = 32 << 10
	maxHeldWords       = 16 << 10
	maxHeldMessage     = 256
	maxConfirmations   = 64
	maxConfirmClusters = 500
	// minConfirmClusters are left in any case: removals have to be confirmed somehow.
	minConfirmClusters = 10
)

// room is what is left for the groups of a status, in all lanes together.
type room struct {
	groups, heldNames, nextNames int
	groupWords, heldWords        int
}

func allRoom() room {
	return room{groups: maxGroups, heldNames: maxHeld, nextNames: maxNext, groupWords: maxGroupWords, heldWords: maxHeldWords}
}

// say is a group's sentence. One that passed without a failure has nothing to say.
func (r *room) say(g *v1alpha1.GroupStatus, sentence string) string {
	if isPlain(g) {
		return ""
	}
	return take(&r.groupWords, cut(sentence))
}

// held are the clusters that hold a group back.
func (r *room) held(names []string, clusters map[string]*rollout.ClusterResult) []v1alpha1.HeldCluster {
	var out []v1alpha1.HeldCluster
	for _, name := range names {
		c := clusters[name]
		if c == nil || r.heldNames == 0 || len(out) == maxNamesPerGroup {
			break
		}
		r.heldNames--
		out = append(out, v1alpha1.HeldCluster{
			Name: name, State: string(c.State), Reason: string(c.Reason), Message: take(&r.heldWords, cutTo(c.Sentence, maxHeldMessage)),
		})
	}
	return out
}

func (r *room) next(names []string) []string {
	n := min(len(names), maxNamesPerGroup, r.nextNames)
	r.nextNames -= n
	return slices.Clone(names[:n])
}

// take returns a message if there is room for it.
func take(left *int, message string) string {
	if len(message) > *left {
		return ""
	}
	*left -= len(message)
	return message
}

// shortenings leave out what is missed least, in this order. Each is told how many
// bytes are too many. What is under way goes last, and the record never: a manager
// that forgets a group opens what it should not.
var shortenings = []func(s *v1alpha1.RolloutStatus, over int){
	plainRows,
	shortenRequests,
	func(s *v1alpha1.RolloutStatus, over int) { dropRows(s, over, lastFirst, isClosed) },
	func(s *v1alpha1.RolloutStatus, over int) { dropRows(s, over, firstFirst, isPlain) },
	dropNames,
	dropDetails,
	func(s *v1alpha1.RolloutStatus, over int) { dropRows(s, over, lastFirst, isAny) },
}

// fit shortens a status until it has at most so many bytes. Only a record that has
// more by itself makes it larger.
func fit(s *v1alpha1.RolloutStatus, most int) {
	for _, shorten := range shortenings {
		over := sizeOf(s) - most
		if over <= 0 {
			return
		}
		shorten(s, over)
	}
}

func sizeOf(v any) int {
	data, err := json.Marshal(v)
	if err != nil {
		// The API would refuse it in the same way, and say why.
		return 0
	}
	return len(data)
}

func isClosed(g *v1alpha1.GroupStatus) bool { return !g.Open && !g.Passed && !g.Breached }

// isPlain tells that a group passed and nobody failed.
func isPlain(g *v1alpha1.GroupStatus) bool {
	return g.Passed && g.Counts.Failed+g.Counts.TimedOut+g.Counts.Recovering == 0
}

func isAny(*v1alpha1.GroupStatus) bool { return true }

// plainRows leaves of groups that are through, or not open yet, what tells them apart.
func plainRows(s *v1alpha1.RolloutStatus, _ int) {
	for l := range s.Lanes {
		for i := range s.Lanes[l].Groups {
			g := &s.Lanes[l].Groups[i]
			plain := v1alpha1.GroupStatus{Name: g.Name, Index: g.Index, Counts: g.Counts}
			switch {
			case isPlain(g):
				plain.Open, plain.Passed = g.Open, g.Passed
			case isClosed(g):
				plain.Reason, plain.Message = g.Reason, g.Message
			default:
				continue
			}
			*g = plain
		}
	}
}

// Where dropRows begins.
const (
	firstFirst = false
	lastFirst  = true
)

// dropRows drops groups of a kind until over bytes are saved, and counts them.
func dropRows(s *v1alpha1.RolloutStatus, over int, fromEnd bool, of func(*v1alpha1.GroupStatus) bool) {
	for n := range s.Lanes {
		lane := &s.Lanes[n]
		if fromEnd {
			lane = &s.Lanes[len(s.Lanes)-1-n]
			slices.Reverse(lane.Groups)
		}
		// What the count of those that are left out takes itself.
		over += len(`"groupsOmitted":1000,`)
		left := lane.Groups[:0]
		for i := range lane.Groups {
			g := &lane.Groups[i]
			if over <= 0 || !of(g) {
				left = append(left, *g)
				continue
			}
			over -= sizeOf(g) + len(",")
			lane.GroupsOmitted++
		}
		lane.Groups = left
		if fromEnd {
			slices.Reverse(lane.Groups)
		}
	}
}

// dropDetails leaves out which clusters are meant, and what the groups say of them.
func dropDetails(s *v1alpha1.RolloutStatus, _ int) {
	for l := range s.Lanes {
		for i := range s.Lanes[l].Groups {
			g := &s.Lanes[l].Groups[i]
			g.Message, g.Clusters, g.NextClusters = "", nil, nil
		}
	}
}

// shortenRequests shortens what confirmations say.
func shortenRequests(s *v1alpha1.RolloutStatus, _ int) {
	for i := range s.Confirmations {
		s.Confirmations[i].Message = cutTo(s.Confirmations[i].Message, maxHeldMessage)
	}
}

// dropNames names fewer clusters to confirm: those that are left can be confirmed, and
// then the next ones are asked for.
func dropNames(s *v1alpha1.RolloutStatus, over int) {
	for i := range s.Confirmations {
		c := &s.Confirmations[i]
		n := len(c.Clusters)
		for over > 0 && n > minConfirmClusters {
			n--
			over -= sizeOf(c.Clusters[n]) + len(",")
		}
		c.Clusters = slices.Clip(c.Clusters[:n])
	}
}

// copyLanes copies as deep as shortenings go.
func copyLanes(lanes []v1alpha1.LaneStatus) []v1alpha1.LaneStatus {
	lanes = slices.Clone(lanes)
	for i := range lanes {
		lanes[i].Groups = slices.Clone(lanes[i].Groups)
	}
	return lanes
}

// cut shortens a message to what the API takes, at a whole character.
func cut(s string) string { return cutTo(s, maxMessage) }

func cutTo(s string, most int) string {
	const more = "…"
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most-len(more)], "") + more
}
