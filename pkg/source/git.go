package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
)

// session is a connection to a git server.
type session interface {
	AdvertisedReferencesContext(context.Context) (*packp.AdvRefs, error)
	UploadPack(context.Context, *packp.UploadPackRequest) (*packp.UploadPackResponse, error)
	Close() error
}

var fullSHA = regexp.MustCompile(`^[0-9a-f]{40}$`)

// fromGit fetches one commit without its history, where the server can, and takes a
// directory of it.
func (c *Charts) fromGit(ctx context.Context, a access, where location) (fetched, error) {
	ctx, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	g := a.grant(where.names()...)
	s, err := c.dialGit(ctx, a, g, where.url)
	if err != nil {
		return fetched{}, ofGit(err, g)
	}
	defer s.Close()
	refs, err := s.AdvertisedReferencesContext(ctx)
	if err != nil {
		return fetched{}, ofGit(err, g)
	}
	want, request, err := ask(refs, where.ref)
	if err != nil {
		return fetched{}, err
	}
	dir, err := os.MkdirTemp("", "fleet-git-")
	if err != nil {
		return fetched{}, err
	}
	defer os.RemoveAll(dir)
	if err := download(ctx, s, request, dir, c.limits); err != nil {
		return fetched{}, ofGit(err, g)
	}
	files, err := checkout(ctx, dir, want, where.subdir, c.limits)
	if err != nil {
		return fetched{}, err
	}
	return fetched{files: files}, nil
}

func (c *Charts) dialGit(ctx context.Context, a access, g grant, u *url.URL) (session, error) {
	if u.Scheme == "ssh" {
		return c.dialSSH(ctx, a, g, u)
	}
	var login *githttp.BasicAuth
	switch {
	case u.User != nil:
		password, _ := u.User.Password()
		login = &githttp.BasicAuth{Username: u.User.Username(), Password: password}
	case g.sent && a.Username != "":
		login = &githttp.BasicAuth{Username: a.Username, Password: a.Password}
	}
	bare := *u
	bare.User = nil
	endpoint, err := transport.NewEndpoint(bare.String())
	if err != nil {
		return nil, err
	}
	web := *c.client(a)
	web.Transport = capped{next: web.Transport, limit: c.limits.pack}
	client := githttp.NewClient(&web)
	if login == nil {
		return client.NewUploadPackSession(endpoint, nil)
	}
	return client.NewUploadPackSession(endpoint, login)
}

// capped bounds every answer, those that say what went wrong included.
type capped struct {
	next  http.RoundTripper
	limit int64
}

func (t capped) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	response.Body = struct {
		io.Reader
		io.Closer
	}{newBounded(response.Body, t.limit, "the answer of git"), response.Body}
	return response, nil
}

// ask says which commit a reference is, and how to ask for it: a branch, else a tag, else
// the name of a reference or a whole SHA. Without one it is what HEAD is.
func ask(refs *packp.AdvRefs, ref string) (plumbing.Hash, *packp.UploadPackRequest, error) {
	request := packp.NewUploadPackRequest()
	shallow := refs.Capabilities.Supports(capability.Shallow)
	want, ok := advertised(refs, ref)
	switch {
	case ok:
		request.Wants = []plumbing.Hash{want}
	case fullSHA.MatchString(ref):
		want = plumbing.NewHash(ref)
		if refs.Capabilities.Supports(capability.AllowReachableSHA1InWant) || isTip(refs, want) {
			request.Wants = []plumbing.Hash{want}
			break
		}
		// The server shows a commit only as part of the history of what has a name.
		shallow = false
		for _, tip := range refs.References {
			request.Wants = append(request.Wants, tip)
		}
	case ref == "":
		return want, nil, errors.New("the git repository has no HEAD: name a branch with ?ref=")
	default:
		return want, nil, fmt.Errorf("the git repository has no branch and no tag %q; a commit has to be named by all 40 digits of its SHA", ref)
	}
	if shallow {
		request.Depth = packp.DepthCommits(1)
		if err := request.Capabilities.Set(capability.Shallow); err != nil {
			return want, nil, err
		}
	}
	if refs.Capabilities.Supports(capability.OFSDelta) {
		if err := request.Capabilities.Set(capability.OFSDelta); err != nil {
			return want, nil, err
		}
	}
	return want, request, nil
}

func advertised(refs *packp.AdvRefs, ref string) (plumbing.Hash, bool) {
	if ref == "" {
		if refs.Head == nil {
			return plumbing.ZeroHash, false
		}
		return *refs.Head, true
	}
	for _, name := range []string{"refs/heads/" + ref, "refs/tags/" + ref, ref} {
		if hash, ok := refs.References[name]; ok {
			return hash, true
		}
	}
	return plumbing.ZeroHash, false
}

func isTip(refs *packp.AdvRefs, hash plumbing.Hash) bool {
	for _, tip := range refs.References {
		if tip == hash {
			return true
		}
	}
	return false
}

// ofGit says what a server answered, and what it was sent.
func ofGit(err error, g grant) error {
	var answer *githttp.Err
	switch {
	case errors.Is(err, transport.ErrAuthenticationRequired):
		return refused(http.StatusUnauthorized, g)
	case errors.Is(err, transport.ErrAuthorizationFailed):
		return refused(http.StatusForbidden, g)
	case errors.Is(err, transport.ErrRepositoryNotFound):
		return refused(http.StatusNotFound, g)
	case errors.As(err, &answer):
		return refused(answer.StatusCode(), g)
	}
	return explain(err)
}
