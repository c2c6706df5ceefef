package bundle

import (
	"crypto/md5" //nolint:gosec // names must be the ones that Fleet gives; nothing is protected by them
	"encoding/hex"
	"path"
	"regexp"
	"strings"

	fleet "github.com/rancher/fleet/pkg/apis/fleet.cattle.io/v1alpha1"
)

const (
	// cutDigits of the hash stand behind a name that was too long.
	cutDigits = 5
	// charDigits of the hash stand behind a name that had characters to replace.
	charDigits = 8
	// wholeDigits of the hash are the name where nothing of the text can be used.
	wholeDigits = 24
)

var (
	notInNames = regexp.MustCompile(`[^a-zA-Z0-9-]+`)
	dashes     = regexp.MustCompile(`-+`)
)

// ReleaseName makes a name of any text, mostly of a path: the name of a Bundle, of at
// most 53 characters, so that it can be a Helm release too. Slashes become dashes. A text
// with capitals or with other characters gets 8 digits of its MD5, one that is too long
// is cut and gets 5, and of one without any letter or digit only 24 digits remain. Equal
// texts give equal names, and they are the ones that Fleet gives: dependsOn and labels
// in existing repositories depend on that.
func ReleaseName(text string) string {
	name := strings.ReplaceAll(text, "/", "-")
	if name != strings.ToLower(name) || notInNames.MatchString(name) {
		name += "-" + digits(name, charDigits)
	}
	name = notInNames.ReplaceAllLiteralString(strings.ToLower(name), "-")
	name = strings.Trim(dashes.ReplaceAllLiteralString(name, "-"), "-")
	if name == "" {
		return digits(text, wholeDigits)
	}
	return cut(name)
}

// cut keeps a name within the length of a Helm release, without two dashes in a row.
func cut(name string) string {
	if len(name) <= fleet.MaxHelmReleaseNameLen {
		return name
	}
	head := name[:fleet.MaxHelmReleaseNameLen-cutDigits-1]
	return strings.TrimSuffix(head, "-") + "-" + digits(name, cutDigits)
}

func digits(text string, count int) string {
	sum := md5.Sum([]byte(text)) //nolint:gosec // see the import
	return hex.EncodeToString(sum[:])[:count]
}

// name of the bundle that a place becomes, unless its options say another one.
func (p place) name(prefix string) string {
	text := path.Join(prefix, p.dir)
	if p.options != "" {
		text = path.Join(text, strings.TrimSuffix(p.options, path.Ext(p.options)))
	}
	return ReleaseName(text)
}
