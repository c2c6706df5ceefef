package env

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseCluster(t *testing.T) {
	tests := map[string]struct {
		text      string
		want      ClusterSpec
		wantError string
	}{
		"a name alone has no labels": {
			text: "dev", want: ClusterSpec{Name: "dev"},
		},
		"labels follow a colon": {
			text: "dev1:environment=dev,region=eu-1",
			want: ClusterSpec{Name: "dev1", Labels: map[string]string{"environment": "dev", "region": "eu-1"}},
		},
		"a label may have a prefix and an empty value": {
			text: "dev:example.com/a=", want: ClusterSpec{Name: "dev", Labels: map[string]string{"example.com/a": ""}},
		},
		"a name must be one of a namespace": {text: "Dev_1", wantError: "the name"},
		"the hub's name is taken":           {text: "hub", wantError: "name of the hub"},
		"a label needs a value":             {text: "dev:environment", wantError: `label "environment" is not KEY=VALUE`},
		"a label's value must be valid":     {text: "dev:a=b c", wantError: `label "a=b c"`},
		"a colon alone is a mistake":        {text: "dev:", wantError: `label "" is not KEY=VALUE`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseCluster(test.text)
			if test.wantError != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantError) {
					t.Fatalf("want an error with %q, got %v", test.wantError, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("unexpected cluster (-want +got):\n%s", diff)
			}
			if again, err := ParseCluster(got.String()); err != nil || !cmp.Equal(again, got) {
				t.Errorf("String gives %q, which reads as %v, %v", got.String(), again, err)
			}
		})
	}
}

func TestParseClustersRefusesANameTwice(t *testing.T) {
	_, err := ParseClusters([]string{"dev", "dev:environment=dev"})
	if err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("want an error about the name, got %v", err)
	}
}
