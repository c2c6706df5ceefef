package chart

import (
	"context"
	"errors"
	"fmt"
	"time"

	"helm.sh/helm/v3/pkg/action"
	helmchart "helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/cli"
	"helm.sh/helm/v3/pkg/cli/values"
	"helm.sh/helm/v3/pkg/getter"
	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"
	"k8s.io/cli-runtime/pkg/genericclioptions"
)

// Release says which release of which cluster.
type Release struct {
	Kubeconfig string
	Namespace  string
	Name       string
	// Wait waits until all is ready, or gone, for at most Timeout.
	Wait    bool
	Timeout time.Duration
	Logf    func(format string, args ...any)
}

// Values are value files, and KEY=VALUE settings that win over them.
type Values struct {
	Files []string
	Set   []string
}

// Install installs the chart in dir; the namespace is created.
func (r Release) Install(ctx context.Context, dir string, v Values) (*release.Release, error) {
	config, err := r.configuration()
	if err != nil {
		return nil, err
	}
	chart, settings, err := load(dir, v)
	if err != nil {
		return nil, err
	}
	install := action.NewInstall(config)
	install.ReleaseName, install.Namespace, install.CreateNamespace = r.Name, r.Namespace, true
	install.Wait, install.WaitForJobs, install.Timeout = r.Wait, r.Wait, r.Timeout
	installed, err := install.RunWithContext(ctx, chart, settings)
	if err != nil {
		return nil, fmt.Errorf("install release %s/%s: %w", r.Namespace, r.Name, err)
	}
	return installed, nil
}

// Upgrade upgrades the release to the chart in dir and these values; earlier ones are not reused.
func (r Release) Upgrade(ctx context.Context, dir string, v Values) (*release.Release, error) {
	config, err := r.configuration()
	if err != nil {
		return nil, err
	}
	chart, settings, err := load(dir, v)
	if err != nil {
		return nil, err
	}
	upgrade := action.NewUpgrade(config)
	upgrade.Namespace, upgrade.ResetValues = r.Namespace, true
	upgrade.Wait, upgrade.WaitForJobs, upgrade.Timeout = r.Wait, r.Wait, r.Timeout
	upgraded, err := upgrade.RunWithContext(ctx, r.Name, chart, settings)
	if err != nil {
		return nil, fmt.Errorf("upgrade release %s/%s: %w", r.Namespace, r.Name, err)
	}
	return upgraded, nil
}

// ErrNotInstalled says that there is no such release.
var ErrNotInstalled = errors.New("not installed")

// Uninstall removes the release. The answer's Info tells what was kept and why.
func (r Release) Uninstall(_ context.Context) (*release.UninstallReleaseResponse, error) {
	config, err := r.configuration()
	if err != nil {
		return nil, err
	}
	uninstall := action.NewUninstall(config)
	uninstall.Wait, uninstall.Timeout = r.Wait, r.Timeout
	response, err := uninstall.Run(r.Name)
	if errors.Is(err, driver.ErrReleaseNotFound) {
		return nil, fmt.Errorf("release %s/%s: %w", r.Namespace, r.Name, ErrNotInstalled)
	}
	if err != nil {
		return nil, fmt.Errorf("uninstall release %s/%s: %w", r.Namespace, r.Name, err)
	}
	return response, nil
}

func (r Release) configuration() (*action.Configuration, error) {
	flags := genericclioptions.NewConfigFlags(false)
	flags.KubeConfig, flags.Namespace = &r.Kubeconfig, &r.Namespace
	config := new(action.Configuration)
	err := config.Init(flags, r.Namespace, "secret", func(format string, args ...any) { r.Logf(format, args...) })
	if err != nil {
		return nil, fmt.Errorf("set up helm: %w", err)
	}
	return config, nil
}

func load(dir string, v Values) (*helmchart.Chart, map[string]any, error) {
	chart, err := loader.Load(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("load chart %s: %w", dir, err)
	}
	options := values.Options{ValueFiles: v.Files, Values: v.Set}
	settings, err := options.MergeValues(getter.All(cli.New()))
	if err != nil {
		return nil, nil, fmt.Errorf("values: %w", err)
	}
	return chart, settings, nil
}
