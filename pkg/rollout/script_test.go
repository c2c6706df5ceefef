package rollout

import (
	"bufio"
	"fmt"
	"math/rand"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
)

type event struct {
	at   time.Duration
	line string
}

// runScript plays a script and returns its lines.
func runScript(t *testing.T, script string, shuffle *rand.Rand) string {
	t.Helper()
	s := newSim()
	s.shuffle = shuffle
	var events []event
	end := time.Duration(0)
	lines := bufio.NewScanner(strings.NewReader(script))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		rest, timed := strings.CutPrefix(line, "at ")
		if !timed {
			s.do(t, line)
			continue
		}
		at, command, _ := strings.Cut(rest, " ")
		d, err := time.ParseDuration(at)
		if err != nil || d < end {
			t.Fatalf("%q: bad or unordered time", line)
		}
		end = d
		events = append(events, event{d, command})
	}
	var out strings.Builder
	last := ""
	say := func(_ Input, r Result) {
		text := describe(r)
		if text != last {
			fmt.Fprintf(&out, "%s  %s\n", s.elapsed(), text)
			last = text
		}
	}
	for ; s.now.Sub(epoch) <= end; s.now = s.now.Add(time.Second) {
		for len(events) > 0 && events[0].at <= s.now.Sub(epoch) {
			s.do(t, events[0].line)
			events, s.dirty = events[1:], true
		}
		if err := s.tick(say); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

// do carries out one line of a script.
func (s *sim) do(t *testing.T, line string) {
	t.Helper()
	words := strings.Fields(line)
	args := words[1:]
	switch words[0] {
	case "lane":
		s.lane(t, args)
	case "groups":
		s.declared[s.lanes[len(s.lanes)-1].Name] = args
	case "cluster":
		groups := map[string]string{}
		for _, g := range args[1:] {
			lane, name, two := strings.Cut(g, "/")
			if !two {
				lane, name = s.lanes[0].Name, g
			}
			groups[lane] = name
		}
		s.addCluster(args[0], groups)
	case "newcluster":
		// One that was created just now.
		s.do(t, "cluster "+strings.Join(args, " "))
		s.clusters[args[0]].Created = s.now
	case "clusters":
		n, err := strconv.Atoi(args[0])
		if err != nil {
			t.Fatal(err)
		}
		group := args[len(args)-1]
		for i := range n {
			c := s.addCluster(fmt.Sprintf("%s%0*d", args[1], max(2, len(args[0])), i+1), map[string]string{s.lanes[0].Name: group})
			c.Partition = s.partitionOf(args[1])
		}
	case "partitions":
		s.partitions(t, args)
	case "limits":
		s.limits = &readPartitions(t, args).Limits
	case "outcome":
		o := outcome{kind: args[1], ready: 3 * time.Second}
		if d, err := time.ParseDuration(args[1]); err == nil {
			o = outcome{kind: "ok", ready: d}
		}
		s.outcomes[strings.ReplaceAll(args[0], "/", " ")] = o
	case "implicit":
		s.implicit = true
	case "version":
		s.revision = args[0]
	case "end":
	default:
		s.doHub(t, words[0], args)
	}
}

func (s *sim) doHub(t *testing.T, word string, args []string) {
	t.Helper()
	switch word {
	case "pause":
		s.pauses = []string{"the Rollout"}
	case "resume":
		s.pauses = nil
	case "restart":
		s.restart()
	case "hubdown":
		s.down = true
	case "hubup":
		s.down = false
		s.restart()
	case "crashafter":
		n, err := strconv.Atoi(args[0])
		if err != nil {
			t.Fatal(err)
		}
		s.crashAfter = n
	case "inconsistent":
		s.inconsistent = true
	case "consistent":
		s.inconsistent = false
	case "placement":
		s.gone = args[0] == "gone"
	case "move":
		s.clusters[args[0]].groups[s.lanes[0].Name] = args[1]
	case "shape":
		s.shape++
	case "policy":
		s.source = map[string]string{"deleted": defaultSource}[args[0]]
		if s.source == "" {
			s.source = "RolloutPolicy/" + args[0]
		}
	case "confirm":
		s.confirm(spread(t, args)...)
	case "binding":
		if s.blocks = nil; args[0] == "gone" {
			s.blocks = []Hold{{BindingMissing, "no ManagedClusterSet is bound"}}
		}
	default:
		for _, name := range spread(t, args) {
			c := s.clusters[name]
			if c == nil {
				t.Fatalf("%s %s: no such cluster", word, name)
			}
			s.doCluster(t, word, c)
		}
	}
}

// spread writes out ranges such as c003..c007.
func spread(t *testing.T, args []string) []string {
	t.Helper()
	var out []string
	for _, arg := range args {
		first, last, isRange := strings.Cut(arg, "..")
		if !isRange {
			out = append(out, arg)
			continue
		}
		prefix := strings.TrimRight(first, "0123456789")
		from, err := strconv.Atoi(strings.TrimPrefix(first, prefix))
		if err != nil {
			t.Fatal(err)
		}
		to, err := strconv.Atoi(strings.TrimPrefix(last, prefix))
		if err != nil {
			t.Fatal(err)
		}
		for i := from; i <= to; i++ {
			out = append(out, fmt.Sprintf("%s%0*d", prefix, len(first)-len(prefix), i))
		}
	}
	return out
}

func (s *sim) doCluster(t *testing.T, word string, c *simCluster) {
	t.Helper()
	switch word {
	case "cut":
		c.cut = true
	case "mend":
		c.cut = false
	case "offline":
		c.cut, c.Available = true, false
		c.AvailableSince += "'"
	case "online":
		c.cut, c.Available = false, true
		c.AvailableSince += "'"
	case "taint":
		c.Unreachable = true
	case "untaint":
		c.Unreachable = false
	case "hide":
		s.hidden[c.Name] = true
	case "show":
		delete(s.hidden, c.Name)
	case "unlabel":
		c.labels = false
		s.hidden[c.Name] = true
	case "relabel":
		c.labels = true
		delete(s.hidden, c.Name)
	case "delete":
		c.Exists = false
	case "dropaddon":
		c.AddOn = AddOnMissing
	case "addaddon":
		c.AddOn = AddOnPresent
	case "slowclock":
		c.skew = -10 * time.Minute
	case "fails", "works", "flaps", "waits":
		c.kind = map[string]string{"fails": "error", "works": "ok", "flaps": "never", "waits": "waits"}[word]
	default:
		t.Fatalf("unknown word %q", word)
	}
}

// lane reads "lane NAME TYPE field=value...".
func (s *sim) lane(t *testing.T, args []string) {
	t.Helper()
	spec := LaneSpec{Name: args[0], Placement: "app/" + args[0], Strategy: Strategy{Type: StrategyType(args[1])}}
	if args[0] == DefaultLane {
		spec.Placement = ""
	}
	for _, arg := range args[2:] {
		name, value, _ := strings.Cut(arg, "=")
		var err error
		switch name {
		case "minSuccessTime":
			spec.Strategy.MinSuccessTime, err = time.ParseDuration(value)
		case "progressDeadline":
			spec.Strategy.ProgressDeadline, err = time.ParseDuration(value)
		case "maxFailures":
			spec.Strategy.MaxFailures = intstr.Parse(value)
		case "mandatory":
			for _, g := range strings.Split(value, ",") {
				spec.Strategy.Mandatory = append(spec.Strategy.Mandatory, MandatoryGroup{Name: g})
			}
		case "maxConcurrency":
			limit := intstr.Parse(value)
			spec.Strategy.QueueConcurrency = &limit
		case "groupConcurrency":
			limit := intstr.Parse(value)
			spec.Strategy.GroupConcurrency = &limit
		case "group":
			err = spec.Strategy.setGroup(value)
		default:
			t.Fatalf("unknown setting %q", name)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, l := range s.lanes {
		if l.Name == spec.Name {
			s.lanes[i] = spec
			return
		}
	}
	s.lanes = append(s.lanes, spec)
}

// setGroup reads "NAME:field=value;field=value".
func (s *Strategy) setGroup(text string) error {
	group, fields, _ := strings.Cut(text, ":")
	var own GroupTerms
	for _, field := range strings.Split(fields, ";") {
		name, value, _ := strings.Cut(field, "=")
		limit := intstr.Parse(value)
		d, err := time.ParseDuration(value)
		switch name {
		case "maxFailures":
			own.MaxFailures, err = &limit, nil
		case "maxConcurrency":
			own.MaxConcurrency, err = &limit, nil
		case "minSuccessTime":
			own.MinSuccessTime = &d
		case "progressDeadline":
			own.ProgressDeadline = &d
		default:
			return fmt.Errorf("unknown setting %q", name)
		}
		if err != nil {
			return err
		}
	}
	if s.Groups == nil {
		s.Groups = map[string]GroupTerms{}
	}
	s.Groups[group] = own
	return nil
}
