package bundle

import (
	"context"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"

	"open-cluster-management.io/fleet-addon/pkg/content"
)

// Request says what to read, and what the bundles get beside what their directories say.
type Request struct {
	// Root is the directory below which everything is read: the working directory of a
	// command line, or a checkout. Nothing outside of it is ever opened.
	Root string
	// Name begins the names of the bundles; of a GitRepo it is the name of that.
	Name string
	// Namespace of the bundles.
	Namespace string
	// Paths below Root, each a directory or a glob of directories; none means Root.
	Paths []string
	// Driven takes each path as one bundle and none below it. A path can then name a file
	// of options behind DrivenSeparator, ":" by default.
	Driven          bool
	DrivenSeparator string

	// Labels of the bundles; those of fleet.yaml win. Commit becomes a label too.
	Labels map[string]string
	Commit string
	// Targets and Restrictions are those of the GitRepo, or of a targets file.
	Targets      []fleet.BundleTarget
	Restrictions []fleet.BundleTargetRestriction

	// These replace what fleet.yaml says where they are set; ForceSyncGeneration always.
	ServiceAccount, TargetNamespace        string
	Paused, KeepResources, DeleteNamespace bool
	CorrectDrift                           *fleet.CorrectDrift
	ForceSyncGeneration                    int64

	// Compress writes every file as base64 of gzip.
	Compress bool
	// Lenient takes unknown fields of fleet.yaml as warnings, which otherwise are errors.
	Lenient bool
	// Charts fetches charts from elsewhere; nil makes them errors.
	Charts Charts
}

// Made is a bundle that a directory became.
type Made struct {
	// Bundle with its Helm values in it.
	Bundle *fleet.Bundle
	// Dir is the directory below the root, "." for the root.
	Dir string
	// Warnings are whole sentences that name the file.
	Warnings []string
}

// Charts gets what of charts is elsewhere: in repositories, registries and archives.
type Charts interface {
	// Chart returns the files of a chart without hidden ones, named as Fleet names them
	// below `.chart/SUM`: those of an archive keep the directory that the archive has
	// (NAME/Chart.yaml), those of git begin in the directory that the URL names.
	Chart(ctx context.Context, ref ChartRef) ([]content.File, error)
	// Dependencies returns the files that a chart, given by its own files, lacks of its
	// dependencies: charts/NAME-VERSION.tgz, as `helm dependency build` would write them;
	// none if it lacks none. dir is the bundle's, as in ChartRef.
	Dependencies(ctx context.Context, dir string, chart []content.File) ([]content.File, error)
	// Unpack returns the files of an archive, as Chart does for one that is elsewhere.
	Unpack(archive []byte) ([]content.File, error)
}

// ChartRef is a chart as helm.chart, helm.repo and helm.version name it.
type ChartRef struct {
	// Dir is the directory of the bundle below the root; credentials can depend on it.
	Dir                  string
	Chart, Repo, Version string
}
