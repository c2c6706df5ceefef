package toolchain

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// CacheEnv overrides the folder that everything outside the repository is kept in.
const CacheEnv = "FLEET_ENV_CACHE"

// ToolsEnv overrides where the tool modules are looked for.
const ToolsEnv = "FLEET_ENV_TOOLS"

// ErrNoTools says that the folder with the tool modules was not found.
var ErrNoTools = errors.New("test/env/tools not found: run the command inside the repository or set " + ToolsEnv)

// Root is the cache folder for all versions and environments.
func Root() (string, error) {
	if dir := os.Getenv(CacheEnv); dir != "" {
		return filepath.Abs(dir)
	}
	base := os.Getenv("XDG_CACHE_HOME")
	if base == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("no cache folder, set %s: %w", CacheEnv, err)
		}
		base = filepath.Join(home, ".cache")
	}
	return filepath.Join(base, "fleet-addon-env"), nil
}

// toolsDir looks for the tool modules: the variable, the folders above the working directory, and the place this file
// was compiled from.
func toolsDir() (string, error) {
	if dir := os.Getenv(ToolsEnv); dir != "" {
		return filepath.Abs(dir)
	}
	var candidates []string
	if wd, err := os.Getwd(); err == nil {
		for dir := wd; ; dir = filepath.Dir(dir) {
			candidates = append(candidates, filepath.Join(dir, "test", "env", "tools"), filepath.Join(dir, "tools"))
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	if _, file, _, ok := runtime.Caller(0); ok {
		candidates = append(candidates, filepath.Join(filepath.Dir(file), "..", "..", "tools"))
	}
	i := slices.IndexFunc(candidates, func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, "ocm", "webhooks"))
		return err == nil
	})
	if i < 0 {
		return "", ErrNoTools
	}
	return filepath.Clean(candidates[i]), nil
}

// key names the cache folder of exactly this group: a readable version, and a hash of the tool module.
func (g group) key(tools string) (string, error) {
	hash := sha256.New()
	module := filepath.Join(tools, g.module)
	err := filepath.WalkDir(module, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(module, path)
		fmt.Fprintf(hash, "%s %d\n", name, len(data))
		hash.Write(data)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("read the tool module %s: %w", module, err)
	}
	return fmt.Sprintf("%s-%s-%s-%s", g.module, g.version, runtime.GOARCH, hex.EncodeToString(hash.Sum(nil))[:8]), nil
}
