package cli

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"open-cluster-management.io/fleet-addon/test/servers"
)

// TestApplyFetchesCharts: what the flags say of charts is what their server is told.
func TestApplyFetchesCharts(t *testing.T) {
	const password = "hunter2"
	r := servers.NewRepository(t, servers.Options{Username: "me", Password: password},
		servers.Chart(t, "web", "1.2.0", nil, "templates/a.yaml", "a: b"))
	files := map[string]string{
		"apps/web/fleet.yaml": fmt.Sprintf("helm: {repo: %q, chart: web, version: 1.x}\n", r.URL),
		"password":            password + "\n",
		"ca.pem":              string(r.CA),
		"by-path.yaml": fmt.Sprintf("apps/w*: {username: me, password: %s, caBundle: %s}\n",
			password, base64.StdEncoding.EncodeToString(r.CA)),
	}
	regex := "--helm-repo-url-regex=" + r.URL
	byFlags := []string{"--username=me", "--password-file=password", "--cacerts-file=ca.pem"}
	for name, tc := range map[string]struct {
		args []string
		env  string
		err  string
	}{
		"credentials for all":                 {args: append(byFlags, regex)},
		"the user of the environment":         {args: append(byFlags[1:], regex), env: "me"},
		"credentials of the path":             {args: []string{"--helm-credentials-by-path-file=by-path.yaml", regex}},
		"no certificate that is trusted":      {args: []string{"--username=me", "--password-file=password", regex, "--helm-insecure-skip-tls"}},
		"a server that nobody trusts":         {args: []string{"--username=me", "--password-file=password", regex}, err: "certificate"},
		"a regex that does not match":         {args: append(byFlags, "--helm-repo-url-regex=https://example.com"), err: "401"},
		"credentials that are meant for none": {args: byFlags, err: "401"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("HELM_USERNAME", tc.env)
			out, errOut, err := offline(t, files, "", append([]string{"apply", "-o", "-", "shop", "apps"}, tc.args...)...)
			text := errOut
			if err != nil {
				text += err.Error()
			}
			switch {
			case tc.err == "" && (err != nil || !strings.Contains(out, "/templates/a.yaml")):
				t.Errorf("got %v and %s", err, out)
			case tc.err != "" && (err == nil || !strings.Contains(text, tc.err)):
				t.Errorf("got %v, want %q in it", err, tc.err)
			}
			if strings.Contains(out+text, password) {
				t.Errorf("the password is in %s%s", out, text)
			}
		})
	}
}
