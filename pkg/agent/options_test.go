package agent

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestOptions(t *testing.T) {
	tests := map[string]struct {
		args []string
		want []string
	}{
		"enough":  {[]string{"--hub-kubeconfig=x", "--cluster-name=dev", "--namespace=n"}, nil},
		"nothing": {nil, []string{"--hub-kubeconfig is required", "--cluster-name is required", "--namespace or POD_NAMESPACE is required"}},
		"wrong values": {
			[]string{"--hub-kubeconfig=x", "--cluster-name=dev", "--namespace=n", "--workers=0", "--log-level=loud", "--report-interval=-1s"},
			[]string{"--workers is 0", `--log-level is "loud"`, "--report-interval"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv("POD_NAMESPACE", "")
			o := NewOptions()
			set := pflag.NewFlagSet("agent", pflag.ContinueOnError)
			o.AddFlags(set)
			if err := set.Parse(tc.args); err != nil {
				t.Fatal(err)
			}
			err := o.Validate()
			if len(tc.want) == 0 {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			for _, w := range tc.want {
				if err == nil || !strings.Contains(err.Error(), w) {
					t.Errorf("error %v, want %q", err, w)
				}
			}
		})
	}
}
