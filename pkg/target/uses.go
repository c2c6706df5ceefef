package target

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"hash/maphash"
	"maps"
	"reflect"
	"slices"
)

// Keys are the keys of a map that something depends on.
type Keys struct {
	// Any is true when every key counts, and which there are.
	Any bool
	// Named ones count otherwise.
	Named map[string]bool
}

func (k *Keys) add(key string) {
	if k.Named == nil {
		k.Named = map[string]bool{}
	}
	k.Named[key] = true
}

func (k *Keys) join(other Keys) {
	k.Any = k.Any || other.Any
	for key := range other.Named {
		k.add(key)
	}
}

// None is true when no key counts.
func (k Keys) None() bool { return !k.Any && len(k.Named) == 0 }

// Uses says what of a cluster something depends on: where a bundle goes, or what it says
// there.
type Uses struct {
	Labels, Annotations, Claims, Values Keys
	// Name is true when the cluster's name counts.
	Name bool
}

func everythingOf() Uses {
	all := Keys{Any: true}
	return Uses{Labels: all, Annotations: all, Claims: all, Values: all, Name: true}
}

// None is true when every cluster is as good as the others.
func (u Uses) None() bool {
	return !u.Name && u.Labels.None() && u.Annotations.None() && u.Claims.None() && u.Values.None()
}

// And is what either of two uses. Neither changes.
func (u Uses) And(other Uses) Uses {
	var both Uses
	both.join(u)
	both.join(other)
	return both
}

func (u *Uses) join(other Uses) {
	u.Name = u.Name || other.Name
	u.Labels.join(other.Labels)
	u.Annotations.join(other.Annotations)
	u.Claims.join(other.Claims)
	u.Values.join(other.Values)
}

// Affected tells whether a change of one cluster can change where the bundle goes or
// what it says there. nil stands for a cluster that is not there.
func (u Uses) Affected(old, new *Cluster) bool {
	if old == nil || new == nil {
		return old != new
	}
	return u.Name && old.Name != new.Name ||
		differ(u.Labels, old.Labels, new.Labels, sameText) ||
		differ(u.Annotations, old.Annotations, new.Annotations, sameText) ||
		differ(u.Claims, old.Claims, new.Claims, sameText) ||
		differ(u.Values, old.Values, new.Values, sameValue) ||
		u.trouble(old) != u.trouble(new)
}

// trouble is why a cluster has no values, where they count.
func (u Uses) trouble(c *Cluster) string {
	if c.ValuesError == nil || u.Values.None() {
		return ""
	}
	return c.ValuesError.Error()
}

func sameText(a, b string) bool { return a == b }

func sameValue(a, b any) bool { return reflect.DeepEqual(a, b) }

func differ[V any](keys Keys, old, new map[string]V, same func(a, b V) bool) bool {
	if keys.Any {
		return !maps.EqualFunc(old, new, same)
	}
	for key := range keys.Named {
		was, had := old[key]
		is, has := new[key]
		if had != has || !same(was, is) {
			return true
		}
	}
	return false
}

var fingerprintSeed = maphash.MakeSeed()

// Fingerprint is a hash of what of a cluster counts: clusters with the same one are the
// same to the bundle. It is comparable within one process only.
func (u Uses) Fingerprint(c *Cluster) uint64 {
	var h maphash.Hash
	h.SetSeed(fingerprintSeed)
	if u.Name {
		write(&h, c.Name)
	}
	digest(&h, u.Labels, c.Labels)
	digest(&h, u.Annotations, c.Annotations)
	digest(&h, u.Claims, c.Claims)
	digest(&h, u.Values, c.Values)
	write(&h, u.trouble(c))
	return h.Sum64()
}

func digest[V any](h *maphash.Hash, keys Keys, from map[string]V) {
	var names []string
	if keys.Any {
		names = slices.AppendSeq(make([]string, 0, len(from)), maps.Keys(from))
	} else {
		for key := range keys.Named {
			if _, ok := from[key]; ok {
				names = append(names, key)
			}
		}
	}
	slices.SortFunc(names, cmp.Compare)
	write(h, "")
	for _, name := range names {
		write(h, name)
		switch v := any(from[name]).(type) {
		case string:
			write(h, v)
		default:
			// Values come from YAML, which always can be written as JSON.
			data, err := json.Marshal(v)
			if err != nil {
				data = []byte(err.Error())
			}
			write(h, string(data))
		}
	}
}

// write puts the length first, so that two texts are not taken for one.
func write(h *maphash.Hash, s string) {
	var size [8]byte
	binary.LittleEndian.PutUint64(size[:], uint64(len(s)))
	_, _ = h.Write(size[:])
	_, _ = h.WriteString(s)
}
