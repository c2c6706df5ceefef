package cli

import (
	"context"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

func TestRequestLines(t *testing.T) {
	r := held()
	requests := []v1alpha1.ConfirmationRequest{
		{Reason: v1alpha1.ConfirmSource, Subject: "Default", Message: "the rollout was under RolloutPolicy/p"},
		{Reason: v1alpha1.ConfirmRemovals, Message: "3 of 4 clusters would lose the bundle", Clusters: []string{"a", "b"}, Total: 3},
	}
	want := `Rollout demo/hello, revision abc, waits for a confirmation:

  RolloutSourceChanged Default: the rollout was under RolloutPolicy/p

  RemovalGuard: 3 of 4 clusters would lose the bundle
  Clusters: a, b
  1 more are not listed; they will have to be confirmed after these.
`
	if diff := cmp.Diff(want, strings.Join(requestLines(r, requests), "\n")); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	want = `Confirmed: the rollout goes on under Default.
Confirmed: the bundle is taken off 2 clusters that nothing selects any more.
It counts for revision abc. ` + "`fleetctl rollout status hello -n demo` shows what becomes of it."
	if diff := cmp.Diff(want, strings.Join(confirmedLines(r, requests), "\n")); diff != "" {
		t.Errorf("confirmed (-want +got):\n%s", diff)
	}
}

func TestConfirmations(t *testing.T) {
	r := held()
	mine := v1alpha1.Confirmation{Reason: v1alpha1.ConfirmGroup, Subject: "all/qa", Revision: "abc"}
	request := []v1alpha1.ConfirmationRequest{{Reason: v1alpha1.ConfirmGroup, Subject: "all/qa"}}
	other := func(n int) v1alpha1.Confirmation {
		return v1alpha1.Confirmation{Reason: v1alpha1.ConfirmGroup, Subject: "all/" + strconv.Itoa(n), Revision: "abc"}
	}
	many := make([]v1alpha1.Confirmation, maxConfirmations)
	for i := range many {
		many[i] = other(i)
	}
	cases := map[string]struct{ before, want []v1alpha1.Confirmation }{
		"the first":                       {want: []v1alpha1.Confirmation{mine}},
		"others of this revision stay":    {before: []v1alpha1.Confirmation{other(1)}, want: []v1alpha1.Confirmation{other(1), mine}},
		"those of other revisions go":     {before: []v1alpha1.Confirmation{{Reason: mine.Reason, Subject: mine.Subject, Revision: "old"}}, want: []v1alpha1.Confirmation{mine}},
		"the same is not written twice":   {before: []v1alpha1.Confirmation{mine}, want: []v1alpha1.Confirmation{mine}},
		"the oldest goes when it is full": {before: many, want: append(many[1:len(many):len(many)], mine)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r.Spec.Confirmations = tc.before
			if diff := cmp.Diff(tc.want, confirmations(r, request)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnswer(t *testing.T) {
	for word, want := range map[string]bool{"y\n": true, " YES \n": true, "n\n": false, "\n": false, "": false, "yep\n": false} {
		t.Run(strconv.Quote(word), func(t *testing.T) {
			if got, err := answer(context.Background(), strings.NewReader(word), io.Discard); err != nil || got != want {
				t.Errorf("%v, %v; want %v", got, err, want)
			}
		})
	}
}

func TestAnswerIsNotWaitedForAfterCtrlC(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	never, _ := io.Pipe()
	if agreed, err := answer(ctx, never, io.Discard); agreed || err == nil {
		t.Errorf("%v, %v; want an error", agreed, err)
	}
}
