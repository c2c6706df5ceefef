package release

import (
	helmrelease "helm.sh/helm/v3/pkg/release"
)

// Revision is one revision in the history of a release.
type Revision struct {
	Number      int
	Status      helmrelease.Status
	Labels      map[string]string
	Description string
	Manifest    string
}

// State is what is known of a release before an action: its revisions, oldest
// first.
type State struct {
	Revisions []Revision
}

// Action is the one thing to do next.
type Action string

// The actions. Each is a file of its own.
const (
	// ActionNone: the release is what is wanted.
	ActionNone Action = "none"
	// ActionRefuse: the name belongs to somebody else.
	ActionRefuse Action = "refuse"
	// ActionMove removes the releases of this owner under other names.
	ActionMove Action = "move"
	// ActionInstall makes the first revision.
	ActionInstall Action = "install"
	// ActionUnlock marks a revision failed that a killed agent left pending.
	ActionUnlock Action = "unlock"
	// ActionUninstall ends an uninstall that a killed agent left half done.
	ActionUninstall Action = "uninstall"
	// ActionRelabel writes labels that changed without a new deployment.
	ActionRelabel Action = "relabel"
	// ActionUpgrade makes the next revision.
	ActionUpgrade Action = "upgrade"
)

// table is looked at in order; the first row that applies is the action.
var table = []struct {
	when   func(State, Want) bool
	action Action
}{
	{foreign, ActionRefuse},
	{moved, ActionMove},
	{absent, ActionInstall},
	{leaving, ActionUninstall},
	{pending, ActionUnlock},
	{relabelled, ActionRelabel},
	{asWanted, ActionNone},
}

// Classify returns the action that brings a release nearer to what is wanted.
// What no row of the table knows (deployed as something else, failed,
// superseded) is upgraded.
func Classify(s State, w Want) Action {
	for _, row := range table {
		if row.when(s, w) {
			return row.action
		}
	}
	return ActionUpgrade
}

func (s State) top() (Revision, bool) {
	if len(s.Revisions) == 0 {
		return Revision{}, false
	}
	return s.Revisions[len(s.Revisions)-1], true
}

// deployed is the revision that Helm last finished, if it is still there.
func (s State) deployed() (Revision, bool) {
	for i := len(s.Revisions) - 1; i >= 0; i-- {
		if s.Revisions[i].Status == helmrelease.StatusDeployed {
			return s.Revisions[i], true
		}
	}
	return Revision{}, false
}

func foreign(s State, w Want) bool {
	top, ok := s.top()
	if !ok || w.Owner.owns(top.Labels) {
		return false
	}
	if w.adopted {
		return false
	}
	// Another bundle's release is never taken over.
	return top.Labels[LabelOwner] != "" || !w.Options.Helm.TakeOwnership
}

func moved(_ State, w Want) bool { return len(w.Stale) > 0 }

func absent(s State, _ Want) bool {
	top, ok := s.top()
	return !ok || top.Status == helmrelease.StatusUninstalled
}

func leaving(s State, _ Want) bool {
	top, _ := s.top()
	return top.Status == helmrelease.StatusUninstalling
}

func pending(s State, _ Want) bool {
	top, _ := s.top()
	return top.Status.IsPending()
}

func relabelled(s State, w Want) bool {
	top, _ := s.top()
	return asWanted(s, w) && top.Labels[LabelKeep] != w.labels()[LabelKeep]
}

// asWanted looks at the description too: `helm upgrade` and `helm rollback` by
// hand carry our labels on, but not our description.
func asWanted(s State, w Want) bool {
	top, _ := s.top()
	return top.Status == helmrelease.StatusDeployed && w.Owner.owns(top.Labels) &&
		top.Labels[LabelDeployment] == hashID(w.DeploymentID) && top.Description == w.DeploymentID
}
