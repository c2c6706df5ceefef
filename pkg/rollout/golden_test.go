package rollout

import (
	"flag"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGolden runs the scenarios in testdata. A file is a script, a line "---", and
// one line for each plan that says something new: the time, the actions, the state
// of each group and the rollout's sentence. In a group a letter is a cluster, in
// name order: . pending, p progressing, s soaking, D done, F failed, T timed out,
// R recovering, and D{12} is twelve in a row; the group's name has a * while it is open.
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
	var admits, refreshes, removes []string
	for _, a := range r.Admit {
		admits = append(admits, fmt.Sprintf("admit %s=%s", a.Cluster, a.ID))
	}
	for _, f := range r.Refresh {
		refreshes = append(refreshes, fmt.Sprintf("refresh %s", f.Cluster))
	}
	for _, d := range r.Remove {
		removes = append(removes, fmt.Sprintf("remove %s", d.Cluster))
	}
	parts := slices.Concat(few(admits), few(refreshes), few(removes))
	letters := map[State]string{Pending: ".", Progressing: "p", Soaking: "s", Done: "D", Failed: "F", TimedOut: "T", Recovering: "R"}
	var groups []string
	for _, l := range r.Lanes {
		for _, g := range l.Groups {
			text := g.Label()
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
			groups = append(groups, squeeze(text))
		}
	}
	var outside []string
	for _, c := range r.Clusters {
		if !c.InLane {
			outside = append(outside, fmt.Sprintf("%s:%s", c.Name, c.Reason))
		}
	}
	groups = append(groups, few(outside)...)
	if len(parts) > 0 {
		return fmt.Sprintf("[%s] %s | %s: %s", strings.Join(parts, ", "), strings.Join(groups, " "), r.Reason, r.Sentence)
	}
	return fmt.Sprintf("%s | %s: %s", strings.Join(groups, " "), r.Reason, r.Sentence)
}

// few shortens a long list of actions.
func few(list []string) []string {
	if len(list) <= 10 {
		return list
	}
	return []string{fmt.Sprintf("%s … %s (%d)", list[0], list[len(list)-1], len(list))}
}

// squeeze writes many equal letters in a row as one with their number.
func squeeze(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		j := i
		for j < len(text) && text[j] == text[i] {
			j++
		}
		if b.WriteString(text[i : i+min(j-i, 1)]); j-i > 9 {
			fmt.Fprintf(&b, "{%d}", j-i)
		} else {
			b.WriteString(text[i+1 : j])
		}
		i = j
	}
	return b.String()
}
