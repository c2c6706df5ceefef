package render

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	helmrelease "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"open-cluster-management.io/fleet-addon/pkg/content"
	"open-cluster-management.io/fleet-addon/pkg/manifest"
)

// MaxOutput is the largest text that the templates of a bundle may give, in bytes.
const MaxOutput = content.MaxSize

// Manifests renders everything without a cluster, as for a first installation, in the
// order in which Helm applies it: CRDs of the chart, hooks before, objects, hooks after.
// Look-ups in the cluster find nothing. kubeVersion is that of the cluster, such as
// "1.34"; "" takes that of the Helm library. The values are not changed. An error of
// the context is returned as soon as it ends; a template that runs on then does so in the
// background. Errors of templates are Helm's own and may quote values.
func Manifests(ctx context.Context, in Input, kubeVersion string) ([]*unstructured.Unstructured, error) {
	c, err := Chart(in)
	if err != nil {
		return nil, err
	}
	t, err := newTemplate(in, c, kubeVersion)
	if err != nil {
		return nil, err
	}
	type result struct {
		objects []*unstructured.Unstructured
		err     error
	}
	done := make(chan result, 1)
	go func() {
		objects, err := t.run(ctx)
		done <- result{objects, err}
	}()
	select {
	case r := <-done:
		return r.objects, r.err
	case <-ctx.Done():
		return nil, fmt.Errorf("render bundle %s: %w", in.Bundle, ctx.Err())
	}
}

// template is Helm's installation without a cluster.
type template struct {
	in      Input
	chart   *chart.Chart
	version *chartutil.KubeVersion
	// objects of the release, as the post-renderer made them.
	objects []*unstructured.Unstructured
}

func newTemplate(in Input, c *chart.Chart, kubeVersion string) (*template, error) {
	t := &template{in: in, chart: c}
	if kubeVersion == "" {
		return t, nil
	}
	var err error
	if t.version, err = chartutil.ParseKubeVersion(kubeVersion); err != nil {
		return nil, invalidf("Kubernetes version %q: %w", kubeVersion, err)
	}
	return t, nil
}

func (t *template) run(ctx context.Context) ([]*unstructured.Unstructured, error) {
	o := t.in.helm()
	install := action.NewInstall(&action.Configuration{Log: func(string, ...any) {}})
	install.ClientOnly = true
	install.DryRun = true
	install.ReleaseName = t.in.Release
	install.Namespace = t.in.Namespace
	install.KubeVersion = t.version
	install.SkipSchemaValidation = o.SkipSchemaValidation
	install.EnableDNS = !o.DisableDNS
	install.PostRenderer = t
	release, err := install.RunWithContext(ctx, t.chart, cloneValues(t.in.Values))
	if err != nil {
		return nil, fmt.Errorf("render bundle %s: %w", t.in.Bundle, err)
	}
	before, err := hooks(release.Hooks, helmrelease.HookPreInstall, helmrelease.HookPreUpgrade)
	if err != nil {
		return nil, err
	}
	after, err := hooks(release.Hooks, helmrelease.HookPostInstall, helmrelease.HookPostUpgrade)
	if err != nil {
		return nil, err
	}
	crds, err := crdsOf(t.chart)
	if err != nil {
		return nil, err
	}
	return slices.Concat(crds, before, t.objects, after), nil
}

// Run is Helm's post-renderer; hooks pass it by.
func (t *template) Run(rendered *bytes.Buffer) (*bytes.Buffer, error) {
	// Of a chart that has dependencies, Helm knows only now which of them are enabled.
	crds, err := crdsOf(t.chart)
	if err != nil {
		return nil, err
	}
	objects, err := Objects(t.in, rendered.Bytes())
	if err != nil {
		return nil, err
	}
	if err := Place(t.in, objects, BuiltIn(append(crds, objects...)...)); err != nil {
		return nil, err
	}
	t.objects = objects
	out, err := manifest.Render(t.objects)
	return bytes.NewBuffer(out), err
}

// crdsOf are those of the chart's crds/ directories.
func crdsOf(c *chart.Chart) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	for _, crd := range c.CRDObjects() {
		objects, err := manifest.Documents(crd.File.Data)
		if err != nil {
			return nil, invalidf("%s: %w", crd.Filename, err)
		}
		out = append(out, objects...)
	}
	return out, nil
}

// hooks are the objects of those that run at one of the events, each once, by weight.
func hooks(all []*helmrelease.Hook, events ...helmrelease.HookEvent) ([]*unstructured.Unstructured, error) {
	var run []*helmrelease.Hook
	for _, h := range all {
		if slices.ContainsFunc(h.Events, func(e helmrelease.HookEvent) bool { return slices.Contains(events, e) }) {
			run = append(run, h)
		}
	}
	slices.SortStableFunc(run, func(a, b *helmrelease.Hook) int {
		return cmp.Or(cmp.Compare(a.Weight, b.Weight), cmp.Compare(a.Name, b.Name))
	})
	var out []*unstructured.Unstructured
	for _, h := range run {
		objects, err := manifest.Documents([]byte(h.Manifest))
		if err != nil {
			return nil, invalidf("%s: hook: %w", h.Path, err)
		}
		out = append(out, objects...)
	}
	return out, nil
}

// cloneValues copies what Helm would change: it merges the defaults of charts in.
func cloneValues(v map[string]any) map[string]any {
	out := make(map[string]any, len(v))
	for key, value := range v {
		if m, ok := value.(map[string]any); ok {
			value = cloneValues(m)
		}
		out[key] = value
	}
	return out
}
