package bundle

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"

	"open-cluster-management.io/fleet-addon/pkg/content"
	"open-cluster-management.io/fleet-addon/pkg/values"
)

const (
	// compressFrom is the JSON of a bundle, in bytes, from which on all its files are
	// compressed; Fleet begins there too, and a bundle is the same whoever makes it.
	compressFrom = 1_000_000
	// MaxBundle is the largest JSON of a bundle without its values, in bytes. The API
	// server's store takes 1.5 MiB per object, and this leaves a tenth for what is written
	// to the object later: its status, its managed fields, annotations.
	MaxBundle = 1_400_000
	// MaxValues is what all values of a bundle may have, in bytes: they go to one Secret.
	MaxValues = 1 << 20
	// MaxContent is the largest gzip of a bundle's files that the hub stores, in bytes.
	MaxContent = 1 << 20
	// blamed is how many files the error names.
	blamed = 5
)

// encode makes resources of files, in their order.
func encode(files []content.File, compress bool) ([]fleet.BundleResource, error) {
	out := make([]fleet.BundleResource, 0, len(files))
	for _, f := range files {
		if !compress && utf8.Valid(f.Data) {
			out = append(out, fleet.BundleResource{Name: f.Name, Content: string(f.Data)})
			continue
		}
		r, err := content.Encode(f)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// fill puts files into a bundle, compressed if they must be, and says no to what the API
// server would refuse.
//
// The namespace comes last: Fleet measures without it.
func fill(b *fleet.Bundle, shown, namespace string, files []content.File, compress bool) error {
	bytes, err := resources(b, shown, files, compress)
	if err != nil {
		return err
	}
	if bytes >= compressFrom && !compress {
		if _, err = resources(b, shown, files, true); err != nil {
			return err
		}
	}
	b.Namespace = namespace
	bare := b.DeepCopy()
	data, err := values.Take(bare)
	if err != nil {
		return fmt.Errorf("%s: %w", shown, err)
	}
	if bytes, err = measure(bare); err != nil {
		return fmt.Errorf("%s: %w", shown, err)
	}
	if bytes > MaxBundle {
		return fmt.Errorf("%s: %w: the bundle has %s although its files are compressed, and the API server takes %s; its biggest files are %s; %s",
			shown, ErrTooLarge, size(bytes), size(MaxBundle), biggest(b.Spec.Resources), remedy)
	}
	if err := checkValues(shown, data); err != nil {
		return err
	}
	return checkContent(b, shown, bytes)
}

const remedy = "leave files out with .fleetignore, or divide the directory into several bundles"

func resources(b *fleet.Bundle, shown string, files []content.File, compress bool) (int, error) {
	all, err := encode(files, compress)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", shown, err)
	}
	b.Spec.Resources = all
	bytes, err := measure(b)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", shown, err)
	}
	return bytes, nil
}

func measure(b *fleet.Bundle) (int, error) {
	raw, err := json.Marshal(b)
	if err != nil {
		// The library's error can show a value.
		return 0, values.ErrMalformed
	}
	return len(raw), nil
}

func checkValues(shown string, data map[string][]byte) error {
	bytes := 0
	for key, raw := range data {
		bytes += len(key) + len(raw)
	}
	if bytes > MaxValues {
		return fmt.Errorf("%s: %w: the values of the bundle and of its targets have %s, and a Secret takes %s; make helm.values and helm.valuesFiles smaller",
			shown, ErrTooLarge, size(bytes), size(MaxValues))
	}
	return nil
}

// checkContent looks at what the hub stores beside the bundle, which can only be too large
// if the bundle is large.
func checkContent(b *fleet.Bundle, shown string, bytes int) error {
	if bytes < compressFrom {
		return nil
	}
	_, gz, _, err := content.Pack(b.Spec.Resources)
	if err != nil {
		return fmt.Errorf("%s: %w", shown, err)
	}
	if len(gz) > MaxContent {
		return fmt.Errorf("%s: %w: the files of the bundle have %s once compressed, and the hub stores %s; its biggest files are %s; %s",
			shown, ErrTooLarge, size(len(gz)), size(MaxContent), biggest(b.Spec.Resources), remedy)
	}
	return nil
}

// biggest names the files that take most, with what they take.
func biggest(all []fleet.BundleResource) string {
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b fleet.BundleResource) int {
		return cmp.Compare(len(b.Content), len(a.Content))
	})
	var names []string
	for _, r := range sorted[:min(blamed, len(sorted))] {
		names = append(names, fmt.Sprintf("%s (%s)", r.Name, size(len(r.Content))))
	}
	return strings.Join(names, ", ")
}

// tooMuch says so before the files are even compressed.
func tooMuch(shown string, files []content.File) error {
	all := make([]fleet.BundleResource, 0, len(files))
	for _, f := range files {
		all = append(all, fleet.BundleResource{Name: f.Name, Content: string(f.Data)})
	}
	return fmt.Errorf("%s: %w: its files have more than %s; the biggest are %s; %s",
		shown, ErrTooLarge, size(MaxRead), biggest(all), remedy)
}

func tooManyFiles(shown string) error {
	return fmt.Errorf("%s: %w: a bundle has at most %d files; %s", shown, ErrTooLarge, MaxFiles, remedy)
}
