package bundle

import (
	"context"
	"k8s.io/utils/clock"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/content"
	"open-cluster-management.io/fleet-addon/pkg/hub/outcome"
	"open-cluster-management.io/fleet-addon/pkg/revision"
)

// fullAPI has everything already, and counts what is deleted.
type fullAPI struct {
	client.Client
	deleted int
}

func (a *fullAPI) Create(_ context.Context, o client.Object, _ ...client.CreateOption) error {
	return apierrors.NewAlreadyExists(schema.GroupResource{Resource: "things"}, o.GetName())
}

func (a *fullAPI) Delete(context.Context, client.Object, ...client.DeleteOption) error {
	a.deleted++
	return nil
}

// TestWhatIsBeingDeletedIsWaitedFor: a finalizer of somebody keeps what a revision
// needs the name of. It is looked at now and then, and not deleted again and again.
func TestWhatIsBeingDeletedIsWaitedFor(t *testing.T) {
	for name, tt := range map[string]struct {
		deleting, ours bool
		want           string
		deleted        int
	}{
		"goes, of this bundle":        {true, true, "waiting 10s", 0},
		"goes, of an earlier one":     {true, false, "waiting 10s", 0},
		"stays, of an earlier one":    {false, false, "waiting 250ms", 1},
		"not in the cache by now yet": {false, true, "waiting 250ms", 0},
	} {
		t.Run(name, func(t *testing.T) {
			f, s, _ := shelved(t)
			now := metav1.Now()
			s.cr.UID, s.secret.Name = "kept", revision.SecretName(s.cr.Name)
			for _, o := range []client.Object{s.cr, s.secret} {
				if tt.deleting {
					o.SetDeletionTimestamp(&now)
					o.SetFinalizers([]string{"example.com/never"})
				}
				if !tt.ours {
					o.GetOwnerReferences()[0].UID = "earlier"
				}
			}
			name, _, _, err := content.Pack(f.bundle.Spec.Resources)
			if err != nil {
				t.Fatal(err)
			}
			rev, err := revision.Of(f.bundle, ownerOf(f), name)
			if err != nil {
				t.Fatal(err)
			}
			rev.Hash = revision.Hash(s.cr)
			api := &fullAPI{}
			r := &Reconciler{Clock: clock.RealClock{}, Live: s, Writer: api}
			if _, err = r.createRevision(context.Background(), f, &memory{}, rev); !says(err, tt.want) || api.deleted != tt.deleted {
				t.Errorf("ControllerRevision: %v, %d deleted", err, api.deleted)
			}
			if tt.ours && !tt.deleting {
				return // The Secret has other values, and goes.
			}
			api.deleted = 0
			if err = r.keepValues(context.Background(), rev.Secret(s.cr), "kept"); !says(err, tt.want) || api.deleted != tt.deleted {
				t.Errorf("Secret: %v, %d deleted", err, api.deleted)
			}
		})
	}
}

func says(err error, text string) bool {
	return err != nil && outcome.Waits(err) && strings.HasPrefix(err.Error(), text)
}
