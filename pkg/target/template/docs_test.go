package template

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/sprig/v3"
	"github.com/google/go-cmp/cmp"
)

// The page lists the functions that there are.
func TestDocumentedFunctions(t *testing.T) {
	page, err := os.ReadFile("../../../docs/targets.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(page), "### Functions")
	_, after, _ = strings.Cut(after, "```text\n")
	block, _, _ := strings.Cut(after, "```")
	if diff := cmp.Diff(slices.Sorted(maps.Keys(functions)), strings.Fields(block)); diff != "" {
		t.Errorf("docs/targets.md (-there +documented):\n%s", diff)
	}
}

// Whoever updates Sprig decides about each function that is new there.
func TestEveryFunctionOfSprigIsKnown(t *testing.T) {
	const decided = 211
	all := sprig.TxtFuncMap()
	if len(all) != decided {
		t.Errorf("Sprig has %d functions and had %d: allow or forbid the new ones, and say so in docs/targets.md", len(all), decided)
	}
	for name := range forbidden {
		if functions[name] != nil {
			t.Errorf("%s is forbidden and allowed", name)
		}
	}
}
