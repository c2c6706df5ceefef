package rollout

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
)

func partitionLane(s *Partitions) LaneSpec {
	return LaneSpec{Name: DefaultLane, Strategy: Strategy{Type: PartitionsType}, Partitions: s}
}

// partitions reads "partitions field=value...". A manual partition is a field
// "manual=NAME" or "manual=NAME:MAXUNAVAILABLE"; clusters of that prefix are in it.
func (s *sim) partitions(t *testing.T, args []string) {
	t.Helper()
	s.lanes = []LaneSpec{partitionLane(readPartitions(t, args))}
}

// partitionOf is the number of the manual partition for clusters of a prefix.
func (s *sim) partitionOf(prefix string) int {
	if s.lanes[0].Partitions != nil {
		for i, m := range s.lanes[0].Partitions.Manual {
			if m.Name == prefix {
				return i + 1
			}
		}
	}
	return 0
}

func readPartitions(t *testing.T, args []string) *Partitions {
	t.Helper()
	p := &Partitions{}
	for _, arg := range args {
		name, value, _ := strings.Cut(arg, "=")
		amount := intstr.Parse(value)
		switch name {
		case "maxUnavailable":
			p.MaxUnavailable = &amount
		case "maxUnavailablePartitions":
			p.MaxUnavailablePartitions = &amount
		case "autoPartitionSize":
			p.AutoSize = &amount
		case "autoPartitionThreshold":
			p.AutoThreshold = number(t, value)
		case "maxNew":
			p.MaxNew = number(t, value)
		case "manual":
			part, own, has := strings.Cut(value, ":")
			p.Manual = append(p.Manual, ManualPartition{Name: part})
			if has {
				amount = intstr.Parse(own)
				p.Manual[len(p.Manual)-1].MaxUnavailable = &amount
			}
		default:
			t.Fatalf("unknown setting %q", name)
		}
	}
	return p
}

func number(t *testing.T, value string) *int {
	t.Helper()
	n, err := strconv.Atoi(value)
	if err != nil {
		t.Fatal(err)
	}
	return &n
}

// waves runs a fleet and counts what is admitted in each second in which anything is:
// "50 50". A script's line is done at the start; then the bundle's v1 is installed, and
// where update lines are given these follow once that is quiet, with v2, and only the
// waves of v2 count. Every cluster is ready 3 s after its admission.
func waves(t *testing.T, install, update []string) string {
	t.Helper()
	s := newSim()
	for _, line := range install {
		s.do(t, line)
	}
	s.revision = "v1"
	got := s.count(t)
	if update != nil {
		s.revision, s.dirty = "v2", true
		for _, line := range update {
			s.do(t, line)
		}
		got = s.count(t)
	}
	return got
}

// count runs until nothing was admitted for ten seconds, and says how many clusters were
// admitted in each second that had any.
func (s *sim) count(t *testing.T) string {
	t.Helper()
	var list []string
	for quiet := 0; quiet < 10; quiet++ {
		n := 0
		if err := s.tick(func(_ Input, r Result) { n += len(r.Admit) }); err != nil {
			t.Fatal(err)
		}
		if n > 0 {
			quiet = 0
			list = append(list, strconv.Itoa(n))
		}
		s.now = s.now.Add(time.Second)
	}
	return runs(list)
}

// runs writes equal neighbours as one: "5×10" is ten waves of five.
func runs(list []string) string {
	var out []string
	for i := 0; i < len(list); {
		n := 1
		for i+n < len(list) && list[i+n] == list[i] {
			n++
		}
		if n > 1 {
			out = append(out, fmt.Sprintf("%s×%d", list[i], n))
		} else {
			out = append(out, list[i])
		}
		i += n
	}
	return strings.Join(out, " ")
}

