package servers

import (
	"io"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Repo is a git repository that a test commits to.
type Repo struct {
	// Dir has a folder REPO.git with the repository's files.
	Dir  string
	repo *git.Repository
}

const repoName = "repo.git"

// NewRepo is a repository without a commit, whose first branch is main.
func NewRepo(t T) *Repo {
	t.Helper()
	dir := t.TempDir()
	repo, err := git.PlainInitWithOptions(filepath.Join(dir, repoName), &git.PlainInitOptions{
		InitOptions: git.InitOptions{DefaultBranch: plumbing.NewBranchReferenceName("main")},
	})
	if err != nil {
		t.Fatalf("make a git repository: %v", err)
	}
	return &Repo{Dir: dir, repo: repo}
}

// Configure sets an option of git in it.
func (r *Repo) Configure(t T, key, value string) {
	t.Helper()
	out, err := exec.Command("git", "-C", filepath.Join(r.Dir, repoName), "config", key, value).CombinedOutput()
	if err != nil {
		t.Fatalf("git config %s: %v: %s", key, err, out)
	}
}

// Commit writes files, given as name, content, name, content, and commits them to the
// branch that is checked out. A content that begins with "-> " makes a symbolic link.
func (r *Repo) Commit(t T, nameAndContent ...string) (sha string) {
	t.Helper()
	tree, err := r.repo.Worktree()
	if err != nil {
		t.Fatalf("%v", err)
	}
	for i := 0; i+1 < len(nameAndContent); i += 2 {
		path := filepath.Join(r.Dir, repoName, filepath.FromSlash(nameAndContent[i]))
		if err := write(path, nameAndContent[i+1]); err != nil {
			t.Fatalf("write %s: %v", path, err)
		}
		if _, err := tree.Add(nameAndContent[i]); err != nil {
			t.Fatalf("add %s: %v", path, err)
		}
	}
	hash, err := tree.Commit("test", &git.CommitOptions{Author: author(), AllowEmptyCommits: true})
	if err != nil {
		t.Fatalf("commit: %v", err)
	}
	return hash.String()
}

func write(path, data string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if to, ok := strings.CutPrefix(data, "-> "); ok {
		return os.Symlink(to, path)
	}
	return os.WriteFile(path, []byte(data), 0o600)
}

func author() *object.Signature {
	return &object.Signature{Name: "fleet-addon tests", Email: "tests@example.com", When: time.Unix(1_000_000_000, 0)}
}

// Branch makes a branch of what is checked out, and checks it out.
func (r *Repo) Branch(t T, name string) {
	t.Helper()
	tree, err := r.repo.Worktree()
	if err == nil {
		err = tree.Checkout(&git.CheckoutOptions{Branch: plumbing.NewBranchReferenceName(name), Create: true})
	}
	if err != nil {
		t.Fatalf("make branch %s: %v", name, err)
	}
}

// Tag gives what is checked out a name, in an object of its own if there is a message.
func (r *Repo) Tag(t T, name, message string) {
	t.Helper()
	head, err := r.repo.Head()
	if err != nil {
		t.Fatalf("%v", err)
	}
	var options *git.CreateTagOptions
	if message != "" {
		options = &git.CreateTagOptions{Tagger: author(), Message: message}
	}
	if _, err := r.repo.CreateTag(name, head.Hash(), options); err != nil {
		t.Fatalf("make tag %s: %v", name, err)
	}
}

// NewGit serves a repository with `git http-backend`, at /git/repo.git.
func NewGit(t T, o Options, r *Repo) *Server {
	t.Helper()
	s := New(t, o)
	program, err := exec.LookPath("git")
	if err != nil {
		t.Fatalf("find git: %v", err)
	}
	backend := &cgi.Handler{
		Path: program,
		Args: []string{"http-backend"},
		Root: "/git",
		Env: []string{
			"GIT_PROJECT_ROOT=" + r.Dir, "GIT_HTTP_EXPORT_ALL=1",
			"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "HOME=" + r.Dir,
		},
		Logger: quiet,
		Stderr: io.Discard,
	}
	s.Handle("/git/", backend.ServeHTTP)
	return s
}
