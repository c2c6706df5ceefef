package work

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	workv1 "open-cluster-management.io/api/work/v1"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
	"open-cluster-management.io/fleet-addon/pkg/rollout"
)

func fullStatus() v1alpha1.BundleDeploymentStatus {
	return v1alpha1.BundleDeploymentStatus{
		ObservedGeneration: 3, Admission: "token-1", AppliedDeploymentID: "s-1:abc", Applied: true, Ready: true,
		ReadySince: "2026-05-01T12:00:00.000001Z", Soaked: "20s", State: "Ready", Message: "all is well", Release: "web/web:1", Resources: 2,
	}
}

// withFeedback does what the work agent does: it evaluates the work's own paths
// on the object, and leaves out what is not there.
func withFeedback(t *testing.T, w *workv1.ManifestWork, status v1alpha1.BundleDeploymentStatus) *workv1.ManifestWork {
	t.Helper()
	data, err := json.Marshal(status)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		t.Fatal(err)
	}
	config := w.Spec.ManifestConfigs[0]
	var values []workv1.FeedbackValue
	for _, p := range config.FeedbackRules[0].JsonPaths {
		switch v := fields[strings.TrimPrefix(p.Path, ".status.")].(type) {
		case string:
			values = append(values, workv1.FeedbackValue{Name: p.Name, Value: workv1.FieldValue{Type: workv1.String, String: &v}})
		case bool:
			values = append(values, workv1.FeedbackValue{Name: p.Name, Value: workv1.FieldValue{Type: workv1.Boolean, Boolean: &v}})
		case nil:
		default:
			t.Fatalf("path %s is a %T", p.Path, v)
		}
	}
	id := config.ResourceIdentifier
	w.Status.ResourceStatus.Manifests = []workv1.ManifestCondition{
		{ResourceMeta: workv1.ManifestResourceMeta{Kind: "Secret", Resource: "secrets", Name: id.Name + "-values", Namespace: id.Namespace}},
		{ResourceMeta: workv1.ManifestResourceMeta{Ordinal: 1, Group: id.Group, Version: "v1alpha1", Kind: "BundleDeployment",
			Resource: id.Resource, Name: id.Name, Namespace: id.Namespace},
			StatusFeedbacks: workv1.StatusFeedbackResult{Values: values},
			Conditions: []metav1.Condition{
				{Type: workv1.ManifestApplied, Status: metav1.ConditionTrue},
				{Type: workv1.ManifestAvailable, Status: metav1.ConditionTrue, Message: "is available"},
			}},
	}
	return w
}

