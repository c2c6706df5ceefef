package source

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"

	"golang.org/x/crypto/ssh"
)

// accesses are the credentials of all directories.
type accesses struct {
	all      access
	byPath   map[string]access
	patterns []string
}

// access is what one directory may show, and where.
type access struct {
	Credentials
	// key tells access apart without saying what it is: what one directory was given
	// with its password is not another's that has none.
	key string
	// regex is nil if nothing is sent anywhere.
	regex *regexp.Regexp
	// pattern is the regex as it was written.
	pattern string
}

func newAccesses(o ChartOptions) (*accesses, error) {
	// Errors show the pattern as it was written.
	if _, err := regexp.Compile(o.URLRegex); err != nil {
		return nil, fmt.Errorf("the regular expression for URLs that get credentials (helmRepoURLRegex): %w", err)
	}
	var regex *regexp.Regexp
	if o.URLRegex != "" {
		// In a group, so that every alternative has to match from the first character on.
		regex = regexp.MustCompile("^(?:" + o.URLRegex + ")")
	}
	out := &accesses{all: newAccess(o.Credentials, regex, o.URLRegex), byPath: map[string]access{}}
	if err := o.Credentials.check(); err != nil {
		return nil, fmt.Errorf("credentials for charts: %w", err)
	}
	for p, c := range o.ByPath {
		if err := c.check(); err != nil {
			return nil, fmt.Errorf("credentials for path %q: %w", p, err)
		}
		if _, err := path.Match(p, ""); err != nil {
			return nil, fmt.Errorf("credentials for path %q: the path is no valid pattern", p)
		}
		out.byPath[path.Clean(p)] = newAccess(c, regex, o.URLRegex)
		out.patterns = append(out.patterns, path.Clean(p))
	}
	slices.Sort(out.patterns)
	return out, nil
}

func newAccess(c Credentials, regex *regexp.Regexp, pattern string) access {
	// It has strings, bytes and booleans only, all of which JSON can say.
	raw, _ := json.Marshal(c)
	sum := sha256.Sum256(raw)
	return access{Credentials: c, key: hex.EncodeToString(sum[:]), regex: regex, pattern: pattern}
}

// of is the access of a directory: the one of its path, else of the first pattern in
// alphabetical order that matches, else that of all.
func (a *accesses) of(dir string) access {
	dir = path.Clean(dir)
	if it, ok := a.byPath[dir]; ok {
		return it
	}
	for _, pattern := range a.patterns {
		if ok, err := path.Match(pattern, dir); err == nil && ok {
			return a.byPath[pattern]
		}
	}
	return a.all
}

// check never quotes a value.
func (c Credentials) check() error {
	switch {
	case c.Username != "" && c.Password == "":
		return errors.New("there is a username, but no password")
	case c.Username == "" && c.Password != "":
		return errors.New("there is a password, but no username")
	case len(c.CABundle) > 0 && !x509.NewCertPool().AppendCertsFromPEM(c.CABundle):
		return errors.New("the CA bundle has no certificate in PEM")
	}
	if len(c.SSHPrivateKey) == 0 {
		return nil
	}
	if _, err := ssh.ParsePrivateKey(c.SSHPrivateKey); err != nil {
		var locked *ssh.PassphraseMissingError
		if errors.As(err, &locked) {
			return errors.New("the SSH private key has a passphrase; use one that has none")
		}
		return errors.New("the SSH private key is none that can be read")
	}
	return nil
}

// grant says whether credentials go to what a user named, and if not, why.
type grant struct {
	sent bool
	why  string
}

// grant looks at a repository or chart, in each of the ways to write it.
func (a access) grant(urls ...string) grant {
	if a.Username == "" && len(a.SSHPrivateKey) == 0 {
		return grant{why: "no credentials were sent, because none are given for this directory"}
	}
	if a.regex == nil {
		return grant{why: "no credentials were sent, because no helmRepoURLRegex (--helm-repo-url-regex) is set: set one that matches the URL"}
	}
	if !slices.ContainsFunc(urls, a.regex.MatchString) {
		return grant{why: fmt.Sprintf("no credentials were sent, because the helmRepoURLRegex (--helm-repo-url-regex) %q does not match %q from its start", a.pattern, urls[0])}
	}
	return grant{sent: true, why: "the credentials for this directory were sent"}
}
