package controlplane

import "testing"

func TestCondition(t *testing.T) {
	tests := map[string]struct {
		selection Selection
		want      string
		wantError bool
	}{
		"labels of all namespaces": {
			selection: Selection{Selector: "app=web,tier=front"},
			want:      `(.metadata.labels["app"] == "web" and .metadata.labels["tier"] == "front")`,
		},
		"one namespace": {
			selection: Selection{Namespace: "shop", Selector: "app=web"},
			want:      `(.metadata.labels["app"] == "web" and .metadata.namespace == "shop")`,
		},
		"everything is refused":               {selection: Selection{}, wantError: true},
		"what is no equality is refused":      {selection: Selection{Selector: "app in (a,b)"}, wantError: true},
		"a value that is no label is refused": {selection: Selection{Selector: `app="x"`}, wantError: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := test.selection.condition()
			if (err != nil) != test.wantError {
				t.Fatalf("want error %t, got %v", test.wantError, err)
			}
			if got != test.want {
				t.Errorf("want %s, got %s", test.want, got)
			}
		})
	}
}