// TestDocumentedRollouts runs the worked examples of Fleet's page on rollouts, with the
// waves that its text promises.
func TestDocumentedRollouts(t *testing.T) {
	manual := []string{"partitions maxUnavailable=10% maxUnavailablePartitions=0 manual=a manual=b manual=c manual=d manual=e",
		"clusters 40 a", "clusters 40 b", "clusters 40 c", "clusters 40 d", "clusters 40 e"}
	strict := []string{"partitions maxUnavailable=0 maxUnavailablePartitions=0 manual=demo manual=stable", "clusters 20 demo", "clusters 180 stable"}
	nobody := "outcome v1 never"
	tests := map[string]struct {
		install, update []string
		want            string
	}{
		"a partition of 25 with maxUnavailable 5 gets all 25 before anybody looks": {
			install: []string{"partitions maxUnavailable=5", "clusters 25 c", nobody}, want: "25"},
		"a partition of 100 gets 50, and the others only while the threshold is not exceeded": {
			install: []string{"partitions maxUnavailable=10%", "clusters 100 c", nobody}, want: "50"},
		"a partition of 100 gets the other 50 once the first are ready": {
			install: []string{"partitions maxUnavailable=10% maxNew=50", "clusters 100 c"}, want: "50×2"},
		"200 clusters make four partitions of 50, one after the other with 10%": {
			install: []string{"partitions maxUnavailable=10% autoPartitionSize=25%", "clusters 200 c"}, want: "50×4"},
		"230 clusters make four partitions of 57 and one of 2": {
			install: []string{"partitions maxUnavailable=10%", "clusters 230 c"}, want: "50 7 50 7 50 7 50 7 2"},
		"with threshold 50 and size 50 % 50 clusters make two partitions of 25": {
			install: []string{"partitions maxUnavailable=10% autoPartitionThreshold=50 autoPartitionSize=50%", "clusters 50 c"}, want: "25×2"},
		"with threshold 50 49 clusters are one partition": {
			install: []string{"partitions maxUnavailable=10% autoPartitionThreshold=50 autoPartitionSize=50%", "clusters 49 c"}, want: "49"},
		"200 clusters in five manual partitions of 40 with 10 %": {
			install: manual, want: "40×5"},
		"200 clusters in five manual partitions: more than 4 not ready hold the second": {
			install: append([]string{"outcome v1/a01 never", "outcome v1/a02 never", "outcome v1/a03 never", "outcome v1/a04 never", "outcome v1/a05 never"}, manual...), want: "40"},
		"200 clusters in five manual partitions: 4 not ready do not": {
			install: append([]string{"outcome v1/a01 never", "outcome v1/a02 never", "outcome v1/a03 never", "outcome v1/a04 never"}, manual...), want: "40×5"},
		"200 clusters in five manual partitions are updated by four, and by eight where two meet": {
			install: manual, update: []string{}, want: "4×9 8 4×8 8 4×8 8 4×8 8 4×9"},
		"50 clusters at 10 % are all installed at once": {
			install: []string{"partitions maxUnavailable=10%", "clusters 50 c", nobody}, want: "50"},
		"100 clusters at 10 % with 10 down: the other 50 wait": {
			install: append([]string{"partitions maxUnavailable=10%", "clusters 100 c"}, failing(10)...), want: "50"},
		"100 clusters at 10 % with 9 down: the other 50 go out": {
			install: append([]string{"partitions maxUnavailable=10%", "clusters 100 c"}, failing(9)...), want: "50×2"},
		"200 clusters with autoPartitionSize 10 %, maxUnavailablePartitions 1 and maxUnavailable 10 % pull on 40 at a time": {
			install: []string{"partitions maxUnavailable=10% maxUnavailablePartitions=1 autoPartitionSize=10%", "clusters 200 c"}, want: "40×5"},
		"the same without maxUnavailable holds nothing, as the page's section on defaults says": {
			install: []string{"partitions maxUnavailablePartitions=1 autoPartitionSize=10%", "clusters 200 c"}, want: "200"},
		"200 clusters in manual partitions with zeros: the first, then the other in batches of 50": {
			install: strict, want: "20 50×3 30"},
		"200 clusters in manual partitions with zeros: one that is not ready holds the second": {
			install: append([]string{"outcome v1/demo07 never"}, strict...), want: "20"},
		"200 clusters in manual partitions with zeros are updated one at a time": {
			install: strict, update: []string{}, want: "1×200"},
		"200 clusters with the defaults: nothing is held": {
			install: []string{"partitions", "clusters 200 c", nobody}, want: "200"},
		"200 clusters with the defaults are updated at once": {
			install: []string{"partitions", "clusters 200 c"}, update: []string{"outcome v2 never"}, want: "200"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := waves(t, tt.install, tt.update); got != tt.want {
				t.Errorf("waves %q, want %q", got, tt.want)
			}
		})
	}
}

// failing lets the first n clusters of c never become ready.
func failing(n int) []string {
	var lines []string
	for i := range n {
		lines = append(lines, fmt.Sprintf("outcome v1/c%03d never", i+1))
	}
	return lines
}
