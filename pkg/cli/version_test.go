package cli

import (
	"runtime/debug"
	"testing"
)

func TestDescribeBuild(t *testing.T) {
	settings := func(of ...debug.BuildSetting) debug.BuildInfo {
		return debug.BuildInfo{GoVersion: "go1.26.0", Main: debug.Module{Version: "(devel)"}, Settings: of}
	}
	cases := map[string]struct {
		info         debug.BuildInfo
		commit, want string
	}{
		"a build that knows nothing": {want: "unknown"},
		"a stamped build": {info: settings(debug.BuildSetting{Key: "vcs.revision", Value: "abc"}, debug.BuildSetting{Key: "vcs.modified", Value: "true"}),
			want: "(devel), commit abc with changes, go1.26.0"},
		"make build":      {info: settings(), commit: "def", want: "(devel), commit def, go1.26.0"},
		"a plain release": {info: debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}, want: "v1.2.3"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := describeBuild(&tc.info, tc.commit); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
