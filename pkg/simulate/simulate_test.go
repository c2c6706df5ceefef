package simulate

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// load reads files, each a name and its text.
func load(t testing.TB, files ...string) (*Scenario, error) {
	t.Helper()
	f := &Files{}
	for i, text := range files {
		if err := f.Read(string(rune('a'+i))+".yaml", []byte(text)); err != nil {
			return nil, err
		}
	}
	return f.Scenario()
}

// play runs files that have to be right.
func play(t testing.TB, o Options, files ...string) *Report {
	t.Helper()
	s, err := load(t, files...)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func text(t testing.TB, r *Report) string {
	t.Helper()
	var out strings.Builder
	if err := r.Write(&out, TextOptions{Full: true}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestGolden plays the files in testdata and compares with NAME.txt. Each is played
// twice, with its documents in the opposite order the second time.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := text(t, play(t, Options{}, string(data)))
			golden := strings.TrimSuffix(file, ".yaml") + ".txt"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("the report differs (-want +got):\n%s", diff)
			}
			parts := strings.Split(string(data), "\n---\n")
			for i, j := 0, len(parts)-1; i < j; i, j = i+1, j-1 {
				parts[i], parts[j] = parts[j], parts[i]
			}
			if again := text(t, play(t, Options{}, strings.Join(parts, "\n---\n"))); again != got {
				t.Errorf("with the documents in another order:\n%s", cmp.Diff(got, again))
			}
		})
	}
}

const fleetOfTwenty = `
apiVersion: fleet.cattle.io/v1alpha1
kind: Bundle
metadata: {name: web}
spec: {targets: [{clusterSelector: {}}]}
---
apiVersion: fleet.open-cluster-management.io/v1alpha1
kind: Simulation
spec:
  installed: v1
  clusters: [{namePrefix: c, count: 20}]
  outcomes:
  - {share: 30%, result: Fails, spread: 2m}
  - {spread: 5m}
`

func TestSeed(t *testing.T) {
	one, two := int64(1), int64(2)
	first := text(t, play(t, Options{Seed: &one}, fleetOfTwenty))
	if again := text(t, play(t, Options{Seed: &one}, fleetOfTwenty)); again != first {
		t.Errorf("the same seed gives another report:\n%s", cmp.Diff(first, again))
	}
	if unset := text(t, play(t, Options{}, fleetOfTwenty)); unset != first {
		t.Errorf("no seed is not seed 1:\n%s", cmp.Diff(first, unset))
	}
	if other := text(t, play(t, Options{Seed: &two}, fleetOfTwenty)); other == first {
		t.Error("another seed gives the same report")
	}
}

func TestUntil(t *testing.T) {
	r := play(t, Options{Until: 40e9}, fleetOfTwenty)
	if r.End != EndUnfinished || r.At != 40e9 {
		t.Errorf("end %s at %s, want unfinished at 40s", r.End, r.At)
	}
}

func TestStep(t *testing.T) {
	fine, coarse := play(t, Options{}, fleetOfTwenty), play(t, Options{Step: 60e9}, fleetOfTwenty)
	if fine.Counts != coarse.Counts || coarse.Plans >= fine.Plans {
		t.Errorf("counts %+v and %+v, plans %d and %d: want equal counts and fewer plans", fine.Counts, coarse.Counts, fine.Plans, coarse.Plans)
	}
	for _, e := range coarse.Timeline {
		if e.Seconds != 0 && int(e.Seconds)%60 != 0 {
			t.Errorf("%s %s is between two steps", e.At, e.What)
		}
	}
}

func TestContext(t *testing.T) {
	s, err := load(t, fleetOfTwenty)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Run(ctx, Options{}); err == nil {
		t.Error("a cancelled run has a report")
	}
}

// TestDefaultStep: the larger the fleet the coarser its time, or 10,000 clusters would
// take a minute. What is asked for counts as it is.
func TestDefaultStep(t *testing.T) {
	for name, tc := range map[string]struct {
		clusters    string
		asked, want time.Duration
		wantNote    bool
	}{
		"2,000 clusters have every second":        {clusters: "2000", want: time.Second},
		"2,001 clusters have every third one":     {clusters: "2001", want: 3 * time.Second, wantNote: true},
		"10,000 clusters have every tenth one":    {clusters: "10000", want: 10 * time.Second, wantNote: true},
		"a step that is asked for is as it is":    {clusters: "10000", asked: time.Second, want: time.Second},
		"a longer step that is asked for is told": {clusters: "10", asked: time.Minute, want: time.Minute, wantNote: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := play(t, Options{Step: tc.asked, Until: time.Second}, bundleWeb, script1("{clusters: [{namePrefix: c, count: "+tc.clusters+"}]}"))
			if got := time.Duration(r.Step); got != tc.want {
				t.Errorf("step %s, want %s", got, tc.want)
			}
			if got := strings.Contains(text(t, r), "rounded up to "+tc.want.String()); got != tc.wantNote {
				t.Errorf("the text tells the step: %t, want %t:\n%s", got, tc.wantNote, text(t, r))
			}
		})
	}
}

// TestCoarseSoak: the end of a soak is seen in the step in which it is over, not in the
// one after.
func TestCoarseSoak(t *testing.T) {
	files := hundredGroups("{after: 30s}")
	r := play(t, Options{Step: 10 * time.Second, Until: 3 * time.Minute}, files)
	if got := r.Groups[0].PassedAt; got == nil || time.Duration(*got) != 90*time.Second {
		t.Errorf("group g00 passed at %v, want 1m30s: 30 s to be ready, a minute of soak", got)
	}
}
