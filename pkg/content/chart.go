package content

import (
	"crypto/sha256"
	"encoding/hex"
)

// ChartDir is the directory inside a bundle that holds a chart from elsewhere, as
// helm.chart, helm.repo and helm.version name it: ".chart/" and the SHA-256 of the three
// with colons between, in hex. Fleet uses the same, so that either can read what the
// other wrote.
func ChartDir(chart, repo, version string) string {
	sum := sha256.Sum256([]byte(chart + ":" + repo + ":" + version))
	return ".chart/" + hex.EncodeToString(sum[:])
}
