package template

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// text/template has no types for what goes wrong: these are the texts that are looked at.
var (
	place     = regexp.MustCompile(`(?s)^template: [^:]*:(\d+)(?::\d+)?: (.*)$`)
	executing = regexp.MustCompile(`(?s)^executing "[^"]*" at <(.*?)>: (.*)$`)
	located   = regexp.MustCompile(`:(\d+)(?::\d+)?$`)
	// quoted are the literals of a template, and roots the first names of what it asks for.
	quoted = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|'(?:[^'\\\\]|\\\\.)*'|`[^`]*`")
	roots  = regexp.MustCompile(`(?:^|[\s(|=,])\.(\w+)`)
)

func position(location string) (int, bool) {
	found := located.FindStringSubmatch(location)
	if found == nil {
		return 0, false
	}
	line, err := strconv.Atoi(found[1])
	return line, err == nil
}

// parseError says what is wrong, and quotes nothing: the text need not be meant as a
// template. It can be a password with the delimiter in it.
func parseError(err error) *Error {
	e := &Error{Reason: err.Error()}
	if found := place.FindStringSubmatch(err.Error()); found != nil {
		e.Line, _ = strconv.Atoi(found[1])
		e.Reason = found[2]
	}
	if strings.HasPrefix(e.Reason, "function ") {
		e.Reason = "calls a function that templates do not have; helm.disablePreProcess takes " + left + " as it is"
	}
	e.Reason, _, _ = strings.Cut(e.Reason, ": ")
	e.Reason = strings.NewReplacer("{{", left, "}}", right).Replace(masked(e.Reason))
	e.shorten()
	return e
}

// masked leaves the literals out of a text.
func masked(text string) string { return quoted.ReplaceAllString(text, "…") }

// How long the parts of an error can be, in bytes: it is kept for each of thousands of
// clusters.
const (
	maxExpression = 200
	maxReason     = 1000
)

func (e *Error) shorten() {
	e.Expression, e.Reason = cut(e.Expression, maxExpression), cut(e.Reason, maxReason)
}

func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	// A copy, so that nothing holds the whole text.
	return strings.ToValidUTF8(strings.Clone(text[:most]), "") + "…"
}

// plain are the reasons that quote no value.
var plain = []struct {
	prefix, more string
}{
	{"map has no entry for key ", "; ask with hasKey whether it is there"},
	{"nil data; no entry for key ", "; ask with hasKey whether it is there"},
	{"nil pointer evaluating ", "; ask with hasKey whether it is there"},
	{"can't evaluate field ", ""},
	{"wrong number of args for ", ""},
	{"wrong type for value; ", ""},
	{"invalid value; expected ", ""},
	{"undefined variable: ", ""},
	{"can't give argument to non-function ", ""},
	{"expected ", ""},
	{"template ", ""},
	{"error calling index: ", ""},
	{"error calling len: ", ""},
	{"error calling eq: incompatible types", ""},
	{"error calling ne: incompatible types", ""},
	{"error calling lt: incompatible types", ""},
	{"error calling le: incompatible types", ""},
	{"error calling gt: incompatible types", ""},
	{"error calling ge: incompatible types", ""},
}

// others are said in our words.
var others = []struct{ prefix, text string }{
	{"range can't iterate over ", "range does not loop over this: it takes lists, dicts and numbers"},
	{"if/with can't use ", "if and with cannot decide by this"},
}

// executeError says what went wrong with this data. What a template asks for is named if
// that begins with a name that templates know; other words can be a part of a value.
func executeError(err error, data map[string]any) *Error {
	var limit limitError
	var failed failure
	e := &Error{Reason: "cannot be evaluated"}
	reason := ""
	if found := place.FindStringSubmatch(err.Error()); found != nil {
		e.Line, _ = strconv.Atoi(found[1])
		if at := executing.FindStringSubmatch(found[2]); at != nil {
			e.Expression, reason = at[1], at[2]
		}
	}
	e.Expression = strings.ReplaceAll(e.Expression, " | "+showName, "")
	if strings.HasPrefix(e.Expression, "fleet") {
		// It is ours, where a loop or a template begins.
		e.Expression = ""
	}
	known := asksKnown(e.Expression, data)
	if e.Expression = masked(e.Expression); !known {
		e.Expression = ""
	}
	switch {
	case errors.As(err, &limit):
		e.Reason = limit.Error()
	case errors.As(err, &failed):
		e.Reason = "fails: " + failed.Error()
	case !known && strings.Contains(reason, "no entry for key "):
		e.Reason = "asks for a key that is not there; templates know " + strings.Join(slices.Sorted(maps.Keys(data)), ", ")
	case reason != "":
		e.Reason = reasonOf(reason)
	}
	e.shorten()
	return e
}

func asksKnown(expression string, data map[string]any) bool {
	for _, found := range roots.FindAllStringSubmatch(expression, -1) {
		if _, ok := data[found[1]]; !ok {
			return false
		}
	}
	return true
}

func reasonOf(reason string) string {
	for _, p := range plain {
		if strings.HasPrefix(reason, p.prefix) {
			return reason + p.more
		}
	}
	for _, o := range others {
		if strings.HasPrefix(reason, o.prefix) {
			return o.text
		}
	}
	if fn, _, ok := strings.Cut(strings.TrimPrefix(reason, "error calling "), ":"); ok && strings.HasPrefix(reason, "error calling ") {
		return fn + " does not take what it is given"
	}
	return "cannot be evaluated"
}
