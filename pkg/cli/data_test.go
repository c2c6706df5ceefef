package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestData: what -o prints of a plan, of a history and of one cluster.
func TestData(t *testing.T) {
	pinned := atRevision("aaa", "1234567890")
	for name, tc := range map[string]struct {
		data any
		want string
	}{
		"a plan": {planOf(threeGroups()), `
admitted: 7
bundle: demo/hello
groups:
- admitted: 0
  group: dev
  message: 2 clusters are done
  pending: 0
  reason: Complete
- admitted: 7
  clusters:
  - s1
  - s2
  - s3
  - s4
  - s5
  - s6
  - s7
  group: stg
  message: it soaks
  nextLook: "2026-05-01T12:00:14Z"
  pending: 7
  reason: Soaking
- admitted: 0
  group: prod
  message: 'waiting for group stg: it soaks'
  pending: 5
  reason: WaitingForGroup
paused: false
revision: abc
`},
		"a history": {historyData(pinned, kept()[:2]), `
revisions:
- commit: 0123456789abcdef
  created: "2026-04-29T12:00:00Z"
  hash: aaa
  marks:
  - in force
  revision: 1
- created: "2026-05-01T11:00:00Z"
  hash: "1234567890"
  marks:
  - last completed
  revision: 2
`},
		"no history": {historyData(pinned, nil), "\nrevisions: []\n"},
		"a cluster": {explain(standing("stg", isReady), noon).data("demo/hello", "c1"), `
bundle: demo/hello
cluster: c1
earliest: "2026-05-01T12:00:20Z"
group: stg, open
next: it must stay ready and available without a break, and the agent must confirm
  the end of the soak
revision: abc, the one that is rolled out
summary: 'Cluster c1, Bundle demo/hello: Soaking, shown as Ready, since 2026-05-01T11:59:50Z
  (10s ago)'
why: 'Soaking: ready since 2026-05-01T11:59:50Z, soaking until 2026-05-01T12:00:20Z'
`},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			if err := printData(&out, tc.data, formatYAML); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, "\n"+out.String()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
