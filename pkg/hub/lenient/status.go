package lenient

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// PatchStatus writes what of the status differs between before and after, two
// versions of the object that key names, and returns the object's new
// resourceVersion. The answer is read without the spec, which need not be readable.
func PatchStatus(ctx context.Context, hub client.StatusClient, kind schema.GroupVersionKind, key client.ObjectKey, before, after client.Object) (string, error) {
	body, err := client.MergeFrom(before).Data(after)
	if err != nil {
		return "", err
	}
	answer := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	answer.SetGroupVersionKind(kind)
	err = hub.Status().Patch(ctx, answer, client.RawPatch(types.MergePatchType, body))
	return answer.ResourceVersion, err
}
