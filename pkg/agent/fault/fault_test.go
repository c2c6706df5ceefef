package fault

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// asItIs scrubs nothing.
func asItIs(text string) string { return text }

func TestClassify(t *testing.T) {
	kind := schema.GroupKind{Group: "apps", Kind: "Deployment"}
	resource := schema.GroupResource{Resource: "services"}
	// Texts as Helm 3.21 and Kubernetes 1.35 write them.
	tests := map[string]struct {
		err  error
		want Kind
	}{
		"anything else":                {errors.New("connection refused"), Retry},
		"forbidden":                    {apierrors.NewForbidden(resource, "x", errors.New("no")), Retry},
		"missing kind, typed":          {&meta.NoKindMatchError{GroupKind: kind}, Retry},
		"missing kind, text":           {errors.New(`unable to build kubernetes objects from release manifest: resource mapping not found for name: "x" namespace: "" from "": no matches for kind "X" in version "x/v1"`), Retry},
		"webhook":                      {errors.New(`admission webhook "v.example.com" denied the request: X is invalid: no`), Retry},
		"webhook away":                 {errors.New(`Internal error occurred: failed calling webhook "v.example.com"`), Retry},
		"admission policy":             {errors.New(`deployments.apps "x" is invalid: : ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`), Retry},
		"port taken":                   {errors.New(`Service "x" is invalid: spec.ports[0].nodePort: Invalid value: 30000: provided port is already allocated`), Retry},
		"address taken":                {errors.New(`Service "x" is invalid: spec.clusterIPs: Invalid value: ["10.0.0.1"]: failed to allocate IP 10.0.0.1: provided IP is already allocated`), Retry},
		"namespace terminates":         {errors.New(`configmaps "x" is forbidden: unable to create new content in namespace y because it is being terminated`), Retry},
		"object terminates":            {errors.New(`object is being deleted: configmaps "x" already exists`), Retry},
		"another bundle's":             {errors.New(`object of another bundle: ConfigMap y/x belongs to BundleDeployment b: Unable to continue with install: ConfigMap "x" in namespace "y" exists and cannot be imported into the current release: invalid ownership metadata; label validation error`), Retry},
		"release name":                 {errors.New(`release name "A_b": invalid release name, must match regex ^[a-z0-9]([-a-z0-9]*[a-z0-9])?$ and the length must not be longer than 53`), Terminal},
		"release name, in an upgrade":  {errors.New("release name is invalid: A_b"), Terminal},
		"lookup in a template":         {errors.New(`template: c/templates/x.yaml:1:3: executing "c/templates/x.yaml" at <lookup>: error calling lookup: dial tcp`), Retry},
		"kube version":                 {errors.New("chart requires kubeVersion: >=2.0.0 which is incompatible with Kubernetes v1.35.4"), Terminal},
		"another release's":            {errors.New(`Unable to continue with install: ConfigMap "x" in namespace "y" exists and cannot be imported into the current release: invalid ownership metadata; label validation error`), Terminal},
		"values schema":                {errors.New("values don't meet the specifications of the schema(s) in the following chart(s):\nc:\n- at '/x': got string, want integer"), Terminal},
		"a schema that is none":        {errors.New("unable to validate schema: runtime error"), Terminal},
		"YAML of a template":           {errors.New("YAML parse error on c/templates/x.yaml: error unmarshaling JSON"), Terminal},
		"YAML of a document":           {errors.New("error converting YAML to JSON: yaml: line 2: mapping values are not allowed in this context"), Terminal},
		"YAML of a stream":             {errors.New("error parsing : invalid character"), Terminal},
		"template parse":               {errors.New(`parse error at (c/templates/x.yaml:3): function "nope" not defined`), Terminal},
		"template parse without place": {errors.New(`parse error in (c/templates/x.yaml): x`), Terminal},
		"required value":               {errors.New(`execution error at (c/templates/x.yaml:1:3): name is required`), Terminal},
		"template run without place":   {errors.New(`execution error in (c/templates/x.yaml): x`), Terminal},
		"template run":                 {errors.New(`template: c/templates/x.yaml:1:3: executing "c/templates/x.yaml" at <.Values.a.b>: nil pointer evaluating interface {}.b`), Terminal},
		"client-side schema":           {errors.New(`error validating "": error validating data: unknown object type "nil"`), Terminal},
		"client-side schema, short":    {errors.New(`error validating "": x`), Terminal},
		"unknown field":                {errors.New(`unknown field "spec.replica"`), Terminal},
		"wrong type":                   {errors.New(`Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal string`), Terminal},
		"immutable field":              {errors.New(`cannot patch "x" with kind Service: spec.clusterIP: Invalid value: field is immutable`), Terminal},
		"immutable stateful set":       {errors.New(`spec: Forbidden: updates to statefulset spec for fields other than 'replicas' are forbidden`), Terminal},
		"immutable claim":              {errors.New(`spec: Forbidden: spec is immutable after creation except resources.requests`), Terminal},
		"invalid, text":                {errors.New(`cannot patch "x" with kind Deployment: Deployment.apps "x" is invalid: spec.replicas`), Terminal},
		"invalid, typed":               {fmt.Errorf("create: %w", apierrors.NewInvalid(kind, "x", nil)), Terminal},
		"bad request, typed":           {apierrors.NewBadRequest("no"), Terminal},
		"already classified":           {fmt.Errorf("deploy: %w", Terminalf("no")), Terminal},
		"already waiting":              {Waitingf(time.Second, "for values"), Waiting},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := Classify(tc.err, asItIs)
			if KindOf(got) != tc.want {
				t.Errorf("kind %d, want %d", KindOf(got), tc.want)
			}
			if KindOf(Wrap(got, "install")) != tc.want {
				t.Error("the kind is lost when wrapped")
			}
		})
	}
	if Classify(nil, asItIs) != nil || Wrap(nil, "x") != nil {
		t.Error("no error became one")
	}
}

