package simulate

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/document"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
	"open-cluster-management.io/fleet-addon/pkg/target"
)

// Scenario is everything that a simulation starts with, checked.
type Scenario struct {
	script
	object     *fleet.Bundle
	groups     []fleet.ClusterGroup
	source     rollout.Source
	placements map[string]*placement
	notes      []string
}

// Scenario checks the files and puts them together. It returns every error that it
// finds, each with file, document and field.
func (f *Files) Scenario() (*Scenario, error) {
	s := &Scenario{placements: map[string]*placement{}}
	f.defaultNamespaces()
	if err := errors.Join(s.readScripts(f.scripts), s.readClusters(f.clusters)); err != nil {
		return nil, err
	}
	if len(s.clusters)+len(s.joins) == 0 {
		return nil, errors.New("no clusters: list them in spec.clusters of a Simulation, or give ManagedClusters")
	}
	s.defaults()
	if err := errors.Join(s.checkNames(), s.chooseBundle(f.bundles)); err != nil {
		return nil, err
	}
	if err := errors.Join(s.readPlacements(f), s.resolve(f)); err != nil {
		return nil, err
	}
	s.note(f)
	return s, nil
}

// defaultNamespaces fills in what a kubectl without a namespace would.
func (f *Files) defaultNamespaces() {
	for _, d := range f.bundles {
		fill(&d.object.Namespace)
	}
	for _, d := range f.policies {
		fill(&d.object.Namespace)
	}
	for _, d := range f.placements {
		fill(&d.object.Namespace)
	}
	for _, d := range f.groups {
		fill(&d.object.Namespace)
	}
}

func fill(namespace *string) {
	if *namespace == "" {
		*namespace = "default"
	}
}

// readScripts adds all Simulations together; what can stand once only may stand in one.
func (s *Scenario) readScripts(list []source[Simulation]) error {
	var errs []error
	for _, d := range list {
		p, err := parse(d)
		errs = append(errs, err)
		once := func(name string, before, now bool) {
			if before && now {
				errs = append(errs, fmt.Errorf("%s: spec.%s: stands in another Simulation too", d.at, name))
			}
		}
		once("bundle", s.bundle != "", p.bundle != "")
		once("seed", s.seed != nil, p.seed != nil)
		once("installed", s.installed != "", p.installed != "")
		once("maxDuration", s.until != 0, p.until != 0)
		s.add(p)
	}
	return errors.Join(errs...)
}

func (s *Scenario) add(p script) {
	if p.bundle != "" {
		s.bundle = p.bundle
	}
	if p.seed != nil {
		s.seed = p.seed
	}
	if p.installed != "" {
		s.installed = p.installed
	}
	s.until = max(s.until, p.until)
	s.revisions = append(s.revisions, p.revisions...)
	s.clusters = append(s.clusters, p.clusters...)
	s.outcomes = append(s.outcomes, p.outcomes...)
	s.offline = append(s.offline, p.offline...)
	s.joins = append(s.joins, p.joins...)
	s.leaves = append(s.leaves, p.leaves...)
	s.relabels = append(s.relabels, p.relabels...)
	s.pauses = append(s.pauses, p.pauses...)
	s.confirms = append(s.confirms, p.confirms...)
}

func (s *Scenario) defaults() {
	if s.until == 0 {
		s.until = defaultUntil
	}
	switch {
	case len(s.revisions) > 0:
	case s.installed != "":
		s.revisions = []commit{{name: "v2"}}
	default:
		s.revisions = []commit{{name: "v1"}}
	}
}

// readClusters takes ManagedClusters with their labels, claims and availability.
func (s *Scenario) readClusters(list []source[clusterv1.ManagedCluster]) error {
	var errs []error
	for _, d := range list {
		c := newCluster{name: d.object.Name, labels: d.object.Labels, claims: map[string]string{}}
		for _, claim := range d.object.Status.ClusterClaims {
			c.claims[claim.Name] = claim.Value
		}
		away := false
		for i, t := range d.object.Spec.Taints {
			if t.Key != clusterv1.ManagedClusterTaintUnreachable && t.Key != clusterv1.ManagedClusterTaintUnavailable {
				errs = append(errs, fmt.Errorf("%s: spec.taints[%d].key: taint %s cannot be simulated", d.at, i, t.Key))
			}
			away = true
		}
		if away {
			s.notes = append(s.notes, fmt.Sprintf("%s: has the taint of a cluster that cannot be reached: it is offline for ever", d.at))
			s.offline = append(s.offline, window{picker: picker{names: map[string]bool{d.object.Name: true}, share: 1, at: d.at, path: field.NewPath("metadata", "name")}})
		}
		s.clusters = append(s.clusters, c)
	}
	return errors.Join(errs...)
}

