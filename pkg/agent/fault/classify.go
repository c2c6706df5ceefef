package fault

import (
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
)

// rule recognises an error that has lost its type on the way through Helm: all
// of the texts stand in it.
type rule struct {
	texts []string
	kind  Kind
}

// rules are looked at in order, the first that matches counts. Helm joins the
// errors of an upgrade into one text and formats most others, so that texts are
// all there is. Each row has a test.
var rules = []rule{
	// Admission can change its mind without a change of the bundle, and it answers
	// with any code, Invalid too.
	{[]string{"admission webhook", "denied the request"}, Retry},
	{[]string{"failed calling webhook"}, Retry},
	{[]string{"ValidatingAdmissionPolicy", "denied request"}, Retry},
	// Ports and addresses become free, and namespaces finish terminating.
	{[]string{"provided port is already allocated"}, Retry},
	{[]string{"provided IP is already allocated"}, Retry},
	{[]string{"because it is being terminated"}, Retry},
	{[]string{"object is being deleted"}, Retry},
	{[]string{"object of another bundle"}, Retry},
	// A CRD that comes later.
	{[]string{"no matches for kind"}, Retry},
	// A template may ask the API server, which may be away.
	{[]string{"error calling lookup"}, Retry},

	{[]string{"chart requires kubeVersion"}, Terminal},
	{[]string{"invalid release name"}, Terminal},
	{[]string{"release name is invalid"}, Terminal},
	{[]string{"invalid ownership metadata"}, Terminal},
	{[]string{"values don't meet the specifications of the schema"}, Terminal},
	{[]string{"unable to validate schema"}, Terminal},
	{[]string{"YAML parse error on"}, Terminal},
	{[]string{"error converting YAML to JSON"}, Terminal},
	{[]string{"error parsing "}, Terminal},
	{[]string{"parse error at ("}, Terminal},
	{[]string{"parse error in ("}, Terminal},
	{[]string{"execution error at ("}, Terminal},
	{[]string{"execution error in ("}, Terminal},
	{[]string{"template: ", "executing "}, Terminal},
	{[]string{"error validating data"}, Terminal},
	{[]string{"error validating \"\""}, Terminal},
	{[]string{"unknown field"}, Terminal},
	{[]string{"cannot be handled as a"}, Terminal},
	{[]string{"field is immutable"}, Terminal},
	{[]string{"Forbidden: updates to", "are forbidden"}, Terminal},
	{[]string{"Forbidden: spec is immutable after creation"}, Terminal},
	{[]string{" is invalid: "}, Terminal},
}

// Classify gives an error of Helm or of the API server its kind; one that has a
// kind keeps it. scrub is applied to the text, because both quote what was
// rendered from values; the original error is not kept in the chain for the
// same reason.
func Classify(err error, scrub func(string) string) error {
	if err == nil {
		return nil
	}
	var f *fault
	if errors.As(err, &f) {
		return &fault{kind: f.kind, after: f.after, err: errors.New(scrub(err.Error()))}
	}
	return &fault{kind: kindOf(err), err: errors.New(scrub(err.Error()))}
}

// Wrap puts a sentence before an error and keeps its kind.
func Wrap(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), err)
}

func kindOf(err error) Kind {
	if meta.IsNoMatchError(err) {
		return Retry
	}
	text := err.Error()
	for _, r := range rules {
		if r.matches(text) {
			return r.kind
		}
	}
	if apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) {
		return Terminal
	}
	return Retry
}

func (r rule) matches(text string) bool {
	for _, t := range r.texts {
		if !strings.Contains(text, t) {
			return false
		}
	}
	return true
}
