package reference

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"open-cluster-management.io/fleet-addon/pkg/cli"
)

const want = `## tool

` + "```text\ntool COMMAND\n```" + `

All tools.

` + "```sh\n# One\ntool\n```" + `

| flag | default | does |
| --- | --- | --- |
| ` + "`--where string`" + ` |  | the place |

## tool saw

` + "```text\ntool saw WOOD [flags]\n```" + `

Saw wood.

` + "```sh\n# Two\ntool saw oak\n\n# Three\ntool saw ash\n```" + `

| flag | default | does |
| --- | --- | --- |
| ` + "`-f`, `--fast`" + ` |  | faster \| louder |
| ` + "`--teeth COUNT`" + ` | ` + "`7`" + ` | how many COUNT |

And the flags of [` + "`tool`" + `](#tool).
`

func TestWrite(t *testing.T) {
	root := &cobra.Command{Use: "tool", Short: "All tools", Long: "All tools.\n\nExit status:\n  0  good", Example: "  # One\n  tool"}
	root.PersistentFlags().String("where", "", "the place")
	saw := &cobra.Command{
		Use: "saw WOOD", Short: "Saw wood", Long: "Saw wood.", Example: "  # Two\n  tool saw oak\n\n  # Three\n  tool saw ash",
		Run: func(*cobra.Command, []string) {},
	}
	saw.Flags().Int("teeth", 7, "how many `COUNT`")
	saw.Flags().BoolP("fast", "f", false, "faster | louder")
	saw.Flags().Bool("secret", false, "nobody's business")
	_ = saw.Flags().MarkHidden("secret")
	root.AddCommand(saw, &cobra.Command{Use: "hidden", Hidden: true, Run: func(*cobra.Command, []string) {}})

	var out bytes.Buffer
	if err := Write(&out, root); err != nil {
		t.Fatal(err)
	}
	_, commands, _ := strings.Cut(out.String(), "\n## tool\n")
	if diff := cmp.Diff(want, "## tool\n"+commands); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if text := out.String(); !strings.Contains(text, "| [`tool saw`](#tool-saw) | Saw wood |") || strings.Contains(text, "hidden") {
		t.Errorf("the list of commands is not right:\n%s", text)
	}
}

// TestEverywhereTheSame: the page must not tell whose machine it was written on.
func TestEverywhereTheSame(t *testing.T) {
	write := func(home string) string {
		t.Setenv("HOME", home)
		t.Setenv("KUBECACHEDIR", "")
		t.Setenv("NAMESPACE", home)
		var out bytes.Buffer
		if err := Write(&out, cli.NewCommand(genericclioptions.NewTestIOStreamsDiscard())); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if diff := cmp.Diff(write("/home/a"), write("/elsewhere/b")); diff != "" {
		t.Errorf("(-one machine +another)\n%s", diff)
	}
}
