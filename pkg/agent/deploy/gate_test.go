package deploy

import (
	"strings"
	"testing"

	"open-cluster-management.io/fleet-addon/pkg/agent/fault"
	"open-cluster-management.io/fleet-addon/pkg/agent/hub"
	v1alpha1 "open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

func TestHeld(t *testing.T) {
	bd := func(paused bool) *v1alpha1.BundleDeployment {
		return &v1alpha1.BundleDeployment{Spec: v1alpha1.BundleDeploymentSpec{Admission: "2", Paused: paused}}
	}
	terminal := func(admission string) v1alpha1.BundleDeploymentStatus {
		return v1alpha1.BundleDeploymentStatus{Admission: admission, Terminal: true, Message: "it failed"}
	}
	refusal := fault.Terminalf("not supported")
	tests := map[string]struct {
		situation situation
		want      string
		kind      fault.Kind
	}{
		"nothing":                      {situation{bd: bd(false)}, "", fault.Retry},
		"a terminal error":             {situation{bd: bd(true), last: terminal("2"), refusal: refusal}, "it failed", fault.Terminal},
		"one of the last admission":    {situation{bd: bd(false), last: terminal("1")}, "", fault.Retry},
		"an option that is refused":    {situation{bd: bd(true), refusal: refusal}, "not supported", fault.Terminal},
		"paused":                       {situation{bd: bd(true), hub: hub.State{Deleting: true}}, "paused", fault.Waiting},
		"the add-on goes":              {situation{bd: bd(false), hub: hub.State{Known: true, Exists: true, Deleting: true}}, "being removed", fault.Waiting},
		"a hub that was never reached": {situation{bd: bd(false), hub: hub.State{}}, "", fault.Retry},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := held(tc.situation)
			if tc.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) || fault.KindOf(err) != tc.kind {
				t.Errorf("%v, kind %d", err, fault.KindOf(err))
			}
		})
	}
}

func TestMayRemove(t *testing.T) {
	tests := map[string]struct {
		state hub.State
		may   bool
	}{
		"unknown":              {hub.State{}, false},
		"no add-on":            {hub.State{Known: true}, false},
		"kept":                 {hub.State{Known: true, Exists: true, KeepBundles: true}, false},
		"kept, while it goes":  {hub.State{Known: true, Exists: true, Deleting: true, KeepBundles: true}, false},
		"there":                {hub.State{Known: true, Exists: true}, true},
		"there, while it goes": {hub.State{Known: true, Exists: true, Deleting: true}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := mayRemove(tc.state)
			if (err == nil) != tc.may || err != nil && fault.KindOf(err) != fault.Waiting {
				t.Errorf("%v", err)
			}
		})
	}
}
