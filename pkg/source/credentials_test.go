package source

import (
	"encoding/base64"
	"testing"

	"github.com/google/go-cmp/cmp"

	"open-cluster-management.io/fleet-addon/test/servers"
)

func TestReadCredentials(t *testing.T) {
	r := servers.NewRepo(t)
	key := servers.NewSSH(t, r)
	ca := servers.New(t, servers.Options{}).CA
	b64 := base64.StdEncoding.EncodeToString
	tests := map[string]struct {
		data    string
		want    map[string]Credentials
		wantErr []string
	}{
		"nothing":          {data: "", want: map[string]Credentials{}},
		"a path with none": {data: "a: {}\nb:\n", want: map[string]Credentials{"a": {}, "b": {}}},
		"all fields, as Fleet writes them": {
			data: `{"apps/*": {"username": "me", "password": "` + secret + `", "caBundle": "` + b64(ca) + `", "sshPrivateKey": "` + b64(key.PrivateKey) +
				`", "sshKnownHosts": "` + b64([]byte("x")) + `", "insecureSkipVerify": true, "basicHTTP": true}}`,
			want: map[string]Credentials{"apps/*": {
				Username: "me", Password: secret, CABundle: ca, SSHPrivateKey: key.PrivateKey, KnownHosts: []byte("x"),
				InsecureSkipTLSVerify: true, BasicHTTP: true,
			}},
		},
		"names in another case": {data: "a:\n  userName: me\n  password: '1'\n", want: map[string]Credentials{"a": {Username: "me", Password: "1"}}},
		"an alias":              {data: "a: &x\n  username: &me me\n  password: *me\nb: *x\n", want: map[string]Credentials{"a": {Username: "me", Password: "me"}, "b": {Username: "me", Password: "me"}}},
		"a number":              {data: "a:\n  username: me\n  password: 12345\n", wantErr: []string{`path "a"`, "line 3", "password", "quotes"}},
		"an unknown field":      {data: "a:\n  user: " + secret + "\n", wantErr: []string{`path "a"`, "line 2", "unknown", "username, password"}},
		"a field twice":         {data: "a:\n  username: x\n  userName: y\n", wantErr: []string{`path "a"`, "line 3", "twice"}},
		"a path twice":          {data: "a: {}\na: {}\n", wantErr: []string{`path "a"`, "line 2", "twice"}},
		"no base64":             {data: "a:\n  caBundle: " + secret + "\n", wantErr: []string{`path "a"`, "line 2", "caBundle", "base64"}},
		"a bundle without PEM":  {data: "a:\n  caBundle: eA==\n", wantErr: []string{`path "a"`, "PEM"}},
		"no boolean":            {data: "a:\n  basicHTTP: " + secret + "\n", wantErr: []string{`path "a"`, "line 2", "basicHTTP", "true or false"}},
		"a username alone":      {data: "a:\n  username: " + secret + "\n", wantErr: []string{`path "a"`, "no password"}},
		"a text":                {data: secret, wantErr: []string{"map of paths"}},
		"a text for a path":     {data: "a: " + secret, wantErr: []string{`path "a"`, "line 1", "map of username"}},
		"no YAML":               {data: "a:\n  password: *" + secret + "\n", wantErr: []string{"no YAML"}},
		"YAML that breaks off":  {data: "a:\n\tpassword: " + secret + "\n", wantErr: []string{"no YAML", "line 2"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ReadCredentials([]byte(tc.data))
			if tc.wantErr != nil {
				wantError(t, err, tc.wantErr...)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
