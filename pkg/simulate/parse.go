package simulate

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"open-cluster-management.io/fleet-addon/pkg/document"
)

// What counts where the script says nothing.
const (
	defaultAfter = 30 * time.Second
	defaultUntil = 24 * time.Hour
	// maxClusters keeps a slip of the keyboard from filling the memory.
	maxClusters = 100_000
)

// script is a Simulation that was checked; several are added together.
type script struct {
	bundle    string
	seed      *int64
	installed string
	revisions []commit
	clusters  []newCluster
	outcomes  []outcome
	offline   []window
	joins     []join
	leaves    []leave
	relabels  []relabel
	pauses    []span
	confirms  []time.Duration
	until     time.Duration
}

type (
	commit struct {
		at   time.Duration
		name string
	}
	newCluster struct {
		name           string
		labels, claims map[string]string
	}
	// span has no end when to is 0.
	span   struct{ from, to time.Duration }
	window struct {
		picker
		span
	}
	join struct {
		at       time.Duration
		clusters []newCluster
	}
	leave struct {
		picker
		at time.Duration
	}
	relabel struct {
		picker
		at     time.Duration
		labels map[string]string
		remove []string
	}
	outcome struct {
		picker
		revisions               map[string]bool
		result                  string
		after, spread, retryFor time.Duration
		message                 string
	}
)

// picker is a Which that was checked.
type picker struct {
	names    map[string]bool
	selector labels.Selector
	// share is from 0 to 1; salt makes one picker's chances other than the next one's.
	share float64
	salt  string
	// at and path say where it stands, for names that are no cluster's.
	at   string
	path *field.Path
}

// parser reads one Simulation and collects what is wrong with it.
type parser struct {
	at   string
	errs field.ErrorList
	out  script
}

func parse(d source[Simulation]) (script, error) {
	p := &parser{at: d.at}
	s, spec := &d.object.Spec, field.NewPath("spec")
	p.out.bundle, p.out.seed, p.out.installed = s.Bundle, s.Seed, s.Installed
	for i, r := range s.Revisions {
		at := spec.Child("revisions").Index(i)
		if r.Name == "" {
			p.errs = append(p.errs, field.Required(at.Child("name"), "the revision's name, such as v2"))
		}
		p.out.revisions = append(p.out.revisions, commit{p.time(r.At, at.Child("at")), r.Name})
	}
	p.out.clusters = p.clusters(s.Clusters, spec.Child("clusters"))
	for i := range s.Outcomes {
		p.outcome(&s.Outcomes[i], spec.Child("outcomes").Index(i))
	}
	p.events(s, spec)
	for i, at := range s.Confirms {
		p.out.confirms = append(p.out.confirms, p.required(at, spec.Child("confirms").Index(i)))
	}
	if s.MaxDuration != "" {
		p.out.until = p.positive(s.MaxDuration, spec.Child("maxDuration"))
	}
	return p.out, p.located()
}

func (p *parser) located() error {
	if len(p.errs) == 0 {
		return nil
	}
	return document.Located(p.at, p.errs.ToAggregate())
}

// events reads what happens to clusters and to the rollout.
func (p *parser) events(s *SimulationSpec, spec *field.Path) {
	for i, w := range s.Offline {
		at := spec.Child("offline").Index(i)
		p.out.offline = append(p.out.offline, window{p.which(w.Which, at), p.span(w.From, w.To, at)})
	}
	for i, j := range s.Joins {
		at := spec.Child("joins").Index(i)
		p.out.joins = append(p.out.joins, join{p.required(j.At, at.Child("at")), p.clusters(j.Clusters, at.Child("clusters"))})
	}
	for i, l := range s.Leaves {
		at := spec.Child("leaves").Index(i)
		p.out.leaves = append(p.out.leaves, leave{p.which(l.Which, at), p.required(l.At, at.Child("at"))})
	}
	for i, r := range s.Relabels {
		at := spec.Child("relabels").Index(i)
		if len(r.Labels)+len(r.Remove) == 0 {
			p.errs = append(p.errs, field.Required(at.Child("labels"), "labels to set, or keys in remove"))
		}
		p.out.relabels = append(p.out.relabels, relabel{p.which(r.Which, at), p.required(r.At, at.Child("at")), r.Labels, r.Remove})
	}
	for i, w := range s.Pauses {
		p.out.pauses = append(p.out.pauses, p.span(w.From, w.To, spec.Child("pauses").Index(i)))
	}
}