// checkNames finds clusters that stand twice, and names that are no cluster's.
func (s *Scenario) checkNames() error {
	known := map[string]bool{}
	var errs []error
	all := slices.Clone(s.clusters)
	for _, j := range s.joins {
		all = append(all, j.clusters...)
	}
	for _, c := range all {
		if known[c.name] {
			errs = append(errs, fmt.Errorf("cluster %s stands twice in the files", c.name))
		}
		known[c.name] = true
	}
	for _, p := range s.pickers() {
		for name := range p.names {
			if !known[name] {
				errs = append(errs, fmt.Errorf("%s: %s: there is no cluster %s in the files", p.at, p.path, name))
			}
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

func (s *Scenario) pickers() []*picker {
	var out []*picker
	for i := range s.outcomes {
		out = append(out, &s.outcomes[i].picker)
	}
	for i := range s.offline {
		out = append(out, &s.offline[i].picker)
	}
	for i := range s.leaves {
		out = append(out, &s.leaves[i].picker)
	}
	for i := range s.relabels {
		out = append(out, &s.relabels[i].picker)
	}
	return out
}

// chooseBundle finds the bundle that is rolled out.
func (s *Scenario) chooseBundle(list []source[fleet.Bundle]) error {
	var found []source[fleet.Bundle]
	for _, d := range list {
		if s.bundle == "" || s.bundle == d.object.Name || s.bundle == d.object.Namespace+"/"+d.object.Name {
			found = append(found, d)
		}
	}
	switch {
	case len(found) == 0 && s.bundle != "":
		return fmt.Errorf("no Bundle %s in the files, which spec.bundle of the Simulation names", s.bundle)
	case len(found) == 0:
		return errors.New("no Bundle in the files")
	case len(found) > 1:
		return fmt.Errorf("%s and %s: name the Bundle to roll out in spec.bundle of a Simulation", found[0].at, found[1].at)
	}
	s.object = found[0].object
	var errs field.ErrorList
	for _, err := range target.Validate(s.object) {
		// What is deployed plays no part here, so a bundle may come without files.
		if err.Type != field.ErrorTypeRequired || err.Field != "spec.resources" {
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 {
		return document.Located(found[0].at, errs.ToAggregate())
	}
	return nil
}

func (s *Scenario) readPlacements(f *Files) error {
	var errs []error
	for _, d := range f.placements {
		p, notes, err := newPlacement(d)
		name := d.object.Namespace + "/" + d.object.Name
		if s.placements[name] != nil {
			err = errors.Join(err, fmt.Errorf("%s: stands twice in the files", d.at))
		}
		s.placements[name], errs = p, append(errs, err)
		s.notes = append(s.notes, notes...)
	}
	return errors.Join(errs...)
}

// resolve finds the source of the lanes as the hub does.
func (s *Scenario) resolve(f *Files) error {
	in := rollout.SourceInput{Bundle: s.object}
	var errs []error
	for _, d := range f.policies {
		if wrong := rollout.ValidatePolicy(d.object); len(wrong) > 0 {
			errs = append(errs, document.Located(d.at, wrong.ToAggregate()))
		}
		if d.object.Namespace == s.object.Namespace {
			in.Policies = append(in.Policies, d.object)
		}
	}
	for _, d := range f.groups {
		if d.object.Namespace == s.object.Namespace {
			s.groups = append(s.groups, *d.object)
		}
	}
	for _, d := range f.namespaces {
		if d.object.Name == s.object.Namespace {
			in.NamespaceLabels = d.object.Labels
		}
	}
	in.AddOn, in.OwnTargets = defaultAddOn(), target.HasOwnTargets(s.object, target.Groups(s.groups))
	for _, d := range f.addOns {
		if d.object.Name == v1alpha1.AddOnName {
			in.AddOn = d.object
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	s.source = rollout.ResolveSource(in)
	for _, l := range s.source.Lanes {
		if l.Placement != "" && s.placements[l.Placement] == nil {
			errs = append(errs, fmt.Errorf("%s: Placement %s is in none of the files", s.source.Name, l.Placement))
		}
	}
	return errors.Join(errs...)
}

// defaultAddOn is the add-on of a hub that orders nothing with it.
func defaultAddOn() *addonv1beta1.ClusterManagementAddOn {
	return &addonv1beta1.ClusterManagementAddOn{}
}

// note says what of the files has no effect.
func (s *Scenario) note(f *Files) {
	for _, kind := range f.unused {
		s.notes = append(s.notes, kind+"s are not simulated: the namespace may use every cluster in the files")
	}
	lanes := map[string]bool{}
	for _, l := range s.source.Lanes {
		lanes[l.Placement] = true
	}
	unused := func(at string, used bool) {
		if !used {
			s.notes = append(s.notes, at+": has no part in this rollout")
		}
	}
	for _, d := range f.bundles {
		unused(d.at, d.object == s.object)
	}
	for _, d := range f.policies {
		unused(d.at, s.source.Name == "RolloutPolicy/"+d.object.Name && d.object.Namespace == s.object.Namespace)
	}
	for _, d := range f.placements {
		unused(d.at, lanes[d.object.Namespace+"/"+d.object.Name])
	}
	for _, d := range f.groups {
		unused(d.at, d.object.Namespace == s.object.Namespace)
	}
	for _, d := range f.addOns {
		unused(d.at, d.object.Name == v1alpha1.AddOnName)
	}
	slices.Sort(s.notes)
}
