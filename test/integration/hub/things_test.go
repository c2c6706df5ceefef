package hub_test

import (
	"math/rand/v2"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

// opened is when a group was opened for the current revision; zero if it was not.
func opened(record v1alpha1.RolloutRecord, name string) time.Time {
	for _, g := range record.Groups {
		if g.Name == name && g.OpenedAt != nil {
			return g.OpenedAt.Time
		}
	}
	return time.Time{}
}

func policyOf(w *world) *v1alpha1.RolloutPolicy {
	return &v1alpha1.RolloutPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "stages"}}
}

func keyOf(o client.Object) client.ObjectKey { return client.ObjectKeyFromObject(o) }

func keyNamed(name string) client.ObjectKey { return client.ObjectKey{Name: name} }

// noise is text that does not compress well; the same one each time.
func noise(size int) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	random := rand.New(rand.NewPCG(1, 2))
	out := make([]byte, size)
	for i := range out {
		out[i] = letters[random.IntN(len(letters))]
	}
	return string(out)
}
