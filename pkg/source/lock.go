package source

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"helm.sh/helm/v3/pkg/chart"
)

// checkLock compares the digest in a lock with what Helm makes of the dependencies.
func checkLock(it *chart.Chart) error {
	if it.Lock == nil {
		return nil
	}
	wanted := it.Metadata.Dependencies
	sum, err := digest([2][]*chart.Dependency{wanted, it.Lock.Dependencies})
	if err != nil {
		return err
	}
	if sum == it.Lock.Digest {
		return nil
	}
	if it.Metadata.APIVersion == chart.APIVersionV1 {
		// What Helm 2 wrote.
		old, err := digest(map[string][]*chart.Dependency{"dependencies": wanted})
		if err != nil {
			return err
		}
		if old == it.Lock.Digest {
			return nil
		}
	}
	return errOutOfSync
}

func digest(v any) (string, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("digest of the dependencies: %w", err)
	}
	sum := sha256.Sum256(raw)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// locked is a dependency in the version that the lock has of it. The lock is in the order
// of Chart.yaml, where a name can stand twice.
func locked(it *chart.Chart, d *chart.Dependency) *chart.Dependency {
	if it.Lock == nil {
		return d
	}
	for i, o := range it.Metadata.Dependencies {
		if o != d || i >= len(it.Lock.Dependencies) {
			continue
		}
		if l := it.Lock.Dependencies[i]; l != nil && l.Name == d.Name {
			out := *d
			out.Version = l.Version
			return &out
		}
	}
	return d
}
