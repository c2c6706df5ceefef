package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericclioptions"
)

// TestMistakes: a command line that is wrong ends with 3, which is no state of a
// rollout, and says what is wanted.
func TestMistakes(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	t.Setenv("KUBECONFIG", none)
	t.Setenv("HOME", t.TempDir())
	for name, tc := range map[string]struct{ line, want string }{
		"a command that does not exist":         {"bogus", `unknown command "bogus" for "fleetctl": see fleetctl --help`},
		"a rollout command that does not exist": {"rollout statsu hello", `unknown command "statsu" for "fleetctl rollout"; did you mean status? See fleetctl rollout --help`},
		"a command that does not exist, nearly": {"rolout status", `unknown command "rolout" for "fleetctl"; did you mean rollout?`},
		"no format":                             {"rollout status hello -o xml", `--output "xml": want json or yaml`},
		"no bundle":                             {"rollout status", "fleetctl rollout status wants BUNDLE and got 0: see fleetctl rollout status --help"},
		"two bundles":                           {"rollout pause a b", "fleetctl rollout pause wants BUNDLE and got 2"},
		"no cluster":                            {"rollout explain hello", "fleetctl rollout explain wants BUNDLE and CLUSTER and got 1"},
		"a flag that does not exist":            {"rollout status hello --wacth", "unknown flag: --wacth: see fleetctl rollout status --help"},
		"a file without its flag":               {"rollout simulate script.yaml", `"script.yaml": name files with -f`},
		"no file":                               {"rollout simulate", `required flag(s) "filename" not set`},
		"no kubeconfig at all":                  {"rollout status hello", "no hub: there is no kubeconfig"},
		"a kubeconfig that is not there":        {"rollout status hello --kubeconfig " + none, "read the kubeconfig: stat " + none},
		"a context that does not exist":         {"rollout status hello --context hub", `read the kubeconfig: context "hub" does not exist`},
	} {
		t.Run(name, func(t *testing.T) {
			streams, _, _, _ := genericclioptions.NewTestIOStreams()
			cmd := NewCommand(streams)
			cmd.SetArgs(strings.Fields(tc.line))
			err := cmd.ExecuteContext(t.Context())
			if got := ExitStatus(err); got != 3 || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("exit status %d, want 3, and %v, want %q", got, err, tc.want)
			}
		})
	}
}
