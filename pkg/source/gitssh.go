package source

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// sshSession speaks git over SSH. Go-git's own reads ~/.ssh/config and known_hosts, and
// cannot be told to stop while it shakes hands.
type sshSession struct {
	conn   net.Conn
	client *ssh.Client
	in     io.WriteCloser
	out    io.Reader
	stop   func() bool
}

func (c *Charts) dialSSH(ctx context.Context, a access, g grant, u *url.URL) (session, error) {
	if !g.sent || len(a.SSHPrivateKey) == 0 {
		if g.sent {
			g.why = "there is no SSH private key among the credentials for this directory"
		}
		return nil, fmt.Errorf("git over SSH needs a key: %s", g.why)
	}
	if c.options.AllowURL != nil {
		if err := c.options.AllowURL(redact(u)); err != nil {
			return nil, err
		}
	}
	port := u.Port()
	if port == "" {
		port = "22"
	}
	address := net.JoinHostPort(u.Hostname(), port)
	config, err := sshConfig(a, u, address)
	if err != nil {
		return nil, err
	}
	conn, err := (&net.Dialer{Timeout: silence}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	// Whoever gives up closes the connection, whatever is going on there.
	s := &sshSession{conn: conn, stop: context.AfterFunc(ctx, func() { conn.Close() })}
	if err := s.start(address, config, u.Path); err != nil {
		s.Close()
		return nil, orGaveUp(ctx, err)
	}
	return s, nil
}

// orGaveUp is why a connection was closed.
func orGaveUp(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

func sshConfig(a access, u *url.URL, address string) (*ssh.ClientConfig, error) {
	signer, err := ssh.ParsePrivateKey(a.SSHPrivateKey)
	if err != nil {
		return nil, errors.New("the SSH private key is none that can be read")
	}
	known, err := readKnownHosts(a.KnownHosts)
	if err != nil {
		return nil, err
	}
	algorithms := hostKeyAlgorithms(known, address)
	if len(algorithms) == 0 {
		return nil, fmt.Errorf("the known hosts have no key of %s: add it to them (FLEET_KNOWN_HOSTS, sshKnownHosts), as `ssh-keyscan` prints it", knownhosts.Normalize(address))
	}
	user := u.User.Username()
	if user == "" {
		user = "git"
	}
	return &ssh.ClientConfig{
		User:              user,
		Auth:              []ssh.AuthMethod{ssh.PublicKeys(signer)},
		HostKeyCallback:   known,
		HostKeyAlgorithms: algorithms,
	}, nil
}

// readKnownHosts goes by way of a file, because the library does.
func readKnownHosts(data []byte) (ssh.HostKeyCallback, error) {
	return byFile("known_hosts", data, func(file string) (ssh.HostKeyCallback, error) {
		known, err := knownhosts.New(file)
		if err != nil {
			return nil, fmt.Errorf("the known hosts are none: %w", err)
		}
		return known, nil
	})
}

// hostKeyAlgorithms are those that the known keys of a host can be shown with, so that
// the host does not show another of its keys. The library tells them when it is asked
// for a key that nobody has.
func hostKeyAlgorithms(known ssh.HostKeyCallback, address string) []string {
	nobodys, err := ssh.NewPublicKey(ed25519.PublicKey(make([]byte, ed25519.PublicKeySize)))
	if err != nil {
		return nil
	}
	var unknown *knownhosts.KeyError
	if !errors.As(known(address, &net.TCPAddr{}, nobodys), &unknown) {
		return nil
	}
	var out []string
	for _, k := range unknown.Want {
		if k.Key.Type() == ssh.KeyAlgoRSA {
			out = append(out, ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256)
			continue
		}
		out = append(out, k.Key.Type())
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (s *sshSession) start(address string, config *ssh.ClientConfig, path string) error {
	conn, channels, requests, err := ssh.NewClientConn(s.conn, address, config)
	if err != nil {
		var other *knownhosts.KeyError
		if errors.As(err, &other) {
			return fmt.Errorf("the host shows another key than the known hosts have of it: %w", err)
		}
		return err
	}
	s.client = ssh.NewClient(conn, channels, requests)
	run, err := s.client.NewSession()
	if err != nil {
		return err
	}
	if s.in, err = run.StdinPipe(); err != nil {
		return err
	}
	if s.out, err = run.StdoutPipe(); err != nil {
		return err
	}
	return run.Start("git-upload-pack '" + strings.NewReplacer("'", `'\''`, "!", `'\!'`).Replace(path) + "'")
}

// AdvertisedReferencesContext implements session.
func (s *sshSession) AdvertisedReferencesContext(ctx context.Context) (*packp.AdvRefs, error) {
	refs := packp.NewAdvRefs()
	if err := refs.Decode(s.out); err != nil {
		if errors.Is(err, packp.ErrEmptyInput) {
			err = errors.New("the server has no such git repository, or does not show it")
		}
		return nil, orGaveUp(ctx, err)
	}
	return refs, nil
}

// UploadPack implements session.
func (s *sshSession) UploadPack(ctx context.Context, request *packp.UploadPackRequest) (*packp.UploadPackResponse, error) {
	if err := request.UploadRequest.Encode(s.in); err != nil {
		return nil, orGaveUp(ctx, err)
	}
	if err := pktline.NewEncoder(s.in).EncodeString("done\n"); err != nil {
		return nil, orGaveUp(ctx, err)
	}
	// There is nothing more to say; some servers wait for that.
	if err := s.in.Close(); err != nil {
		return nil, orGaveUp(ctx, err)
	}
	response := packp.NewUploadPackResponse(request)
	if err := response.Decode(io.NopCloser(s.out)); err != nil {
		return nil, orGaveUp(ctx, err)
	}
	return response, nil
}

// Close implements session.
func (s *sshSession) Close() error {
	s.stop()
	if s.client != nil {
		return s.client.Close()
	}
	return s.conn.Close()
}
