package release

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	helmrelease "helm.sh/helm/v3/pkg/release"

	"open-cluster-management.io/fleet-addon/pkg/manifest"
)

func wanted(change ...func(*Want)) Want {
	w := Want{
		Owner: Owner{Namespace: "agent", Name: "bd"}, Key: Key{"default", "web"},
		DeploymentID: "s-1:a", Options: fleet.BundleDeploymentOptions{Helm: &fleet.HelmOptions{}},
	}
	for _, c := range change {
		c(&w)
	}
	return w
}

// rev is a revision of ours, made for an id.
func rev(status helmrelease.Status, id string) Revision {
	w := wanted(func(w *Want) { w.DeploymentID = id })
	return Revision{Status: status, Labels: w.labels(), Description: id}
}

func state(revisions ...Revision) State {
	for i := range revisions {
		revisions[i].Number = i + 1
	}
	return State{Revisions: revisions}
}

func TestClassify(t *testing.T) {
	const id = "s-1:a"
	foreignRev := Revision{Status: helmrelease.StatusDeployed, Description: "Install complete"}
	otherRev := rev(helmrelease.StatusDeployed, id)
	otherRev.Labels[LabelOwner] = "other"
	byHand := rev(helmrelease.StatusDeployed, id)
	byHand.Description = "Rollback to 1"
	takes := func(w *Want) { w.Options.Helm.TakeOwnership = true }
	keeps := func(w *Want) { w.Keep = true }
	elsewhere := rev(helmrelease.StatusDeployed, id)
	elsewhere.Labels[LabelAgent] = "elsewhere"
	adopts := func(w *Want) { w.adopted = true }
	moves := func(w *Want) { w.Stale = []Key{{"default", "old"}} }
	tests := map[string]struct {
		state State
		want  Want
		then  Action
	}{
		"nothing there":                           {state(), wanted(), ActionInstall},
		"uninstalled with its history":            {state(rev(helmrelease.StatusUninstalled, id)), wanted(), ActionInstall},
		"deployed as wanted":                      {state(rev(helmrelease.StatusDeployed, id)), wanted(), ActionNone},
		"deployed with another id":                {state(rev(helmrelease.StatusDeployed, "s-0:a")), wanted(), ActionUpgrade},
		"deployed, then failed":                   {state(rev(helmrelease.StatusDeployed, "s-0:a"), rev(helmrelease.StatusFailed, id)), wanted(), ActionUpgrade},
		"back to the id below a failed one":       {state(rev(helmrelease.StatusDeployed, id), rev(helmrelease.StatusFailed, "s-2:a")), wanted(), ActionUpgrade},
		"failed install":                          {state(rev(helmrelease.StatusFailed, id)), wanted(), ActionUpgrade},
		"superseded on top":                       {state(rev(helmrelease.StatusSuperseded, id)), wanted(), ActionUpgrade},
		"rolled back by hand":                     {state(rev(helmrelease.StatusSuperseded, id), byHand), wanted(), ActionUpgrade},
		"killed in an install":                    {state(rev(helmrelease.StatusPendingInstall, id)), wanted(), ActionUnlock},
		"killed in an upgrade":                    {state(rev(helmrelease.StatusDeployed, "s-0:a"), rev(helmrelease.StatusPendingUpgrade, id)), wanted(), ActionUnlock},
		"killed in a rollback":                    {state(rev(helmrelease.StatusDeployed, "s-0:a"), rev(helmrelease.StatusPendingRollback, id)), wanted(), ActionUnlock},
		"killed in an uninstall":                  {state(rev(helmrelease.StatusUninstalling, id)), wanted(), ActionUninstall},
		"keepResources changed":                   {state(rev(helmrelease.StatusDeployed, id)), wanted(keeps), ActionRelabel},
		"keepResources and id changed":            {state(rev(helmrelease.StatusDeployed, "s-0:a")), wanted(keeps), ActionUpgrade},
		"renamed":                                 {state(), wanted(moves), ActionMove},
		"renamed, new one there":                  {state(rev(helmrelease.StatusDeployed, id)), wanted(moves), ActionMove},
		"somebody's release":                      {state(foreignRev), wanted(), ActionRefuse},
		"somebody's release, taken over":          {state(foreignRev), wanted(takes), ActionUpgrade},
		"another bundle's release":                {state(otherRev), wanted(), ActionRefuse},
		"of an agent elsewhere":                   {state(elsewhere), wanted(), ActionRefuse},
		"of an agent elsewhere, adopted":          {state(elsewhere), wanted(adopts), ActionUpgrade},
		"another bundle's release is never taken": {state(otherRev), wanted(takes), ActionRefuse},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Classify(tc.state, tc.want); got != tc.then {
				t.Errorf("%s, want %s", got, tc.then)
			}
		})
	}
}

func TestLeftovers(t *testing.T) {
	with := func(r Revision, names ...string) Revision {
		for _, n := range names {
			ns, name, ok := strings.Cut(n, "/")
			if !ok {
				ns, name = "", n
			}
			r.Manifest += "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: \"" + ns + "\"}\n"
		}
		return r
	}
	const id = "s-1:a"
	deployed, failed, superseded := helmrelease.StatusDeployed, helmrelease.StatusFailed, helmrelease.StatusSuperseded
	tests := map[string]struct {
		state State
		want  []string
	}{
		"nothing":                {state(), nil},
		"only one":               {state(with(rev(deployed, id), "a")), nil},
		"of a failed one":        {state(with(rev(superseded, id), "a"), with(rev(failed, id), "a", "b", "c"), with(rev(deployed, id), "a", "b")), []string{"ConfigMap c"}},
		"of several":             {state(with(rev(failed, id), "x"), with(rev(failed, id), "w"), with(rev(deployed, id), "a")), []string{"ConfigMap w", "ConfigMap x"}},
		"of the last done":       {state(with(rev(superseded, id), "z"), with(rev(deployed, id), "a")), []string{"ConfigMap z"}},
		"not of older":           {state(with(rev(superseded, id), "z"), with(rev(superseded, id), "a"), with(rev(deployed, id), "a")), nil},
		"not below a failed top": {state(with(rev(deployed, id), "a"), with(rev(failed, id), "b")), nil},
		"the same object with its namespace written": {state(with(rev(superseded, id), "default/a"), with(rev(deployed, id), "a")), nil},
	}
	place := func(o manifest.Object) string {
		if o.Namespace == "" {
			return "default"
		}
		return o.Namespace
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			left, err := leftovers(tc.state, place)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, o := range left {
				got = append(got, o.String())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLabelsFit(t *testing.T) {
	for k, v := range wanted(func(w *Want) { w.DeploymentID = strings.Repeat("x", 200) }).labels() {
		if len(v) > 63 {
			t.Errorf("label %s has %d characters", k, len(v))
		}
	}
}

func TestRecordOf(t *testing.T) {
	got, ok := RecordOf("default", map[string]string{"name": "web", "version": "3", "status": "deployed"})
	if !ok || got != (Record{Key: Key{"default", "web"}, Revision: 3, Status: "deployed"}) {
		t.Errorf("%v %v", got, ok)
	}
	if _, ok := RecordOf("default", map[string]string{"name": "web"}); ok {
		t.Error("a Secret without version is no record")
	}
}
