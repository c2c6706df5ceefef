package supervisor

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	env "open-cluster-management.io/fleet-addon/test/env"
)

// setBinary takes a copy of the program, so that a later build at the same path changes nothing that runs, and restarts
// all pods with it.
func (s *Supervisor) setBinary(_ context.Context, order env.Request) error {
	path, err := s.keepBinary(order.Path)
	if err != nil {
		return err
	}
	if current, _ := s.binary.Get(); current != path {
		s.binary.Set(path)
	}
	s.options.Binary = path // for the next start on this data
	return s.options.Save()
}

func (s *Supervisor) keepBinary(source string) (string, error) {
	data, err := os.ReadFile(source)
	if err != nil {
		return "", fmt.Errorf("read the fleet-addon binary: %w", err)
	}
	hash := sha256.Sum256(data)
	dir := filepath.Join(s.dir(), "bin", hex.EncodeToString(hash[:])[:12])
	path := filepath.Join(dir, "fleet-addon")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	temp := path + ".tmp"
	if err := os.WriteFile(temp, data, 0o700); err != nil {
		return "", err
	}
	return path, os.Rename(temp, path)
}

// firstBinary is the one of the options, if there is any.
func (s *Supervisor) firstBinary() error {
	if s.options.Binary == "" {
		return nil
	}
	return s.setBinary(context.Background(), env.Request{Path: s.options.Binary})
}
