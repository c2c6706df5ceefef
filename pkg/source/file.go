package source

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// byFile lets a library read data that takes nothing but files. Its errors know the file by
// its name only.
func byFile[T any](name string, data []byte, read func(file string) (T, error)) (out T, err error) {
	dir, err := os.MkdirTemp("", "fleet-")
	if err != nil {
		return out, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return out, err
	}
	if out, err = read(file); err != nil {
		return out, errors.New(strings.ReplaceAll(err.Error(), file, name))
	}
	return out, nil
}
