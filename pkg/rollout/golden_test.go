package rollout

import (
	"flag"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGolden runs the scenarios in testdata. A file is a script, a line "---", and
// one line for each plan that says something new: the time, the actions, the state
// of each group and the rollout's sentence. In a group a letter is a cluster, in
// name order: . pending, p progressing, s soaking, D done, F failed, T timed out,
// R recovering; the group's name has a * while it is open.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			script, want, _ := strings.Cut(string(data), "---\n")
			got := runScript(t, script, nil)
			if *update {
				if err := os.WriteFile(file, []byte(script+"---\n"+got), 0o644); err != nil {
					t.Fatal(err)
				}
				want = got
			}
			if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("the sequence differs (-want +got):\n%s", diff)
			}
			for seed := range int64(3) {
				if shuffled := runScript(t, script, rand.New(rand.NewSource(seed))); shuffled != got {
					t.Errorf("shuffled with seed %d:\n%s", seed, cmp.Diff(strings.Split(got, "\n"), strings.Split(shuffled, "\n")))
				}
			}
		})
	}
}

// describe is one plan in one line.
func describe(r Result) string {
	var parts []string
	for _, a := range r.Admit {
		parts = append(parts, fmt.Sprintf("admit %s=%s", a.Cluster, a.ID))
	}
	for _, f := range r.Refresh {
		parts = append(parts, fmt.Sprintf("refresh %s", f.Cluster))
	}
	for _, d := range r.Remove {
		parts = append(parts, fmt.Sprintf("remove %s", d.Cluster))
	}
	letters := map[State]string{Pending: ".", Progressing: "p", Soaking: "s", Done: "D", Failed: "F", TimedOut: "T", Recovering: "R"}
	var groups []string
	for _, l := range r.Lanes {
		for _, g := range l.Groups {
			text := g.label()
			if len(r.Lanes) > 1 {
				text = l.Name + "/" + text
			}
			if g.Open {
				text += "*"
			}
			text += "="
			for _, c := range r.Clusters {
				if c.InLane && c.Place.Lane == l.Name && c.Place.GroupKey == g.GroupKey {
					text += letters[c.State]
				}
			}
			groups = append(groups, text)
		}
	}
	for _, c := range r.Clusters {
		if !c.InLane {
			groups = append(groups, fmt.Sprintf("%s:%s", c.Name, c.Reason))
		}
	}
	if len(parts) > 0 {
		return fmt.Sprintf("[%s] %s | %s: %s", strings.Join(parts, ", "), strings.Join(groups, " "), r.Reason, r.Sentence)
	}
	return fmt.Sprintf("%s | %s: %s", strings.Join(groups, " "), r.Reason, r.Sentence)
}
