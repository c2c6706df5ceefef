package pods

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReplacePaths(t *testing.T) {
	mounts := []mount{
		{inside: "/etc/hub", outside: "/pod/volumes/hub"},
		{inside: "/etc/hub/extra/", outside: "/pod/volumes/extra"},
		{inside: "/tmp", outside: "/pod/volumes/tmp"},
	}
	tests := map[string]struct{ text, want string }{
		"a path alone":                         {"/etc/hub", "/pod/volumes/hub"},
		"a file in a flag":                     {"--kubeconfig=/etc/hub/kubeconfig", "--kubeconfig=/pod/volumes/hub/kubeconfig"},
		"the longest mount wins":               {"/etc/hub/extra/a", "/pod/volumes/extra/a"},
		"several in a list":                    {"/etc/hub/a,/tmp/b:/tmp", "/pod/volumes/hub/a,/pod/volumes/tmp/b:/pod/volumes/tmp"},
		"another folder with the same start":   {"/etc/hubble/a", "/etc/hubble/a"},
		"the mount's name inside another path": {"/var/tmp/a", "/var/tmp/a"},
		"nothing to replace":                   {"--leader-elect", "--leader-elect"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := replacePaths(test.text, mounts); got != test.want {
				t.Errorf("want %q, got %q", test.want, got)
			}
		})
	}
}

func TestExpand(t *testing.T) {
	variables := map[string]string{"NAME": "a", "EMPTY": ""}
	tests := map[string]struct{ text, want string }{
		"a known variable":              {"--name=$(NAME)", "--name=a"},
		"an empty one":                  {"[$(EMPTY)]", "[]"},
		"an unknown one stays":          {"$(OTHER)", "$(OTHER)"},
		"an escaped one stays":          {"$$(NAME)", "$(NAME)"},
		"a dollar alone stays":          {"cost: 5$", "cost: 5$"},
		"an open parenthesis stays":     {"$(NAME", "$(NAME"},
		"a shell's variable is no ours": {"$NAME ${NAME}", "$NAME ${NAME}"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := expand(test.text, variables); got != test.want {
				t.Errorf("want %q, got %q", test.want, got)
			}
		})
	}
}

func TestMoveAddresses(t *testing.T) {
	tests := map[string]struct {
		args []string
		want []string
		// wantByPort maps the container's ports to the new addresses.
		wantByPort map[int]string
	}{
		"both addresses move": {
			args:       []string{"manager", "--metrics-bind-address=:8080", "--health-probe-bind-address=:8081"},
			want:       []string{"manager", "--metrics-bind-address=127.0.0.1:1", "--health-probe-bind-address=127.0.0.1:2"},
			wantByPort: map[int]string{8080: "127.0.0.1:1", 8081: "127.0.0.1:2"},
		},
		"the value may be a word of its own": {
			args:       []string{"--health-probe-bind-address", "0.0.0.0:8081", "-v"},
			want:       []string{"--health-probe-bind-address", "127.0.0.1:1", "-v"},
			wantByPort: map[int]string{8081: "127.0.0.1:1"},
		},
		"an address that is off stays off": {
			args:       []string{"--metrics-bind-address=0", "--health-probe-bind-address="},
			want:       []string{"--metrics-bind-address=0", "--health-probe-bind-address="},
			wantByPort: map[int]string{},
		},
		"a flag without its value is left alone": {
			args: []string{"--metrics-bind-address"}, want: []string{"--metrics-bind-address"}, wantByPort: map[int]string{},
		},
		"other flags stay": {
			args: []string{"--bind=:8080"}, want: []string{"--bind=:8080"}, wantByPort: map[int]string{},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			port := 0
			got, moved, err := moveAddresses(test.args, func() (int, error) {
				port++
				return port, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("unexpected arguments (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.wantByPort, moved.byPort); diff != "" {
				t.Errorf("unexpected addresses (-want +got):\n%s", diff)
			}
		})
	}
}

func TestImageName(t *testing.T) {
	tests := map[string]struct{ image, want string }{
		"a name alone":                   {"fleet-addon", "fleet-addon"},
		"a tag":                          {"fleet-addon:v1", "fleet-addon"},
		"a registry with a port":         {"localhost:5000/x/fleet-addon:v1", "fleet-addon"},
		"a registry with a port, no tag": {"localhost:5000/fleet-addon", "fleet-addon"},
		"a digest":                       {"quay.io/x/fleet-addon@sha256:abc", "fleet-addon"},
		"another image":                  {"quay.io/fleet-addon/agent:v1", "agent"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := imageName(test.image); got != test.want {
				t.Errorf("want %q, got %q", test.want, got)
			}
		})
	}
}
