package pods

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
)

// mounts are the paths of a container's volume mounts.
func (p *pod) mounts(c corev1.Container) []mount {
	var mounts []mount
	for _, m := range c.VolumeMounts {
		mounts = append(mounts, mount{inside: m.MountPath, outside: filepath.Join(p.volumeDir(m.Name), m.SubPath)})
	}
	return mounts
}

func (p *pod) volumeDir(name string) string { return filepath.Join(p.dir, "volumes", name) }

// syncVolumes writes the volumes' files as they should be now. It fails if a Secret or ConfigMap is missing.
func (p *pod) syncVolumes(ctx context.Context) error {
	for _, volume := range p.object.Spec.Volumes {
		if err := os.MkdirAll(p.volumeDir(volume.Name), 0o700); err != nil {
			return err
		}
		if volume.EmptyDir != nil {
			continue
		}
		files, err := p.volumeFiles(ctx, volume)
		if err != nil {
			return fmt.Errorf("volume %s: %w", volume.Name, err)
		}
		if err := syncFiles(p.volumeDir(volume.Name), files); err != nil {
			return fmt.Errorf("volume %s: %w", volume.Name, err)
		}
	}
	return nil
}

func (p *pod) volumeFiles(ctx context.Context, v corev1.Volume) (map[string]string, error) {
	switch {
	case v.Secret != nil:
		return p.selected(ctx, "Secret", v.Secret.SecretName, v.Secret.Items, v.Secret.Optional)
	case v.ConfigMap != nil:
		return p.selected(ctx, "ConfigMap", v.ConfigMap.Name, v.ConfigMap.Items, v.ConfigMap.Optional)
	case v.DownwardAPI != nil:
		return p.downward(v.DownwardAPI.Items)
	case v.Projected != nil:
		return p.projected(ctx, v.Projected.Sources)
	}
	return nil, errors.New("this kind of volume is not supported here (secret, configMap, emptyDir, downwardAPI, projected are)")
}

func (p *pod) projected(ctx context.Context, sources []corev1.VolumeProjection) (map[string]string, error) {
	all := map[string]string{}
	for _, source := range sources {
		var files map[string]string
		var err error
		switch {
		case source.Secret != nil:
			files, err = p.selected(ctx, "Secret", source.Secret.Name, source.Secret.Items, source.Secret.Optional)
		case source.ConfigMap != nil:
			files, err = p.selected(ctx, "ConfigMap", source.ConfigMap.Name, source.ConfigMap.Items, source.ConfigMap.Optional)
		case source.DownwardAPI != nil:
			files, err = p.downward(source.DownwardAPI.Items)
		case source.ServiceAccountToken != nil:
			var token string
			token, err = p.token(ctx, source.ServiceAccountToken.Audience)
			files = map[string]string{source.ServiceAccountToken.Path: token}
		}
		if err != nil {
			return nil, err
		}
		for name, content := range files {
			all[name] = content
		}
	}
	return all, nil
}

func (p *pod) downward(items []corev1.DownwardAPIVolumeFile) (map[string]string, error) {
	files := map[string]string{}
	for _, item := range items {
		if item.FieldRef == nil {
			continue
		}
		value, err := p.field(item.FieldRef.FieldPath)
		if err != nil {
			return nil, err
		}
		files[item.Path] = value
	}
	return files, nil
}

// selected are the files of a Secret or ConfigMap: all keys, or those in items under the paths there.
func (p *pod) selected(ctx context.Context, kind, name string, items []corev1.KeyToPath, optional *bool) (map[string]string, error) {
	data, err := p.values(ctx, kind, name, optional)
	if err != nil || len(items) == 0 {
		return data, err
	}
	files := map[string]string{}
	for _, item := range items {
		value, ok := data[item.Key]
		if !ok && (optional == nil || !*optional) {
			return nil, fmt.Errorf("%s %s/%s has no key %q", kind, p.object.Namespace, name, item.Key)
		}
		if ok {
			files[item.Path] = value
		}
	}
	return files, nil
}

// syncFiles makes dir hold exactly these files; each changes as a whole.
func syncFiles(dir string, files map[string]string) error {
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if _, wanted := files[name]; !wanted {
			return os.Remove(path)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for name, content := range files {
		if err := writeFile(filepath.Join(dir, name), content); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(path, content string) error {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, []byte(content)) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	temp := path + ".tmp"
	if err := os.WriteFile(temp, []byte(content), 0o600); err != nil {
		return err
	}
	return os.Rename(temp, path)
}
