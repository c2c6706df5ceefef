package content

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

func TestNeeded(t *testing.T) {
	app, web := types.NamespacedName{Namespace: "team", Name: "app"}, types.NamespacedName{Namespace: "team", Name: "web"}
	tests := map[string]struct {
		do                    func(*Store)
		wantNeeded, wantKnown bool
	}{
		"nobody was looked at":                   {do: func(*Store) {}},
		"one bundle was not looked at":           {do: func(s *Store) { s.Need(app) }},
		"no bundle needs it":                     {do: func(s *Store) { s.Need(app); s.Need(web, "s-2") }, wantKnown: true},
		"one of a bundle's revisions needs it":   {do: func(s *Store) { s.Need(app); s.Need(web, "s-2", "s-1") }, wantNeeded: true, wantKnown: true},
		"the revision that needed it is gone":    {do: func(s *Store) { s.Need(app); s.Need(web, "s-1"); s.Need(web, "s-2") }, wantKnown: true},
		"the bundle that needed it is forgotten": {do: func(s *Store) { s.Need(app); s.Need(web, "s-1"); s.Forget(web) }},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := NewStore(nil, nil)
			tt.do(s)
			needed, known := s.needed("s-1", []types.NamespacedName{app, web})
			if needed != tt.wantNeeded || known != tt.wantKnown {
				t.Errorf("needed %v, known %v; want %v, %v", needed, known, tt.wantNeeded, tt.wantKnown)
			}
		})
	}
}

func TestLostIsToldToThoseWhoNeedIt(t *testing.T) {
	app, web := types.NamespacedName{Namespace: "team", Name: "app"}, types.NamespacedName{Namespace: "team", Name: "web"}
	s := NewStore(nil, nil)
	s.stored["s-1"] = true
	s.Need(app, "s-2", "s-1")
	s.Need(web, "s-2")
	if got := s.lost("s-1"); len(got) != 1 || got[0] != app {
		t.Errorf("told %v, want %v", got, app)
	}
	if got := s.lost("s-1"); got != nil {
		t.Errorf("told %v again", got)
	}
}
