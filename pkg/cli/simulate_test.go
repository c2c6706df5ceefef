package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericclioptions"

	"open-cluster-management.io/fleet-addon/pkg/simulate"
)

// simulateWith runs `rollout simulate` with arguments.
func simulateWith(t *testing.T, stdin string, args ...string) (out, errOut string, err error) {
	t.Helper()
	streams, in, o, e := genericclioptions.NewTestIOStreams()
	in.WriteString(stdin)
	cmd := newSimulateCommand(streams)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	cmd.SetOut(o)
	cmd.SetErr(e)
	err = cmd.ExecuteContext(t.Context())
	return o.String(), e.String(), err
}

const examples = "../../examples"

// TestSimulateExamples runs the files of examples/simulate as they are.
func TestSimulateExamples(t *testing.T) {
	want := map[string]struct {
		status int
		lines  []string
	}{
		"groups.yaml": {2, []string{
			"timed out 1: stg-07: not ready in time", "offline 1: prod-11",
			"Passed after 35m52s: 52 of 53 done, 1 failed, at most 40 updating at once",
		}},
		"partitions.yaml": {0, []string{
			"Partition 228 - 230  2 ", "admitted 52 in 11 steps of at most 5",
			"Complete after 23m0s: 230 of 230 done, at most 7 updating at once",
		}},
	}
	files, err := filepath.Glob(filepath.Join(examples, "simulate", "*.yaml"))
	if err != nil || len(files) != len(want) {
		t.Fatalf("examples %v and %d expectations: %v", files, len(want), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			tc := want[filepath.Base(file)]
			out, errOut, err := simulateWith(t, "", "-f", file)
			if got := ExitStatus(err); got != tc.status || errOut != "" {
				t.Errorf("exit status %d, want %d; %v %s", got, tc.status, err, errOut)
			}
			for _, line := range tc.lines {
				if !strings.Contains(out, line) {
					t.Errorf("want %q in:\n%s", line, out)
				}
			}
		})
	}
}

const threeClusters = `
apiVersion: fleet.open-cluster-management.io/v1alpha1
kind: Simulation
spec:
  clusters:
  - {name: a, labels: {environment: dev}}
  - {name: b, labels: {environment: stg}}
  - {name: c, labels: {environment: prod}}
`

func TestSimulateExit(t *testing.T) {
	cases := map[string]struct {
		script string
		args   []string
		want   int
		says   string
	}{
		"complete": {"", nil, 0, "Complete after "},
		"breached": {"  outcomes: [{clusters: [b], result: Fails}]\n", nil, 1, "Breached after "},
		"held":     {"  pauses: [{from: 10s}]\n", nil, 2, "Held after "},
		"cut off":  {"", []string{"--until", "20s"}, 2, "Unfinished after 20s"},
		"unread":   {"  outcome: []\n", nil, 3, ""},
		"only one": {"", []string{"--until", "20s", "-q"}, 2, "Unfinished after 20s"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			// The directory of objects as it is, and the script from the standard input.
			out, _, err := simulateWith(t, threeClusters+tc.script, append([]string{"-f", filepath.Join(examples, "dev-stg-prod"), "-f", "-"}, tc.args...)...)
			if got := ExitStatus(err); got != tc.want {
				t.Errorf("exit status %d, want %d: %v", got, tc.want, err)
			}
			if !strings.Contains(out, tc.says) {
				t.Errorf("want %q in:\n%s", tc.says, out)
			}
		})
	}
}

func TestSimulateOutput(t *testing.T) {
	file := filepath.Join(examples, "simulate", "partitions.yaml")
	out, _, err := simulateWith(t, "", "-f", file, "-o", "json", "--summary")
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		End      simulate.End     `json:"end"`
		At       string           `json:"at"`
		Timeline []simulate.Entry `json:"timeline"`
		Groups   []struct{ Name string }
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	if r.End != simulate.EndComplete || r.At != "23m0s" || len(r.Groups) != 5 || len(r.Timeline) != 0 {
		t.Errorf("got %+v", r)
	}
	if out, _, err = simulateWith(t, "", "-f", file, "-o", "yaml"); err != nil || !strings.Contains(out, "\nend: complete\n") || !strings.Contains(out, "what: admitted") {
		t.Errorf("%v\n%s", err, out)
	}
	for _, args := range [][]string{{"-f", file, "-o", "wide"}, {"-f", file, "--step", "-1s"}, {"-f", "no-such-file"}, {"-f", t.TempDir()}, {}} {
		if _, _, err := simulateWith(t, "", args...); ExitStatus(err) != 3 {
			t.Errorf("%v: exit status %d, want 3: %v", args, ExitStatus(err), err)
		}
	}
}

// TestSimulateErrors: every bad file is told, not only the first.
func TestSimulateErrors(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.yaml", "b.yml"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("kind: Nothing\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err := simulateWith(t, "", "-f", dir)
	if err == nil || !strings.Contains(err.Error(), "a.yaml: document 1: kind: ") || !strings.Contains(err.Error(), "b.yml: document 1: kind: ") {
		t.Errorf("error %v", err)
	}
}
