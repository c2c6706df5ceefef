package servers

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"sync"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// SSH serves a git repository over SSH, at the path /repo.git, to one user with one key.
type SSH struct {
	// Host with its port.
	Host string
	// PrivateKey of the user git, in PEM; KnownHosts has the one of two keys of the server
	// that is not the one it shows first.
	PrivateKey, KnownHosts []byte
}

// NewSSH serves a repository.
func NewSSH(t T, r *Repo) *SSH {
	t.Helper()
	user := key(t)
	block, err := ssh.MarshalPrivateKey(user, "")
	if err != nil {
		t.Fatalf("make a key: %v", err)
	}
	allowed, err := ssh.NewPublicKey(&user.PublicKey)
	if err != nil {
		t.Fatalf("make a key: %v", err)
	}
	config := &ssh.ServerConfig{PublicKeyCallback: func(c ssh.ConnMetadata, k ssh.PublicKey) (*ssh.Permissions, error) {
		if c.User() != "git" || !bytes.Equal(k.Marshal(), allowed.Marshal()) {
			return nil, errors.New("unknown")
		}
		return &ssh.Permissions{}, nil
	}}
	old, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatalf("make a key: %v", err)
	}
	var known ssh.PublicKey
	for _, k := range []any{key(t), old} {
		signer, err := ssh.NewSignerFromKey(k)
		if err != nil {
			t.Fatalf("make a key: %v", err)
		}
		config.AddHostKey(signer)
		known = signer.PublicKey()
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	var all sync.WaitGroup
	all.Go(func() { accept(listener, config, r.Dir, &all) })
	t.Cleanup(func() {
		listener.Close()
		all.Wait()
	})
	address := listener.Addr().String()
	return &SSH{
		Host:       address,
		PrivateKey: pem.EncodeToMemory(block),
		KnownHosts: []byte(knownhosts.Line([]string{address}, known) + "\n"),
	}
}

func accept(listener net.Listener, config *ssh.ServerConfig, dir string, all *sync.WaitGroup) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		all.Go(func() {
			defer conn.Close()
			_, channels, requests, err := ssh.NewServerConn(conn, config)
			if err != nil {
				return
			}
			go ssh.DiscardRequests(requests)
			for c := range channels {
				if channel, asked, err := c.Accept(); err == nil {
					run(channel, asked, dir)
				}
			}
		})
	}
}

// run runs what git over SSH runs, and nothing else.
func run(channel ssh.Channel, asked <-chan *ssh.Request, dir string) {
	defer channel.Close()
	request, open := <-asked
	ok := open && request.Type == "exec" && bytes.HasSuffix(request.Payload, []byte("git-upload-pack '/"+repoName+"'"))
	if open {
		_ = request.Reply(ok, nil)
	}
	if !ok {
		return
	}
	command := exec.Command("git", "upload-pack", filepath.Join(dir, repoName))
	command.Stdin, command.Stdout, command.Stderr = channel, channel, io.Discard
	status := byte(0)
	if err := command.Run(); err != nil {
		status = 1
	}
	_, _ = channel.SendRequest("exit-status", false, []byte{0, 0, 0, status})
}