// clusters unrolls counted clusters.
func (p *parser) clusters(list []Clusters, path *field.Path) []newCluster {
	var out []newCluster
	for i, c := range list {
		at := path.Index(i)
		switch {
		case c.Name != "" && (c.NamePrefix != "" || c.Count != 0):
			p.errs = append(p.errs, field.Forbidden(at.Child("namePrefix"), "the cluster has a name: give a name, or namePrefix and count"))
		case c.Name != "":
			p.clusterName(c.Name, at.Child("name"))
			out = append(out, newCluster{c.Name, c.Labels, c.Claims})
		case c.NamePrefix == "":
			p.errs = append(p.errs, field.Required(at.Child("name"), "a name, or namePrefix and count"))
		case c.Count < 1 || c.Count > maxClusters:
			p.errs = append(p.errs, field.Invalid(at.Child("count"), c.Count, fmt.Sprintf("must be from 1 to %d", maxClusters)))
		default:
			p.clusterName(c.NamePrefix+"1", at.Child("namePrefix"))
			digits := len(strconv.Itoa(c.Count))
			for n := range c.Count {
				out = append(out, newCluster{fmt.Sprintf("%s%0*d", c.NamePrefix, digits, n+1), c.Labels, c.Claims})
			}
		}
	}
	return out
}

func (p *parser) clusterName(name string, path *field.Path) {
	for _, msg := range validation.IsDNS1123Label(name) {
		p.errs = append(p.errs, field.Invalid(path, name, msg))
	}
}

func (p *parser) outcome(o *Outcome, path *field.Path) {
	out := outcome{picker: p.which(o.Which, path), result: o.Result, after: defaultAfter, message: o.Message}
	if len(o.Revisions) > 0 {
		out.revisions = map[string]bool{}
		for _, name := range o.Revisions {
			out.revisions[name] = true
		}
	}
	switch o.Result {
	case "":
		out.result = ResultReady
	case ResultReady, ResultFails, ResultNever:
	default:
		p.errs = append(p.errs, field.NotSupported(path.Child("result"), o.Result, []string{ResultReady, ResultFails, ResultNever}))
	}
	if o.After != "" {
		out.after = p.time(o.After, path.Child("after"))
	}
	out.spread = p.time(o.Spread, path.Child("spread"))
	out.retryFor = p.time(o.RetryFor, path.Child("retryFor"))
	if o.RetryFor != "" && out.result != ResultReady {
		p.errs = append(p.errs, field.Forbidden(path.Child("retryFor"), "the result is "+out.result+": only what becomes Ready retries first"))
	}
	if out.result == ResultNever && o.After+o.Spread != "" {
		p.errs = append(p.errs, field.Forbidden(path.Child("after"), "the result is NeverReady: there is no time after which"))
	}
	p.out.outcomes = append(p.out.outcomes, out)
}

func (p *parser) which(w Which, path *field.Path) picker {
	out := picker{share: 1, salt: path.String(), at: p.at, path: path.Child("clusters")}
	if len(w.Clusters) > 0 {
		out.names = map[string]bool{}
		for _, name := range w.Clusters {
			out.names[name] = true
		}
	}
	if w.Selector != nil {
		selector, err := metav1.LabelSelectorAsSelector(w.Selector)
		if err != nil {
			p.errs = append(p.errs, field.Invalid(path.Child("selector"), field.OmitValueType{}, err.Error()))
		}
		out.selector = selector
	}
	if w.Share != "" {
		digits, ok := strings.CutSuffix(w.Share, "%")
		percent, err := strconv.ParseFloat(digits, 64)
		if !ok || err != nil || !(percent >= 0 && percent <= 100) {
			p.errs = append(p.errs, field.Invalid(path.Child("share"), w.Share, "must be a percentage from 0% to 100%"))
		}
		out.share = percent / 100
	}
	return out
}

func (p *parser) span(from, to string, path *field.Path) span {
	s := span{from: p.time(from, path.Child("from"))}
	if to != "" {
		s.to = p.time(to, path.Child("to"))
		if s.to <= s.from {
			p.errs = append(p.errs, field.Invalid(path.Child("to"), to, "must be after from"))
		}
	}
	return s
}

// time takes a Go duration that is not negative; nothing is 0.
func (p *parser) time(v string, path *field.Path) time.Duration {
	if v == "" {
		return 0
	}
	d, err := time.ParseDuration(v)
	if err != nil || d < 0 {
		p.errs = append(p.errs, field.Invalid(path, v, "must be a duration such as 90s, 30m or 1h30m"))
	}
	return d
}

func (p *parser) required(v string, path *field.Path) time.Duration {
	if v == "" {
		p.errs = append(p.errs, field.Required(path, "a time from the start, such as 5m"))
	}
	return p.time(v, path)
}

func (p *parser) positive(v string, path *field.Path) time.Duration {
	d := p.time(v, path)
	if d == 0 {
		p.errs = append(p.errs, field.Invalid(path, v, "must be more than 0s"))
	}
	return d
}
