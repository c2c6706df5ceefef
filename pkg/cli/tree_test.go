package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
)

// TestHelp: every command says what it does, at length, and shows how.
func TestHelp(t *testing.T) {
	walk(t, NewCommand(genericclioptions.NewTestIOStreamsDiscard()), func(t *testing.T, cmd *cobra.Command) {
		for what, text := range map[string]string{"Short": cmd.Short, "Long": cmd.Long, "Example": cmd.Example} {
			if text == "" {
				t.Errorf("%s has no %s", cmd.CommandPath(), what)
			}
		}
		if strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s: Short ends in a full stop: %s", cmd.CommandPath(), cmd.Short)
		}
		if !strings.Contains(cmd.Example, strings.TrimSuffix(cmd.CommandPath(), " help")) {
			t.Errorf("%s: no example shows it:\n%s", cmd.CommandPath(), cmd.Example)
		}
		for _, line := range strings.Split(cmd.Example, "\n") {
			if line != "" && !strings.HasPrefix(line, "  ") {
				t.Errorf("%s: a line of the example is not indented: %q", cmd.CommandPath(), line)
			}
		}
	})
}

// TestUnknownCommands: a command that only holds others refuses what it does not know.
func TestUnknownCommands(t *testing.T) {
	walk(t, NewCommand(genericclioptions.NewTestIOStreamsDiscard()), func(t *testing.T, cmd *cobra.Command) {
		if !cmd.HasSubCommands() {
			return
		}
		if err := cmd.ValidateArgs([]string{"bogus"}); err == nil || !strings.Contains(err.Error(), "unknown command") {
			t.Errorf("%s bogus: got %v", cmd.CommandPath(), err)
		}
	})
}

func walk(t *testing.T, cmd *cobra.Command, look func(*testing.T, *cobra.Command)) {
	t.Helper()
	look(t, cmd)
	for _, child := range cmd.Commands() {
		walk(t, child, look)
	}
}

func TestCompletion(t *testing.T) {
	for _, shell := range shells {
		t.Run(shell, func(t *testing.T) {
			streams, _, out, _ := genericclioptions.NewTestIOStreams()
			if err := run(t, streams, "completion", shell); err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(out.Bytes(), []byte("fleetctl")) {
				t.Errorf("got %q", out)
			}
		})
	}
	t.Run("a shell that there is none for", func(t *testing.T) {
		streams, _, _, _ := genericclioptions.NewTestIOStreams()
		if err := run(t, streams, "completion", "tcsh"); err == nil || !strings.Contains(err.Error(), "want bash, zsh or fish") {
			t.Errorf("got %v", err)
		}
	})
}

// TestComplete: what the scripts of the shells ask.
func TestComplete(t *testing.T) {
	t.Setenv("KUBECONFIG", t.TempDir()+"/none")
	for name, tc := range map[string]struct {
		line []string
		want string
	}{
		"a command":                          {[]string{"rollout", "sta"}, "status\tShow the groups of a bundle's rollout and what holds them back\n:4\n"},
		"a format":                           {[]string{"rollout", "status", "hello", "-o", ""}, "json\nyaml\n:4\n"},
		"a shell":                            {[]string{"completion", ""}, "bash\nzsh\nfish\n:4\n"},
		"a reason":                           {[]string{"rollout", "confirm", "hello", "--reason", ""}, "RolloutSourceChanged\nGroupVanished\nRemovalGuard\n:4\n"},
		"a bundle without a hub: no files":   {[]string{"rollout", "status", ""}, ":4\n"},
		"a cluster without a hub: no files":  {[]string{"rollout", "explain", "hello", ""}, ":4\n"},
		"a revision without a hub: no files": {[]string{"rollout", "undo", "hello", "--to-revision", ""}, ":4\n"},
	} {
		t.Run(name, func(t *testing.T) {
			streams, _, out, _ := genericclioptions.NewTestIOStreams()
			if err := run(t, streams, append([]string{cobra.ShellCompRequestCmd}, tc.line...)...); err != nil {
				t.Fatal(err)
			}
			if got := out.String(); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func run(t *testing.T, streams genericclioptions.IOStreams, args ...string) error {
	t.Helper()
	cmd := NewCommand(streams)
	cmd.SetArgs(args)
	return cmd.ExecuteContext(t.Context())
}
