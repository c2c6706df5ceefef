package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

func kept() []revision {
	return []revision{
		{number: 1, hash: "aaa", commit: "0123456789abcdef", created: noon.Add(-48 * time.Hour)},
		{number: 2, hash: "1234567890", created: noon.Add(-time.Hour)},
		{number: 3, hash: "ccc", commit: "fedcba", created: noon.Add(-time.Minute)},
	}
}

// atRevision is a rollout with a revision in force and one that was completed last.
func atRevision(force, completed string) *v1alpha1.Rollout {
	r := held()
	r.Status.Revision, r.Status.BundleRevision, r.Status.Record.CompletedRevision = force, "ccc", completed
	return r
}

func TestHistory(t *testing.T) {
	pinnedTo := func(r *v1alpha1.Rollout, hash string) *v1alpha1.Rollout {
		r.Spec.Revision = hash
		return r
	}
	cases := map[string]struct {
		rollout *v1alpha1.Rollout
		known   []revision
		want    string
	}{
		"nothing is kept": {rollout: atRevision("ccc", ""), want: "No revision of Bundle demo/hello is kept yet."},
		"a pin is rolled out": {rollout: pinnedTo(atRevision("aaa", "1234567890"), "aaa"), known: kept(), want: `
REVISION  HASH        AGE  COMMIT        MARKS
1         aaa         2d   0123456789ab  in force, pinned
2         1234567890  60m  -             last completed
3         ccc         60s  fedcba        the bundle's own`},
		"a pin that is not kept": {rollout: pinnedTo(atRevision("ccc", "ccc"), "gone"), known: kept()[2:], want: `
REVISION  HASH  AGE  COMMIT  MARKS
3         ccc   60s  fedcba  in force, the bundle's own, last completed
The Rollout pins revision gone, which is not kept: ` + "`fleetctl rollout undo hello -n demo --clear`" + ` takes the pin away.`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(historyLines(tc.rollout, tc.known, noon), "\n")
			if diff := cmp.Diff(strings.TrimPrefix(tc.want, "\n"), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestChooseRevision(t *testing.T) {
	const all = "kept are: 1 (aaa, commit 0123456789ab); 2 (1234567890); 3 (ccc, commit fedcba)"
	cases := map[string]struct {
		rollout *v1alpha1.Rollout
		known   []revision
		asked   string
		want    string
		wantErr string
	}{
		"the last completed one":                           {rollout: atRevision("ccc", "aaa"), known: kept(), want: "aaa"},
		"the one before, if that in force is completed":    {rollout: atRevision("ccc", "ccc"), known: kept(), want: "1234567890"},
		"the one before, if none was completed":            {rollout: atRevision("1234567890", ""), known: kept(), want: "aaa"},
		"the one before, if the completed one is not kept": {rollout: atRevision("ccc", "gone"), known: kept(), want: "1234567890"},
		"a number":                                         {rollout: atRevision("ccc", "ccc"), known: kept(), asked: "1", want: "aaa"},
		"a hash":                                           {rollout: atRevision("ccc", "ccc"), known: kept(), asked: "aaa", want: "aaa"},
		"a hash that looks like a number":                  {rollout: atRevision("ccc", "ccc"), known: kept(), asked: "1234567890", want: "1234567890"},
		"an unknown number names the known":                {rollout: atRevision("ccc", "ccc"), known: kept(), asked: "9", wantErr: `the Bundle demo/hello has no revision "9"; ` + all},
		"an unknown hash names the known":                  {rollout: atRevision("ccc", "ccc"), known: nil, asked: "zzz", wantErr: `the Bundle demo/hello has no revision "zzz"; kept are: none`},
		"there is none before":                             {rollout: atRevision("aaa", ""), known: kept(), wantErr: "no revision of Bundle demo/hello before 1 (aaa, commit 0123456789ab) is kept; " + all},
		"nobody knows what is before one that is not kept": {rollout: atRevision("zzz", ""), known: kept(), wantErr: `the revision in force of Bundle demo/hello, "zzz", is not among those kept: name one with --to-revision; ` + all},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := choose(tc.rollout, tc.known, tc.asked)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if text != tc.wantErr {
				t.Fatalf("error %q, want %q", text, tc.wantErr)
			}
			if tc.wantErr == "" && got.hash != tc.want {
				t.Errorf("revision %s, want %s", got.hash, tc.want)
			}
		})
	}
}

func TestPinLines(t *testing.T) {
	r := atRevision("ccc", "ccc")
	r.Spec.Paused = true
	want := `Rollout demo/hello is pinned to revision 1 (aaa, commit 0123456789ab).
It goes through the same groups and gates as any other revision, from the first group on.
The Rollout is paused: nothing happens before ` + "`fleetctl rollout resume hello -n demo`" + `.
The pin holds against new revisions of the Bundle until ` + "`fleetctl rollout undo hello -n demo --clear`."
	if diff := cmp.Diff(want, strings.Join(pinLines(r, kept()[0]), "\n")); diff != "" {
		t.Errorf("a new pin (-want +got):\n%s", diff)
	}
	r.Spec.Revision = "aaa"
	want = `Rollout demo/hello pins revision aaa no longer.
Now the Bundle's own revision ccc is rolled out, through the same groups and gates.`
	if diff := cmp.Diff(want, strings.Join(clearLines(r), "\n")); diff != "" {
		t.Errorf("no pin any more (-want +got):\n%s", diff)
	}
}
