package source

import (
	"fmt"
	"net/url"
	"strings"

	"open-cluster-management.io/fleet-addon/pkg/bundle"
)

// kind of place that a chart is in.
type kind string

const (
	inRepository kind = "a chart repository"
	inRegistry   kind = "a registry"
	inArchive    kind = "an archive"
	inGit        kind = "git"
)

// location is where a chart is.
type location struct {
	kind kind
	// url of the repository, registry, archive or git repository. It may have a password.
	url *url.URL
	// written is what the user wrote, less password and query; credentials depend on it.
	written string
	// name and version of the chart, in repositories and registries.
	name, version string
	// subdir of an archive or git repository; ref of git.
	subdir, ref string
	// checksum of an archive.
	checksum string
}

// String names it in errors.
func (l location) String() string {
	switch l.kind {
	case inRepository:
		return fmt.Sprintf("chart %q%s of repository %s", l.name, versioned(l.version), l.written)
	case inRegistry:
		return fmt.Sprintf("chart %s%s", strings.TrimSuffix(l.written+"/"+l.name, "/"), versioned(l.version))
	default:
		return "chart " + l.written
	}
}

func versioned(version string) string {
	if version == "" {
		return ""
	}
	return fmt.Sprintf(" in version %q", version)
}

// key tells locations apart; it may have a password.
func (l location) key() string {
	return fmt.Sprintf("%q %q %q %q %q %q %q", l.kind, l.url, l.name, l.version, l.subdir, l.ref, l.checksum)
}

// locate understands what helm.chart, helm.repo and helm.version name. Its errors name
// the field.
func locate(ref bundle.ChartRef) (location, error) {
	if ref.Repo != "" {
		return locateIn("helm.repo", ref.Repo, ref.Chart, ref.Version)
	}
	return location{}, fmt.Errorf("helm.chart %q: %w", redactText(ref.Chart), ErrUnsupported)
}

// locateIn is a chart of a repository or registry, which a field names.
func locateIn(field, repo, name, version string) (location, error) {
	u, err := parseURL(repo)
	if err != nil {
		return location{}, fmt.Errorf("%s: %w", field, err)
	}
	switch u.Scheme {
	case "https", "http":
		if name == "" {
			return location{}, fmt.Errorf("%s is %s: helm.chart has to name a chart of it", field, redact(u))
		}
		return location{kind: inRepository, url: u, written: redact(u), name: name, version: version}, nil
	case "oci":
		return location{kind: inRegistry, url: u, written: redact(u), name: name, version: version}, nil
	default:
		return location{}, fmt.Errorf("%s %s: %w: it has to begin with https://, http:// or oci://", field, redact(u), ErrUnsupported)
	}
}
