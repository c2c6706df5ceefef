package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// ignoreFile says what of a directory, and of those below it, no bundle carries.
const ignoreFile = ".fleetignore"

// ignoreRule is one line of a .fleetignore.
type ignoreRule struct {
	pattern string
	// dirOnly matches the name of a directory: the line was "NAME/*".
	dirOnly bool
}

// readIgnore returns the rules of a directory; none where there is no file.
func (f *folder) readIgnore(dir string) ([]ignoreRule, error) {
	name := path.Join(dir, ignoreFile)
	data, err := f.read(name, MaxOptions)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	rules, err := parseIgnore(string(data))
	if err != nil {
		return nil, fmt.Errorf("%s:%w", f.show(name), err)
	}
	return rules, nil
}

// blanks at the end of a line are no part of the pattern, unless a backslash stands before
// the first of them.
var blanks = regexp.MustCompile(`([^\\])\s+$`)

// parseIgnore reads one pattern per line. Errors begin with the number of the line.
func parseIgnore(text string) ([]ignoreRule, error) {
	var rules []ignoreRule
	for i, line := range strings.Split(text, "\n") {
		line = blanks.ReplaceAllString(strings.TrimSuffix(line, "\r"), "$1")
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		rule := ignoreRule{pattern: line}
		if dir, ok := strings.CutSuffix(line, "/*"); ok && dir != "" {
			// Not a pattern, but the name itself.
			rules = append(rules, ignoreRule{pattern: dir, dirOnly: true})
			continue
		}
		if _, err := path.Match(rule.pattern, ""); err != nil {
			return nil, fmt.Errorf("%d: %q is no pattern: a bracket is not closed, or nothing follows a backslash", i+1, line)
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

// ignored matches the name alone, never a path, as Fleet does.
func ignored(rules []ignoreRule, name string, isDir bool) bool {
	for _, r := range rules {
		if r.dirOnly {
			if isDir && r.pattern == name {
				return true
			}
			continue
		}
		// The pattern was tried when it was read.
		if match, err := path.Match(r.pattern, name); err == nil && match {
			return true
		}
	}
	return false
}
