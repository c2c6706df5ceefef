package diff

import (
	"cmp"
	"encoding/json"
	"slices"
)

// Cluster is what changes on one cluster.
type Cluster struct {
	Name string
	// From and To are the releases, "namespace/name"; "" for none.
	From, To string
	Changes  []Change
	// Error says why it cannot be told; a whole sentence.
	Error string
}

// Group is clusters on which the same changes.
type Group struct {
	Clusters []string `json:"clusters"`
	From     string   `json:"from,omitempty"`
	To       string   `json:"to,omitempty"`
	Changes  []Change `json:"changes"`
	Error    string   `json:"error,omitempty"`
}

// Differs tells whether anything changes.
func (g *Group) Differs() bool { return len(g.Changes) > 0 || g.From != g.To }

// Groups puts clusters together on which the same changes: those with the most clusters
// first, those on which nothing does last, and clusters by name.
func Groups(clusters []Cluster) ([]Group, error) {
	at := map[string]int{}
	var out []Group
	for _, c := range clusters {
		g := Group{From: c.From, To: c.To, Changes: c.Changes, Error: c.Error}
		same, err := json.Marshal(g)
		if err != nil {
			return nil, err
		}
		i, ok := at[string(same)]
		if !ok {
			i = len(out)
			at[string(same)] = i
			out = append(out, g)
		}
		out[i].Clusters = append(out[i].Clusters, c.Name)
	}
	for i := range out {
		slices.Sort(out[i].Clusters)
	}
	slices.SortStableFunc(out, func(a, b Group) int {
		return cmp.Or(cmp.Compare(rank(&a), rank(&b)), cmp.Compare(len(b.Clusters), len(a.Clusters)), cmp.Compare(a.Clusters[0], b.Clusters[0]))
	})
	return out, nil
}

func rank(g *Group) int {
	switch {
	case g.Error != "":
		return 1
	case g.Differs():
		return 0
	}
	return 2
}
