package template

import (
	"fmt"
	"maps"
	"slices"
	texttemplate "text/template"

	"github.com/Masterminds/sprig/v3"
)

// Why functions of Sprig are missing here.
const (
	whySecret  = "it makes keys or passwords, new ones at each look: keep them in a Secret and name that in helm.valuesFrom" //nolint:gosec // no secret
	whyRandom  = "it gives something new at each look, and the bundle would be deployed for ever"
	whyClock   = "it depends on the clock or the time zone of whoever renders, and the bundle would be deployed for ever"
	whyOutside = "it looks outside of the bundle: use the cluster's labels, annotations, claims or ClusterValues"
	whyHelm    = "it is Helm's: use it in the templates of the chart"
	whyCall    = "there is no function to call in values"
)

// forbidden functions, and why.
var forbidden = map[string]string{
	"env": whyOutside, "expandenv": whyOutside, "getHostByName": whyOutside,
	"include": whyHelm, "tpl": whyHelm, "call": whyCall,
	"now": whyClock, "ago": whyClock, "date": whyClock, "date_in_zone": whyClock, "dateInZone": whyClock,
	"date_modify": whyClock, "dateModify": whyClock, "must_date_modify": whyClock, "mustDateModify": whyClock,
	"htmlDate": whyClock, "htmlDateInZone": whyClock, "toDate": whyClock, "mustToDate": whyClock, "unixEpoch": whyClock,
	"randAlphaNum": whyRandom, "randAlpha": whyRandom, "randAscii": whyRandom, "randNumeric": whyRandom,
	"randInt": whyRandom, "randBytes": whyRandom, "shuffle": whyRandom, "uuidv4": whyRandom,
	"genPrivateKey": whySecret, "derivePassword": whySecret, "buildCustomCert": whySecret, "genCA": whySecret,
	"genCAWithKey": whySecret, "genSelfSignedCert": whySecret, "genSelfSignedCertWithKey": whySecret,
	"genSignedCert": whySecret, "genSignedCertWithKey": whySecret, "bcrypt": whySecret, "htpasswd": whySecret,
	"encryptAES": whySecret, "decryptAES": whySecret,
}

// builtins of text/template that are left as they are: they make nothing new, and `and`
// and `or` are special to it.
var builtins = []string{"and", "or", "not", "index", "len", "eq", "ge", "gt", "le", "lt", "ne"}

// functions that templates can call, beside the builtins.
var functions = allowed()

func allowed() map[string]any {
	out := map[string]any(sprig.TxtFuncMap())
	for name := range forbidden {
		delete(out, name)
	}
	maps.Copy(out, map[string]any{
		// Sprig's give the keys of a map in any order.
		"keys": sortedKeys, "values": sortedValues,
		"fail": func(message string) (string, error) { return "", failure(message) },
		// Those of text/template that write.
		"print": fmt.Sprint, "println": fmt.Sprintln, "printf": fmt.Sprintf,
		"html": texttemplate.HTMLEscaper, "js": texttemplate.JSEscaper, "urlquery": texttemplate.URLQueryEscaper,
	})
	return out
}

// failure is what a template says when it calls fail.
type failure string

func (f failure) Error() string { return string(f) }

func sortedKeys(dicts ...map[string]any) []string {
	var out []string
	for _, dict := range dicts {
		out = append(out, slices.Sorted(maps.Keys(dict))...)
	}
	return out
}

func sortedValues(dict map[string]any) []any {
	out := make([]any, 0, len(dict))
	for _, key := range slices.Sorted(maps.Keys(dict)) {
		out = append(out, dict[key])
	}
	return out
}

// known are all names that a template can be parsed with: the forbidden ones too, so
// that the error can say why.
var known = func() map[string]any {
	out := maps.Clone(functions)
	for name := range forbidden {
		out[name] = func(...any) string { return "" }
	}
	for _, name := range builtins {
		out[name] = func(...any) string { return "" }
	}
	return out
}()
