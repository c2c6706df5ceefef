package source

import (
	"context"
	"fmt"
	"slices"
	"time"

	"open-cluster-management.io/fleet-addon/pkg/bundle"
	"open-cluster-management.io/fleet-addon/pkg/content"
)

// Credentials are what a server is shown, and what it is trusted by. They are never
// printed.
type Credentials struct {
	Username, Password string
	// CABundle is PEM that is trusted beside what the system trusts.
	CABundle []byte
	// SSHPrivateKey and KnownHosts are for git over SSH; without KnownHosts no host is.
	SSHPrivateKey, KnownHosts []byte
	// InsecureSkipTLSVerify trusts any certificate, BasicHTTP talks HTTP to registries.
	InsecureSkipTLSVerify, BasicHTTP bool
}

// ChartOptions say how charts are fetched.
type ChartOptions struct {
	// Credentials for every directory that ByPath does not name.
	Credentials Credentials
	// ByPath are credentials by the directory of the bundle, which may be a glob.
	ByPath map[string]Credentials
	// URLRegex is what the URL of a repository or chart has to match, from its first
	// character on, for username, password and key to be sent there; empty sends none.
	URLRegex string
	// Timeout of one request with its answer, five minutes unless set. A server that says
	// nothing at all is given up earlier.
	Timeout time.Duration
	// AllowURL is asked before each request, those that redirects lead to included; an
	// error of it is the request's. All are allowed where it is nil.
	AllowURL func(url string) error
}

// Charts fetches charts. It implements bundle.Charts and may be used by several at a
// time; what it fetched once it does not fetch again, failures included.
type Charts struct {
	options ChartOptions
	access  *accesses
	limits  limits
	clients clients
	indexes flights[*index]
	fetched flights[fetched]
}

var _ bundle.Charts = (*Charts)(nil)

// fetched is a chart: the archive that it came in, if any, and its files.
type fetched struct {
	archive       []byte
	name, version string
	files         []content.File
}

// NewCharts checks the options; the error names the one that is wrong.
func NewCharts(o ChartOptions) (*Charts, error) {
	if o.Timeout < 0 {
		return nil, fmt.Errorf("the timeout for charts is %s: it cannot be negative", o.Timeout)
	}
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	a, err := newAccesses(o)
	if err != nil {
		return nil, err
	}
	return &Charts{options: o, access: a, limits: defaultLimits}, nil
}

// Chart implements bundle.Charts. Hidden files are left out, as Fleet does. The data of
// the files is shared between callers: it must not be changed.
func (c *Charts) Chart(ctx context.Context, ref bundle.ChartRef) ([]content.File, error) {
	where, err := locate(ref)
	if err != nil {
		return nil, err
	}
	got, err := c.fetch(ctx, c.access.of(ref.Dir), where)
	if err != nil {
		return nil, err
	}
	if !hasChart(got.files) {
		return nil, fmt.Errorf("%s has no Chart.yaml at its top or in its only directory: it is no chart", where)
	}
	return slices.Clone(got.files), nil
}

// fetch gets a chart from where it is, once.
func (c *Charts) fetch(ctx context.Context, a access, where location) (fetched, error) {
	return c.fetched.do(ctx, a.key+" "+where.key(), func() (fetched, error) {
		got, err := c.fetchNow(ctx, a, where)
		if err != nil {
			return fetched{}, fmt.Errorf("fetch %s: %w", where, err)
		}
		return got, nil
	})
}

func (c *Charts) fetchNow(ctx context.Context, a access, where location) (fetched, error) {
	switch where.kind {
	case inRepository:
		return c.fromRepository(ctx, a, where)
	case inRegistry:
		return c.fromRegistry(ctx, a, where)
	case inArchive:
		return c.fromArchive(ctx, a, where)
	case inGit:
		return c.fromGit(ctx, a, where)
	default:
		return fetched{}, fmt.Errorf("%w: %s", ErrUnsupported, where.kind)
	}
}
