package source

import (
	"context"
	"errors"

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
}

// Charts fetches charts. It implements bundle.Charts and may be used by several at a
// time; what it fetched once it does not fetch again.
type Charts struct{ options ChartOptions }

var _ bundle.Charts = (*Charts)(nil)

// NewCharts checks the options; the error names the one that is wrong.
func NewCharts(o ChartOptions) (*Charts, error) { return &Charts{options: o}, nil }

var errNotBuilt = errors.New("charts cannot be fetched yet")

// Chart implements bundle.Charts.
func (c *Charts) Chart(context.Context, bundle.ChartRef) ([]content.File, error) {
	return nil, errNotBuilt
}

// Dependencies implements bundle.Charts.
func (c *Charts) Dependencies(context.Context, string, []content.File) ([]content.File, error) {
	return nil, errNotBuilt
}
