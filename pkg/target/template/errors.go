package template

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
)

// text/template has no types for what goes wrong: these are the texts that are looked at.
var (
	place     = regexp.MustCompile(`(?s)^template: [^:]*:(\d+)(?::\d+)?: (.*)$`)
	executing = regexp.MustCompile(`(?s)^executing "[^"]*" at <(.*?)>: (.*)$`)
	located   = regexp.MustCompile(`:(\d+)(?::\d+)?$`)
)

func position(location string) (int, bool) {
	found := located.FindStringSubmatch(location)
	if found == nil {
		return 0, false
	}
	line, err := strconv.Atoi(found[1])
	return line, err == nil
}

func parseError(err error) *Error {
	e := &Error{Reason: err.Error()}
	if found := place.FindStringSubmatch(err.Error()); found != nil {
		e.Line, _ = strconv.Atoi(found[1])
		e.Reason = found[2]
	}
	e.Reason = strings.NewReplacer("{{", left, "}}", right).Replace(e.Reason)
	e.shorten()
	return e
}

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

func executeError(err error) *Error {
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
	switch {
	case errors.As(err, &limit):
		e.Reason = limit.Error()
	case errors.As(err, &failed):
		e.Reason = "fails: " + failed.Error()
	case reason != "":
		e.Reason = reasonOf(reason)
	}
	e.shorten()
	return e
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
