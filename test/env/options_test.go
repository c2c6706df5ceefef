package env

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestStateDir(t *testing.T) {
	t.Setenv("FLEET_ENV_CACHE", "/cache")
	tests := map[string]struct{ name, dir, want string }{
		"a name is a folder in the cache": {name: "e2e", want: "/cache/run/e2e"},
		"a folder wins over the name":     {name: "e2e", dir: "/state", want: "/state"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := StateDir(test.name, test.dir)
			if err != nil || got != test.want {
				t.Errorf("want %s, got %s, %v", test.want, got, err)
			}
		})
	}
}

func TestSocket(t *testing.T) {
	if got := Socket("/state"); got != "/state/control.sock" {
		t.Errorf("the socket is %s, want it in the state directory", got)
	}
	long := "/" + strings.Repeat("d", maxSocketPath)
	got := Socket(long)
	if len(got) > maxSocketPath || filepath.Dir(got) != filepath.Clean(os.TempDir()) {
		t.Errorf("the socket of a long path is %s, want a short one for temporary files", got)
	}
	if got != Socket(long) || got == Socket(long+"d") {
		t.Error("the socket of a long path is not its own")
	}
}

func TestDiffers(t *testing.T) {
	running := Options{Clusters: DefaultClusters(), ClusterSet: "fleet", Lease: time.Minute}
	tests := map[string]struct {
		asked Options
		want  bool
	}{
		"nothing asked for fits anything": {},
		"the same fits":                   {asked: running},
		"other clusters differ":           {asked: Options{Clusters: []ClusterSpec{{Name: "one"}}}, want: true},
		"another lease differs":           {asked: Options{Lease: time.Second}, want: true},
		"another set differs":             {asked: Options{ClusterSet: "other"}, want: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := test.asked.differs(running); got != test.want {
				t.Errorf("want %t, got %t", test.want, got)
			}
		})
	}
}

func TestOwned(t *testing.T) {
	tests := map[string]struct {
		files []string
		want  bool
	}{
		"an empty folder may become a state directory": {want: true},
		"a state directory is one":                     {files: []string{"env.lock", "env.json"}, want: true},
		"a folder with other files is not touched":     {files: []string{"thesis.tex"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, file := range test.files {
				if err := os.WriteFile(filepath.Join(dir, file), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := owned(dir); (err == nil) != test.want {
				t.Errorf("want owned %t, got %v", test.want, err)
			}
		})
	}
}
