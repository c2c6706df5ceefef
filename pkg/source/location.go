package source

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
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
	// written is what the user wrote, less password and query.
	written string
	// name and version of the chart, in repositories and registries.
	name, version string
	// subdir of an archive or git repository; ref of git.
	subdir, ref string
	// checksum of an archive.
	checksum string
}

// names are the ways to write it; credentials go there if the regex matches one.
func (l location) names() []string { return []string{l.written, redact(l.url)} }

// String names it in errors.
func (l location) String() string {
	switch l.kind {
	case inRepository:
		return fmt.Sprintf("chart %q%s of repository %s", l.name, versioned(l.version), l.written)
	case inRegistry:
		return fmt.Sprintf("chart %s%s", strings.TrimSuffix(l.written+"/"+l.name, "/"), versioned(l.version))
	case inGit:
		return fmt.Sprintf("chart %s (ref %q)", l.written, l.ref)
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
	if ref.Chart == "" {
		return location{}, errors.New("helm.chart and helm.repo are empty: no chart is named")
	}
	it, err := locateChart(ref.Chart)
	if err != nil {
		return location{}, fmt.Errorf("helm.chart %q: %w", redactText(ref.Chart), err)
	}
	it.written, it.version = redactText(ref.Chart), ref.Version
	return it, nil
}

// hosts that can be written without https:// and mean git.
var gitHosts = []string{"github.com/", "gitlab.com/", "bitbucket.org/"}

// locateChart understands what go-getter does of a helm.chart, as far as it is supported.
func locateChart(written string) (location, error) {
	forced, rest, ok := strings.Cut(written, "::")
	if !ok {
		forced, rest = "", written
	}
	address, subdir := splitSubdir(rest)
	if subdir != "" {
		clean, err := cleanName(subdir)
		if err != nil {
			return location{}, fmt.Errorf("the directory behind //: %w", err)
		}
		subdir = clean
	}
	if full, more, ok := shorthand(address); ok {
		forced, address, subdir = "git", full, path.Join(more, subdir)
	}
	u, err := parseURL(address)
	if err != nil {
		return location{}, err
	}
	return location{url: u, subdir: subdir}.of(forced)
}

// of is the place by its URL and by what stands before "::", if anything does.
func (l location) of(forced string) (location, error) {
	web := l.url.Scheme == "https" || l.url.Scheme == "http"
	switch {
	case forced == "" && l.url.Scheme == "oci" && l.subdir == "":
		l.kind = inRegistry
		return l, nil
	case forced == "" && l.url.Scheme == "":
		return location{}, errors.New("it is neither a directory of the bundle nor a URL; charts of a repository need helm.repo")
	case web && slices.Contains([]string{"", "http", "https"}, forced):
		return l.ofArchive()
	case web && forced == "git", l.url.Scheme == "ssh" && slices.Contains([]string{"", "git", "ssh"}, forced):
		return l.ofGit()
	default:
		return location{}, fmt.Errorf("%w: use https:// (an archive), oci://, git::https:// or git::ssh://", ErrUnsupported)
	}
}

// splitSubdir cuts the directory behind // off, which may stand before a query.
func splitSubdir(s string) (address, subdir string) {
	s, query, asks := strings.Cut(s, "?")
	start := 0
	if i := strings.Index(s, "://"); i >= 0 {
		start = i + len("://")
	}
	if i := strings.Index(s[start:], "//"); i >= 0 {
		s, subdir = s[:start+i], strings.Trim(s[start+i:], "/")
	}
	if asks {
		s += "?" + query
	}
	return s, subdir
}

// shorthand makes a URL of github.com/user/repository/directory and of user@host:path.
func shorthand(address string) (full, subdir string, ok bool) {
	if strings.Contains(address, "://") {
		return "", "", false
	}
	for _, host := range gitHosts {
		rest, ok := strings.CutPrefix(address, host)
		if !ok {
			continue
		}
		rest, query, asks := strings.Cut(rest, "?")
		parts := strings.SplitN(rest, "/", 3)
		if len(parts) < 2 {
			return "", "", false
		}
		full = "https://" + host + parts[0] + "/" + strings.TrimSuffix(parts[1], ".git") + ".git"
		if asks {
			full += "?" + query
		}
		return full, strings.Join(parts[2:], ""), true
	}
	who, where, ok := strings.Cut(address, ":")
	user, host, at := strings.Cut(who, "@")
	if !ok || !at || user == "" || host == "" || where == "" || strings.Contains(who, "/") {
		return "", "", false
	}
	return "ssh://" + who + "/" + strings.TrimPrefix(where, "/"), "", true
}

func (l location) ofGit() (location, error) {
	l.kind = inGit
	asked := l.url.Query()
	for name := range asked {
		switch name {
		case "ref":
			l.ref = asked.Get("ref")
		case "depth":
			// Nothing but the one commit is ever fetched, if the server can.
		case "sshkey":
			return location{}, fmt.Errorf("%w: a key in a URL is in everybody's hands: give it as a credential (--ssh-privatekey-file, sshPrivateKey)", ErrUnsupported)
		default:
			return location{}, fmt.Errorf("%w: ?%s= of a git URL; there are ref and depth", ErrUnsupported, name)
		}
	}
	clean := *l.url
	clean.RawQuery = ""
	l.url = &clean
	return l, nil
}

func (l location) ofArchive() (location, error) {
	l.kind = inArchive
	asked := l.url.Query()
	l.checksum = asked.Get("checksum")
	if l.checksum != "" && !strings.HasPrefix(l.checksum, "sha256:") && !strings.HasPrefix(l.checksum, "sha512:") {
		return location{}, fmt.Errorf("%w: ?checksum= has to be sha256: or sha512: and a sum in hex", ErrUnsupported)
	}
	// What else is asked is the server's, in the order in which it stands.
	var kept []string
	for part := range strings.SplitSeq(l.url.RawQuery, "&") {
		name, _, _ := strings.Cut(part, "=")
		if part != "" && name != "checksum" && name != "archive" {
			kept = append(kept, part)
		}
	}
	clean := *l.url
	clean.RawQuery = strings.Join(kept, "&")
	l.url = &clean
	return l, nil
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
