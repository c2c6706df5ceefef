package values

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
)

const (
	// SecretType of the Secret that has the values of the Bundle of its name.
	SecretType corev1.SecretType = "fleet.cattle.io/bundle-values/v1alpha1"
	// BundleKey is the key of the values of the whole bundle. Those of a target have the
	// target's name as their key.
	BundleKey = "values.yaml"
)

var (
	// ErrMismatch says that a Secret does not hold the values that the Bundle says.
	ErrMismatch = errors.New("the values in the Secret are not those of spec.valuesHash")
	// ErrMalformed says that values are no JSON object. It never quotes them.
	ErrMalformed = errors.New("values are no map that can be written as JSON")
	// ErrTooMany says that targets of one name make too much of the values of that name.
	ErrTooMany = errors.New("too many targets of the bundle have that name: give each target with values a name of its own")
)

// maxPut is what values can come to in a bundle, in bytes of JSON. A Secret holds a
// megabyte, but targets of one name all get the values of that name.
const maxPut = 4 << 20

// Take moves all Helm values out of a bundle that is the caller's own, and returns what
// belongs into its Secret: JSON by key. spec.valuesHash becomes their hash; no values
// give no data and no hash. Targets with values need names of their own; the error names
// the field.
func Take(b *fleet.Bundle) (map[string][]byte, error) {
	data := map[string][]byte{}
	if err := take(b.Spec.Helm, BundleKey, data); err != nil {
		return nil, fmt.Errorf("bundle %s/%s: spec.helm.values: %w", b.Namespace, b.Name, err)
	}
	for i := range b.Spec.Targets {
		t := &b.Spec.Targets[i]
		if err := take(t.Helm, t.Name, data); err != nil {
			return nil, fmt.Errorf("bundle %s/%s: spec.targets[%d].helm.values: %w", b.Namespace, b.Name, i, err)
		}
	}
	b.Spec.ValuesHash = ""
	if len(data) == 0 {
		return nil, nil
	}
	b.Spec.ValuesHash = Hash(data)
	return data, nil
}

func take(h *fleet.HelmOptions, key string, into map[string][]byte) error {
	if h == nil {
		return nil
	}
	values := h.Values
	h.Values = nil
	if values == nil || len(values.Data) == 0 {
		return nil
	}
	if key == "" {
		return errors.New("a target with values needs a name")
	}
	if _, taken := into[key]; taken {
		return fmt.Errorf("the name %q is taken; give the target another one", key)
	}
	raw, err := json.Marshal(values.Data)
	if err != nil {
		// The library's error can show a value.
		return ErrMalformed
	}
	into[key] = raw
	return nil
}

// Put puts the values of a Secret's data into a bundle that is the caller's own. The
// error is ErrMismatch if they are not those of spec.valuesHash, ErrMalformed, or
// ErrTooMany.
func Put(b *fleet.Bundle, data map[string][]byte) error {
	if b.Spec.ValuesHash == "" {
		return nil
	}
	if Hash(data) != b.Spec.ValuesHash {
		return ErrMismatch
	}
	if raw, ok := data[BundleKey]; ok {
		if b.Spec.Helm == nil {
			b.Spec.Helm = &fleet.HelmOptions{}
		}
		if err := put(b.Spec.Helm, BundleKey, raw); err != nil {
			return err
		}
	}
	left := maxPut
	for i := range b.Spec.Targets {
		t := &b.Spec.Targets[i]
		raw, ok := data[t.Name]
		if !ok || t.Name == "" || t.Name == BundleKey {
			continue
		}
		if left -= len(raw); left < 0 {
			return fmt.Errorf("key %q: %w", t.Name, ErrTooMany)
		}
		if t.Helm == nil {
			t.Helm = &fleet.HelmOptions{}
		}
		if err := put(t.Helm, t.Name, raw); err != nil {
			return err
		}
	}
	return nil
}

func put(h *fleet.HelmOptions, key string, raw []byte) error {
	values := map[string]any{}
	if err := json.Unmarshal(raw, &values); err != nil {
		return fmt.Errorf("key %q: %w", key, ErrMalformed)
	}
	h.Values = &fleet.GenericMap{Data: values}
	return nil
}

// Hash is the SHA-256 in hex of all of a Secret's data, as it stands in spec.valuesHash:
// of the JSON of the map from key to base64, with its keys in order.
func Hash(data map[string][]byte) string {
	raw, err := json.Marshal(data)
	if err != nil {
		// A map of bytes cannot fail.
		return ""
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}
