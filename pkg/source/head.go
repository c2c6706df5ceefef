package source

import (
	"github.com/go-git/go-git/v5"
)

// Head is the commit that is checked out in the git repository that a directory is in;
// "" if it is in none, or nothing was committed yet.
func Head(dir string) string {
	repo, err := git.PlainOpenWithOptions(dir, &git.PlainOpenOptions{DetectDotGit: true, EnableDotGitCommonDir: true})
	if err != nil {
		return ""
	}
	head, err := repo.Head()
	if err != nil {
		return ""
	}
	return head.Hash().String()
}
