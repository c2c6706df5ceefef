package toolchain

import (
	"fmt"
	"os"
	"path/filepath"
)

// Link puts a symbolic link to every program into dir, for who expects them in one
// folder.
func (t Tools) Link(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("link the programs: %w", err)
	}
	for name, path := range t.paths {
		link := filepath.Join(dir, name)
		if current, err := os.Readlink(link); err == nil && current == path {
			continue
		}
		// Rename replaces an older link at once, also beside a second run.
		temp := fmt.Sprintf("%s.%d", link, os.Getpid())
		if err := os.Symlink(path, temp); err != nil {
			return fmt.Errorf("link %s: %w", name, err)
		}
		if err := os.Rename(temp, link); err != nil {
			return fmt.Errorf("link %s: %w", name, err)
		}
	}
	return nil
}
