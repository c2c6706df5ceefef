package deploy

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/fleet-addon/pkg/agent/release"
	v1alpha1 "open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/manifest"
)

func TestLastStatus(t *testing.T) {
	cached := &v1alpha1.BundleDeployment{
		ObjectMeta: metav1.ObjectMeta{ResourceVersion: "100"},
		Status:     v1alpha1.BundleDeploymentStatus{State: "cached"},
	}
	tests := map[string]struct{ version, want string }{
		"never written":                    {"", "cached"},
		"the cache has the write":          {"100", "cached"},
		"the cache has a later write":      {"99", "cached"},
		"the cache is behind":              {"101", "written"},
		"versions that cannot be compared": {"x", "written"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			n := &note{version: tc.version, status: v1alpha1.BundleDeploymentStatus{State: "written"}}
			if got := n.last(cached).State; got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}

func TestNoteOfANewObject(t *testing.T) {
	var m memory
	bd := &v1alpha1.BundleDeployment{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: types.UID("1")}}
	first := m.of(bd)
	if m.of(bd) != first {
		t.Error("the note is lost")
	}
	bd.UID = "2"
	if m.of(bd) == first {
		t.Error("a new object got the note of its predecessor")
	}
	m.forget("a")
	if len(m.notes) != 0 {
		t.Error("the note is not forgotten")
	}
}

func TestSeeKeepsWhatTheWatchMustHaveSeen(t *testing.T) {
	key := release.Key{Namespace: "a", Name: "b"}
	n := &note{}
	n.see(release.Deployed{Key: key, Revision: 1, DeploymentID: "x", Objects: []manifest.Object{{Name: "o", MinVersion: "7"}}})
	n.see(release.Deployed{Key: key, Revision: 1, DeploymentID: "x", Keep: true, Objects: []manifest.Object{{Name: "o"}}})
	if !n.deployed.Keep || n.deployed.Objects[0].MinVersion != "7" {
		t.Errorf("%+v", n.deployed)
	}
	n.see(release.Deployed{Key: key, Revision: 2, DeploymentID: "x", Objects: []manifest.Object{{Name: "o", MinVersion: "9"}}})
	if n.deployed.Objects[0].MinVersion != "9" {
		t.Errorf("%+v", n.deployed)
	}
}

func TestConfirms(t *testing.T) {
	key, other := release.Key{Namespace: "a", Name: "b"}, release.Key{Namespace: "a", Name: "c"}
	records := []release.Record{{Key: key, Revision: 1, Status: "superseded"}, {Key: key, Revision: 2, Status: "deployed"}, {Key: other, Revision: 9, Status: "deployed"}}
	tests := map[string]struct {
		records  []release.Record
		deployed release.Deployed
		want     bool
	}{
		"the newest":           {records, release.Deployed{Key: key, Top: 2, TopStatus: "deployed"}, true},
		"an older one":         {records, release.Deployed{Key: key, Top: 1, TopStatus: "deployed"}, false},
		"another status":       {records, release.Deployed{Key: key, Top: 2, TopStatus: "failed"}, false},
		"nothing, as was seen": {nil, release.Deployed{Key: key}, true},
		"gone":                 {nil, release.Deployed{Key: key, Top: 2, TopStatus: "deployed"}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := confirms(tc.records, tc.deployed); got != tc.want {
				t.Error(got)
			}
		})
	}
	if diff := cmp.Diff([]release.Key{other}, stale(records, key)); diff != "" {
		t.Error(diff)
	}
}

func TestStatusPatch(t *testing.T) {
	raw, err := statusPatch(v1alpha1.BundleDeploymentStatus{Message: "old", Soaked: "1s"}, v1alpha1.BundleDeploymentStatus{Message: "new"})
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"status": map[string]any{
		"applied": false, "ready": false, "terminal": false, "waitingForDependency": false, "message": "new", "soaked": nil,
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestEarlier(t *testing.T) {
	tests := map[string]struct{ a, b, want time.Duration }{
		"none":       {0, 0, 0},
		"only one":   {time.Second, 0, time.Second},
		"only other": {0, time.Second, time.Second},
		"both":       {time.Minute, time.Second, time.Second},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := earlier(tc.a, tc.b); got != tc.want {
				t.Error(got)
			}
		})
	}
}
