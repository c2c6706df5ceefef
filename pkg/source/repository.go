package source

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/repo"
)

// index of a chart repository.
type index struct{ *repo.IndexFile }

// fromRepository fetches a chart that an index.yaml names.
func (c *Charts) fromRepository(ctx context.Context, a access, where location) (fetched, error) {
	g := a.grant(where.names()...)
	index, err := c.indexes.do(ctx, a.key+" "+where.url.String(), func() (*index, error) {
		return c.index(ctx, a, g, where.url)
	})
	if err != nil {
		return fetched{}, err
	}
	version, err := pick(index, where)
	if err != nil {
		return fetched{}, err
	}
	return c.download(ctx, a, g, where, version)
}

func (c *Charts) index(ctx context.Context, a access, g grant, repository *url.URL) (*index, error) {
	at := repository.JoinPath("index.yaml")
	data, err := c.get(ctx, a, g, at, c.limits.index)
	if err != nil {
		return nil, err
	}
	// Helm reads an index from a file only, and takes what is wrong with entries out of it.
	return byFile("index.yaml", data, func(file string) (*index, error) {
		it, err := repo.LoadIndexFile(file)
		if err != nil {
			return nil, fmt.Errorf("%s is no index of charts: %w", redact(at), err)
		}
		return &index{it}, nil
	})
}

// pick finds the version as Helm does: the very one, else the newest that fulfils the
// constraint; without one the newest that is no pre-release.
func pick(i *index, where location) (*repo.ChartVersion, error) {
	version, err := i.Get(where.name, where.version)
	switch {
	case errors.Is(err, repo.ErrNoChartName):
		return nil, errors.New("the repository's index.yaml has no chart of this name")
	case err != nil && where.version == "":
		return nil, fmt.Errorf("the repository's index.yaml has no version of it that is no pre-release; set helm.version: %w", err)
	case err != nil:
		return nil, fmt.Errorf("the repository's index.yaml has no such version: %w", err)
	case len(version.URLs) == 0:
		return nil, fmt.Errorf("the repository's index.yaml has no URL for version %s", version.Version)
	}
	return version, nil
}

// download gets the archive of a version. Credentials of the repository go to its own
// host only; another has to match by itself.
func (c *Charts) download(ctx context.Context, a access, g grant, where location, version *repo.ChartVersion) (fetched, error) {
	resolved, err := repo.ResolveReferenceURL(where.url.String(), version.URLs[0])
	if err != nil {
		return fetched{}, fmt.Errorf("the URL of version %s in the repository's index.yaml is none: %w", version.Version, bare(err))
	}
	u, err := parseURL(resolved)
	if err != nil {
		return fetched{}, fmt.Errorf("the URL of version %s in the repository's index.yaml: %w", version.Version, err)
	}
	if origin(u) != origin(where.url) {
		g = a.grant(redact(u))
	}
	if u.Scheme == "oci" {
		return c.fromRegistry(ctx, a, location{kind: inRegistry, url: u, written: redact(u), version: version.Version})
	}
	if u.Scheme != "https" && u.Scheme != "http" {
		return fetched{}, fmt.Errorf("the URL of version %s in the repository's index.yaml is %s: %w", version.Version, redact(u), ErrUnsupported)
	}
	data, err := c.get(ctx, a, g, u, c.limits.archive)
	if err != nil {
		return fetched{}, err
	}
	if err := checkDigest(data, version); err != nil {
		return fetched{}, fmt.Errorf("GET %s: %w", redact(u), err)
	}
	return c.archive(data, version.Metadata)
}

// checkDigest compares an archive with the SHA-256 that the index has of it, if any.
func checkDigest(data []byte, version *repo.ChartVersion) error {
	want := strings.ToLower(strings.TrimPrefix(version.Digest, "sha256:"))
	if len(want) != hex.EncodedLen(sha256.Size) {
		return nil
	}
	sum := sha256.Sum256(data)
	if got := hex.EncodeToString(sum[:]); got != want {
		return fmt.Errorf("the archive has the digest sha256:%s, the repository's index.yaml says sha256:%s", got, want)
	}
	return nil
}

// archive is the chart in an archive.
func (c *Charts) archive(data []byte, meta *chart.Metadata) (fetched, error) {
	files, err := unpack(data, c.limits)
	if err != nil {
		return fetched{}, err
	}
	return fetched{archive: data, name: meta.Name, version: meta.Version, files: files}, nil
}