func read(t *testing.T, w *workv1.ManifestWork) rollout.Work {
	t.Helper()
	got, err := Read(w)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestReadWhatBuildWrote(t *testing.T) {
	d := deployment()
	d.Stamps = rollout.Stamps{AdmittedAt: noon, ReadySeenAt: noon.Add(time.Second), ReadyFor: "a|b|c", SoakedSeenAt: noon.Add(time.Minute),
		Lease: "77", LostSeenAt: noon, WaitSeenAt: noon, Waiting: true, FailedAt: noon, DoneAt: noon, MemberSince: noon}
	w := withFeedback(t, build(t, d), fullStatus())
	shape, err := Shape(d)
	if err != nil {
		t.Fatal(err)
	}
	want := rollout.Work{
		ID: d.ID, Revision: d.Revision, Admission: d.Admission, Place: d.Place, MinSuccessTime: d.MinSuccessTime, Shape: shape, Stamps: d.Stamps,
		Verdict: rollout.Verdict{Admission: "token-1", Applied: true, Ready: true, ReadySince: "2026-05-01T12:00:00.000001Z",
			Soaked: 20 * time.Second, SoakedKnown: true, State: "Ready", Message: "all is well"},
	}
	if diff := cmp.Diff(want, read(t, w)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	stripped, err := Strip(w)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, read(t, stripped.(*workv1.ManifestWork))); diff != "" {
		t.Errorf("after Strip (-want +got):\n%s", diff)
	}
}

func TestReadVerdict(t *testing.T) {
	cases := map[string]struct {
		status  v1alpha1.BundleDeploymentStatus
		without string
		want    rollout.Verdict
	}{
		"an agent that only started": {
			status: v1alpha1.BundleDeploymentStatus{Admission: "token-1", State: "WaitApplied"},
			want:   rollout.Verdict{Admission: "token-1", State: "WaitApplied"}},
		"no agent yet": {status: v1alpha1.BundleDeploymentStatus{}},
		"an earlier admission": {
			status: v1alpha1.BundleDeploymentStatus{Admission: "token-0", Applied: true, Ready: true},
			want:   rollout.Verdict{Admission: "token-0", Applied: true, Ready: true}},
		"soaked for no time": {
			status: v1alpha1.BundleDeploymentStatus{Admission: "token-1", Soaked: "0s"},
			want:   rollout.Verdict{Admission: "token-1", SoakedKnown: true}},
		"soaked that is no duration": {
			status: v1alpha1.BundleDeploymentStatus{Admission: "token-1", Soaked: "soon"},
			want:   rollout.Verdict{Admission: "token-1"}},
		"a terminal error": {
			status: v1alpha1.BundleDeploymentStatus{Admission: "token-1", Terminal: true, Message: "bad"},
			want:   rollout.Verdict{Admission: "token-1", Terminal: true, Message: "bad"}},
		"a dependency": {
			status: v1alpha1.BundleDeploymentStatus{Admission: "token-1", WaitingForDependency: true},
			want:   rollout.Verdict{Admission: "token-1", Waiting: true}},
		"without applied":  {status: fullStatus(), without: "applied"},
		"without ready":    {status: fullStatus(), without: "ready"},
		"without terminal": {status: fullStatus(), without: "terminal"},
		"without waiting":  {status: fullStatus(), without: "waitingForDependency"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := withFeedback(t, build(t, deployment()), tc.status)
			feedback := &w.Status.ResourceStatus.Manifests[1].StatusFeedbacks
			var kept []workv1.FeedbackValue
			for _, v := range feedback.Values {
				if v.Name != tc.without {
					kept = append(kept, v)
				}
			}
			feedback.Values = kept
			if diff := cmp.Diff(tc.want, read(t, w).Verdict); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadVerdictOfAnotherObjectIsNone(t *testing.T) {
	w := withFeedback(t, build(t, deployment()), fullStatus())
	w.Status.ResourceStatus.Manifests[1].ResourceMeta.Name = "stranger"
	if diff := cmp.Diff(rollout.Verdict{}, read(t, w).Verdict); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReadRefused(t *testing.T) {
	applied := func(status metav1.ConditionStatus, generation int64, message string) metav1.Condition {
		return metav1.Condition{Type: workv1.WorkApplied, Status: status, ObservedGeneration: generation, Reason: "AppliedManifestWorkFailed", Message: message}
	}
	cases := map[string]struct {
		condition *metav1.Condition
		manifest  string
		want      string
	}{
		"not tried yet":      {},
		"applied":            {condition: new(applied(metav1.ConditionTrue, 2, "done"))},
		"an old refusal":     {condition: new(applied(metav1.ConditionFalse, 1, "failed")), manifest: "no such type"},
		"with its reason":    {condition: new(applied(metav1.ConditionFalse, 2, "failed")), manifest: "no such type", want: "BundleDeployment b: no such type"},
		"without one":        {condition: new(applied(metav1.ConditionFalse, 2, "failed")), want: "failed"},
		"without any words":  {condition: new(applied(metav1.ConditionFalse, 2, "")), want: "AppliedManifestWorkFailed"},
		"a very long reason": {condition: new(applied(metav1.ConditionFalse, 2, "failed")), manifest: strings.Repeat("é", 1000), want: "BundleDeployment b: " + strings.Repeat("é", 502)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := build(t, deployment())
			w.Generation = 2
			if tc.condition != nil {
				w.Status.Conditions = []metav1.Condition{{Type: workv1.WorkAvailable}, *tc.condition}
			}
			w.Status.ResourceStatus.Manifests = []workv1.ManifestCondition{{
				ResourceMeta: workv1.ManifestResourceMeta{Kind: "BundleDeployment", Name: "b"},
				Conditions:   []metav1.Condition{{Type: workv1.ManifestApplied, Status: metav1.ConditionFalse, Message: tc.manifest}},
			}}
			if got := read(t, w).Refused; got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestReadDamaged(t *testing.T) {
	cases := map[string]struct{ annotation, value string }{
		"no id":                {v1alpha1.AnnotationID, ""},
		"no admission":         {v1alpha1.AnnotationAdmission, ""},
		"no lane":              {v1alpha1.AnnotationLane, ""},
		"no group":             {v1alpha1.AnnotationGroup, ""},
		"a group without #":    {v1alpha1.AnnotationGroup, "dev"},
		"a group that is half": {v1alpha1.AnnotationGroup, "dev#x"},
		"a negative group":     {v1alpha1.AnnotationGroup, "dev#-1"},
		"no state":             {v1alpha1.AnnotationState, ""},
		"bad state":            {v1alpha1.AnnotationState, `{"admittedAt": 7}`},
		"null state":           {v1alpha1.AnnotationState, `null`},
		"no minSuccessTime":    {annotationMinSuccessTime, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := build(t, deployment())
			w.Annotations[tc.annotation] = tc.value
			_, err := Read(w)
			if err == nil || !strings.Contains(err.Error(), "ManifestWork dev/"+w.Name) || !strings.Contains(err.Error(), tc.annotation) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestReadDeleting(t *testing.T) {
	w := build(t, deployment())
	w.DeletionTimestamp = &metav1.Time{Time: noon}
	if !read(t, w).Deleting {
		t.Error("not deleting")
	}
}

func TestGroupNames(t *testing.T) {
	for _, g := range []rollout.GroupKey{{Name: "dev"}, {Name: "(unmatched)", Index: 3}, {Name: "a#b", Index: 12}, {}} {
		got, err := parseGroup(formatGroup(g))
		if err != nil || got != g {
			t.Errorf("%+v came back as %+v, %v", g, got, err)
		}
	}
}

func FuzzReadState(f *testing.F) {
	for _, s := range []string{"", "{}", "null", "[]", `{"admittedAt":"2026-05-01T12:00:00Z"}`, `{"waiting":1}`, "{", `{"lease":"\ud800"}`} {
		f.Add(s, "dev#0", "20s")
	}
	f.Fuzz(func(t *testing.T, state, group, soak string) {
		w, err := Build(deployment())
		if err != nil {
			t.Fatal(err)
		}
		w.Annotations[v1alpha1.AnnotationState] = state
		w.Annotations[v1alpha1.AnnotationGroup] = group
		w.Annotations[annotationMinSuccessTime] = soak
		got, err := Read(w)
		if err != nil {
			if !strings.Contains(err.Error(), "ManifestWork dev/"+w.Name) {
				t.Errorf("error without the work's name: %v", err)
			}
			return
		}
		// What was understood is written the same way again.
		data, err := json.Marshal(got.Stamps)
		if err != nil {
			t.Fatalf("stamps %+v: %v", got.Stamps, err)
		}
		again, err := parseStamps(string(data))
		if err != nil || !cmp.Equal(again, got.Stamps) {
			t.Errorf("%v: %s", err, cmp.Diff(got.Stamps, again))
		}
	})
}

func TestPatches(t *testing.T) {
	stamps, err := StampPatch(rollout.Stamps{DoneAt: noon}, "42")
	if err != nil {
		t.Fatal(err)
	}
	want := `{"metadata":{"resourceVersion":"42","annotations":{"` + v1alpha1.AnnotationState + `":"{\"doneAt\":\"2026-05-01T12:00:00.123456Z\"}"}}}`
	if string(stamps) != want {
		t.Errorf("stamps\n%s, want\n%s", stamps, want)
	}
	w := build(t, deployment())
	update, err := UpdatePatch(w, "")
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Metadata map[string]any             `json:"metadata"`
		Spec     map[string]json.RawMessage `json:"spec"`
	}
	if err := json.Unmarshal(update, &got); err != nil {
		t.Fatal(err)
	}
	if _, ok := got.Metadata["resourceVersion"]; ok {
		t.Errorf("a version stands in %s", update)
	}
	for field, want := range map[string]string{
		"executor":     "null",
		"deleteOption": `{"propagationPolicy":"Foreground","selectivelyOrphans":null,"ttlSecondsAfterFinished":null}`,
	} {
		if string(got.Spec[field]) != want {
			t.Errorf("%s is %s, want %s", field, got.Spec[field], want)
		}
	}
	var spec workv1.ManifestWorkSpec
	data, _ := json.Marshal(got.Spec)
	if err := json.Unmarshal(data, &spec); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(w.Spec, spec); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
}

func TestStrip(t *testing.T) {
	w := withFeedback(t, build(t, deployment()), fullStatus())
	w.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "x"}}
	before, _ := json.Marshal(w)
	got, err := Strip(w)
	if err != nil {
		t.Fatal(err)
	}
	after, _ := json.Marshal(got)
	if strings.Contains(string(after), "s3cret") || strings.Contains(string(after), "is available") || len(after) >= len(before) {
		t.Errorf("%d bytes of %d are left: %s", len(after), len(before), after)
	}
	if again, err := Strip(got); err != nil || cmp.Diff(got, again) != "" {
		t.Errorf("a second time: %v", err)
	}
	if other, err := Strip("something else"); err != nil || other != "something else" {
		t.Errorf("%v, %v", other, err)
	}
}

// A name that Name makes is used in OCM's applied work with a hash before it.
func TestNameLeavesRoom(t *testing.T) {
	if errs := validation.IsDNS1123Subdomain(fmt.Sprintf("%064x-%s", 0, Name(web))); len(errs) > 0 {
		t.Error(errs)
	}
}

func BenchmarkBuild(b *testing.B) {
	d := deployment()
	for b.Loop() {
		if _, err := Build(d); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	w, err := Build(deployment())
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Read(w); err != nil {
			b.Fatal(err)
		}
	}
}
