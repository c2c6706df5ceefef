package content

import "testing"

func TestChartDir(t *testing.T) {
	tests := map[string]struct{ chart, repo, version, want string }{
		"of a repository": {
			"podinfo", "https://charts.example.com", "6.x",
			".chart/a28a1ebda8e49109481329dab54d0fba54ee888976247e3fe9abdda75d93bebc",
		},
		"of nothing": {"", "", "", ".chart/71546855d6279ef70d20909b292c42c2dcb02cd06bde01485da52d13e304ebf4"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := ChartDir(tc.chart, tc.repo, tc.version); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}
