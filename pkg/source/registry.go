package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"helm.sh/helm/v3/pkg/chart"
	helmregistry "helm.sh/helm/v3/pkg/registry"
	"oras.land/oras-go/v2"
	orascontent "oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"
)

// fromRegistry pulls a chart. Where helm.repo and helm.chart are both set, Fleet takes
// helm.repo for the whole of it and Helm does not: both are tried.
func (c *Charts) fromRegistry(ctx context.Context, a access, where location) (fetched, error) {
	whole := where.url.Host + where.url.Path
	got, err := c.pull(ctx, a, where, whole)
	if err == nil || where.name == "" || path.Base(whole) == where.name || !absent(err) {
		return got, err
	}
	got, err2 := c.pull(ctx, a, where, strings.TrimSuffix(whole, "/")+"/"+where.name)
	if err2 != nil {
		return fetched{}, fmt.Errorf("%w (and there is no chart at %s itself: %w)", err2, where.written, err)
	}
	return got, nil
}

// absent says that there may be no such chart. Some registries do not tell that from one
// that is not for everybody.
func absent(err error) bool {
	var status *statusError
	return errors.Is(err, errdef.ErrNotFound) || errors.As(err, &status) &&
		slices.Contains([]int{http.StatusNotFound, http.StatusUnauthorized, http.StatusForbidden}, status.code)
}

// pull gets one reference, host/path with a tag or digest or without.
func (c *Charts) pull(ctx context.Context, a access, where location, reference string) (fetched, error) {
	g := a.grant(where.names()...)
	repository, err := c.repository(a, g, reference)
	if err != nil {
		return fetched{}, err
	}
	tag, err := c.tag(ctx, repository, where.version)
	if err != nil {
		return fetched{}, ofRegistry(err, g)
	}
	_, raw, err := oras.FetchBytes(ctx, repository, tag, oras.FetchBytesOptions{MaxBytes: 4 * mib})
	if err != nil {
		return fetched{}, fmt.Errorf("version %s: %w", tag, ofRegistry(err, g))
	}
	layer, err := chartLayer(raw)
	if err != nil {
		return fetched{}, fmt.Errorf("version %s: %w", tag, err)
	}
	if layer.Size > c.limits.archive {
		return fetched{}, tooLarge("the archive", c.limits.archive)
	}
	data, err := orascontent.FetchAll(ctx, repository.Blobs(), layer)
	if err != nil {
		return fetched{}, fmt.Errorf("version %s: %w", tag, ofRegistry(err, g))
	}
	return c.archive(data, &chart.Metadata{Name: path.Base(repository.Reference.Repository), Version: strings.ReplaceAll(tag, "_", "+")})
}

// repository shows the credentials to one host, and to the server that this host names
// for tokens, as every client of registries does; the library goes to none by HTTP that
// a registry behind HTTPS names.
func (c *Charts) repository(a access, g grant, reference string) (*remote.Repository, error) {
	repository, err := remote.NewRepository(reference)
	if err != nil {
		return nil, fmt.Errorf("it is no reference of a registry: %w", err)
	}
	client := &auth.Client{Client: c.client(a), Cache: auth.NewCache()}
	client.SetUserAgent("fleet-addon")
	if g.sent && a.Username != "" {
		client.Credential = auth.StaticCredential(repository.Reference.Host(), auth.Credential{Username: a.Username, Password: a.Password})
	}
	repository.Client, repository.PlainHTTP = client, a.BasicHTTP
	return repository, nil
}

// tag finds the version as Helm does: a digest or tag of the URL, else the very version,
// else the newest tag that fulfils the constraint.
func (c *Charts) tag(ctx context.Context, repository *remote.Repository, version string) (string, error) {
	written := repository.Reference.Reference
	if written != "" {
		if _, err := repository.Reference.Digest(); err != nil && version != "" && written != strings.ReplaceAll(version, "+", "_") {
			return "", fmt.Errorf("the URL has the tag %q, helm.version is %q: leave one out", written, version)
		}
		return written, nil
	}
	if _, err := semver.NewVersion(version); err == nil {
		return strings.ReplaceAll(version, "+", "_"), nil
	}
	if version == "" {
		version = "*"
	}
	return c.newest(ctx, repository, version)
}

// newest is the newest tag that fulfils a constraint.
func (c *Charts) newest(ctx context.Context, repository *remote.Repository, version string) (string, error) {
	constraint, err := semver.NewConstraint(version)
	if err != nil {
		return "", fmt.Errorf("helm.version is no version and no constraint: %w", err)
	}
	var newest *semver.Version
	seen := 0
	err = repository.Tags(ctx, "", func(tags []string) error {
		if seen += len(tags); seen > c.limits.tags {
			return fmt.Errorf("%w: the registry has more than %d tags, which is the limit; set helm.version to a whole version", ErrTooLarge, c.limits.tags)
		}
		for _, tag := range tags {
			v, err := semver.StrictNewVersion(strings.ReplaceAll(tag, "_", "+"))
			if err == nil && constraint.Check(v) && (newest == nil || v.GreaterThan(newest)) {
				newest = v
			}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	if newest == nil {
		return "", fmt.Errorf("none of its %d tags fulfils %q", seen, version)
	}
	return strings.ReplaceAll(newest.Original(), "+", "_"), nil
}

// chartLayer finds the chart in a manifest.
func chartLayer(raw []byte) (ocispec.Descriptor, error) {
	var m ocispec.Manifest
	if err := json.Unmarshal(raw, &m); err != nil {
		return ocispec.Descriptor{}, fmt.Errorf("its manifest is none: %w", err)
	}
	for _, layer := range m.Layers {
		if layer.MediaType == helmregistry.ChartLayerMediaType || layer.MediaType == helmregistry.LegacyChartLayerMediaType {
			return layer, nil
		}
	}
	return ocispec.Descriptor{}, fmt.Errorf("it is no chart: no part of it is a %s", helmregistry.ChartLayerMediaType)
}

// ofRegistry says what a registry answered, and what it was sent.
func ofRegistry(err error, g grant) error {
	var answer *errcode.ErrorResponse
	switch {
	case errors.As(err, &answer):
		return refused(answer.StatusCode, g)
	case errors.Is(err, auth.ErrBasicCredentialNotFound):
		return refused(http.StatusUnauthorized, g)
	}
	return explain(err)
}
