package toolchain

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// manifestDirs are the folders of the OCM module that an environment applies at run time; they are copied, so that a
// warm start needs no go command.
var manifestDirs = []string{
	"manifests/cluster-manager/hub/crds",
	"manifests/cluster-manager/hub/registration",
	"manifests/cluster-manager/hub/work",
	"manifests/klusterlet/managed",
	"manifests/klusterlet/management",
}

// haveManifests is true if they are there, or if nobody asks for what they belong to.
func (b builder) haveManifests() bool {
	if b.tools.Manifests == "" {
		return true
	}
	_, err := os.Stat(b.tools.Manifests)
	return err == nil
}

func (b builder) copyManifests(ctx context.Context) error {
	if b.haveManifests() {
		return nil
	}
	ocm := b.groups[slices.IndexFunc(b.groups, func(g group) bool { return g.path == ocmModule })]
	temp, err := os.MkdirTemp(ocm.dir, partial)
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	var module bytes.Buffer
	if err := b.goCommand(ctx, ocm, temp, &module, "list", "-m", "-f", "{{.Dir}}", ocmModule); err != nil {
		return fmt.Errorf("find the manifests of %s: %w", ocmModule, err)
	}
	for _, dir := range manifestDirs {
		source := filepath.Join(strings.TrimSpace(module.String()), dir)
		if err := copyYAML(source, filepath.Join(temp, filepath.Base(dir))); err != nil {
			return fmt.Errorf("copy %s: %w", source, err)
		}
	}
	return os.Rename(temp, b.tools.Manifests)
}

// copyYAML copies the YAML files of one folder; the module cache is read-only, the copies are not.
func copyYAML(from, to string) error {
	files, err := filepath.Glob(filepath.Join(from, "*.yaml"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("no YAML files there")
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, filepath.Base(file)), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
