package simulate

import (
	"hash/fnv"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/labels"
)

// chance is a number from 0 to below 1 that depends on the seed and the words alone,
// so that nothing random depends on the order in which things are asked.
func chance(seed int64, words ...string) float64 {
	h := fnv.New64a()
	_, _ = h.Write(strconv.AppendInt(nil, seed, 10))
	for _, w := range words {
		_, _ = h.Write([]byte{0})
		_, _ = h.Write([]byte(w))
	}
	// The last bytes reach the high bits of FNV too little: mix once more.
	x := h.Sum64()
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	x ^= x >> 31
	return float64(x>>11) / (1 << 53)
}

// picks tells whether a cluster is meant. words are what the chance depends on beside
// the cluster.
func (p *picker) picks(seed int64, n *node, words ...string) bool {
	switch {
	case p.names != nil && !p.names[n.name]:
		return false
	case p.selector != nil && !p.selector.Matches(labels.Set(n.labels)):
		return false
	}
	return p.share >= 1 || chance(seed, append(words, p.salt, n.name)...) < p.share
}

// fate is how a cluster fares with a revision.
func (s *sim) fate(n *node, revision string) outcome {
	for i := range s.outcomes {
		o := &s.outcomes[i]
		if (o.revisions == nil || o.revisions[revision]) && o.picks(s.seed, n, revision) {
			fate := *o
			fate.after += time.Duration(float64(o.spread) * chance(s.seed, "spread", o.salt, revision, n.name))
			return fate
		}
	}
	return outcome{result: ResultReady, after: defaultAfter}
}
