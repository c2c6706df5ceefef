package bundle

import (
	"regexp"
	"strings"
	"testing"
)

func TestReleaseName(t *testing.T) {
	long := strings.Repeat("1234567890", 5)
	tests := map[string]struct{ text, want string }{
		"a name stays":                               {"test-simple", "test-simple"},
		"slashes become dashes":                      {"repo/apps/web", "repo-apps-web"},
		"dashes in a row become one":                 {"a--b///c", "a-b-c"},
		"dashes at the ends go":                      {"/a/", "a"},
		"53 characters stay":                         {long + "123", long + "123"},
		"54 characters are cut":                      {long + "123a", long[:47] + "-fdba4"},
		"64 characters are cut":                      {long + "1234567890123a", long[:47] + "-eb12d"},
		"a cut behind a dash makes no second one":    {long[:46] + "-1234567", long[:46] + "-d0bce"},
		"another character is replaced, with a hash": {"long-name-test-shortpath-with@char", "long-name-test-shortpath-with-char-031bab5e"},
		"two such names differ":                      {"long-name-test-shortpath-with+char", "long-name-test-shortpath-with-char-21c88393"},
		"capitals become small, with a hash":         {"long-name-test-0.App_ ", "long-name-test-0-app-5bf6b3fb"},
		"dots count as other characters":             {"bundle.name.example.com", "bundle-name-example-com-645ef821"},
		"dots, capitals and several dashes":          {"long-name-test--App_-_12.factor", "long-name-test-app-12-factor-0efbac37"},
		"Fleet's documented example":                 {"opni-fleet-examples-fleets-opni-ui-plugin-operator-crd", "opni-fleet-examples-fleets-opni-ui-plugin-opera-021f7"},
		"nothing usable leaves a hash":               {"/", "6666cd76f96956469e7be39d"},
		"no text at all":                             {"", "d41d8cd98f00b204e9800998"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := ReleaseName(tc.text); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

var releaseNames = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,51}[a-z0-9])?$`)

func FuzzReleaseName(f *testing.F) {
	for _, seed := range []string{"", "/", "a/b", "Ünï/cöde", "\xff\xfe", "K", "a--b", strings.Repeat("a-", 40), strings.Repeat("-", 100)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		name := ReleaseName(text)
		if !releaseNames.MatchString(name) {
			t.Errorf("%q became %q", text, name)
		}
		if again := ReleaseName(text); again != name {
			t.Errorf("%q became %q and %q", text, name, again)
		}
	})
}