func TestClassifyDropsTheOriginal(t *testing.T) {
	secret := errors.New("hunter2-and-more")
	got := Classify(fmt.Errorf("bad: %w", secret), Scrubber(map[string]any{"password": "hunter2-and-more"}))
	if errors.Is(got, secret) || got.Error() != "bad: ***" {
		t.Errorf("the value is still in the chain: %v", got)
	}
}

func TestRequeue(t *testing.T) {
	plain := errors.New("x")
	tests := map[string]struct {
		err     error
		want    reconcile.Result
		wantErr bool
	}{
		"none":           {nil, reconcile.Result{}, false},
		"terminal":       {Terminalf("x"), reconcile.Result{}, false},
		"waiting":        {Waitingf(time.Minute, "x"), reconcile.Result{RequeueAfter: time.Minute}, false},
		"wrapped":        {Wrap(Waitingf(time.Minute, "x"), "y"), reconcile.Result{RequeueAfter: time.Minute}, false},
		"retry":          {plain, reconcile.Result{}, true},
		"retry, by rule": {Classify(plain, asItIs), reconcile.Result{}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Requeue(tc.err)
			if diff := cmp.Diff(tc.want, got); diff != "" || (err != nil) != tc.wantErr {
				t.Errorf("error %v, %s", err, diff)
			}
		})
	}
}

func TestScrubber(t *testing.T) {
	values := map[string]any{
		"password": "s3cr3t-passphrase",
		"short":    "app",
		"tiny":     "a",
		"port":     int64(30123),
		"on":       true,
		"name":     "web",
		"quoted":   "pa\"ss\\word<x",
		"list":     []any{map[string]any{"key": "line one\nline two of it"}},
	}
	scrub := Scrubber(values, "web")
	tests := map[string]struct{ text, want string }{
		"a long value, anywhere":    {`got "xs3cr3t-passphrasex"`, `got "x***x"`},
		"in base64":                 {"data: czNjcjN0LXBhc3NwaHJhc2U=", "data: ***"},
		"a value as Go quotes it":   {`Invalid value: "pa\"ss\\word<x": no`, `Invalid value: "***": no`},
		"a value as JSON quotes it": {`Invalid value: "pa\"ss\\word\u003cx": no`, `Invalid value: "***": no`},
		"a short value, alone":      {`image "app" is bad`, `image "***" is bad`},
		"a short value in a word":   {"the application app", "the application ***"},
		"a number":                  {"port 30123 and 301234", "port *** and 301234"},
		"known words stay":          {"release web is true", "release web is true"},
		"a line of a longer value":  {"at line two of it", "at ***"},
		"a value of one character":  {"a chart", "a chart"},
		"the short one at the ends": {"app", "***"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := scrub(tc.text); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

func TestCut(t *testing.T) {
	if got := Cut("short", 10); got != "short" {
		t.Error(got)
	}
	if got := Cut("a\xffb", 10); got != "a\ufffdb" {
		t.Errorf("%q", got)
	}
	got := Cut(strings.Repeat("é", 600), 1024)
	if len(got) > 1024 || !utf8.ValidString(got) || !strings.HasSuffix(got, "...") {
		t.Errorf("%d bytes, valid %v", len(got), utf8.ValidString(got))
	}
}
