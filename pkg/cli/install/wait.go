package install

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"open-cluster-management.io/fleet-addon/pkg/agent/health"
	"open-cluster-management.io/fleet-addon/pkg/agent/release"
)

// again is how often objects are looked at beside their events: a kind that the API
// server learns of makes none.
const again = 5 * time.Second

// Wait waits until all objects of a release are ready, and says what it waits for
// whenever that changes. The error says what was not ready when ctx ended.
func (i *Installer) Wait(ctx context.Context, owner string, d release.Deployed) error {
	dyn, err := dynamic.NewForConfig(i.config)
	if err != nil {
		return fmt.Errorf("reach the cluster: %w", err)
	}
	news := make(chan struct{}, 1)
	watcher := health.New(dyn, i.mapper, release.LabelOwner, func(string) {
		select {
		case news <- struct{}{}:
		default:
		}
	})
	watching, stop := context.WithCancel(ctx)
	defer stop()
	go func() { _ = watcher.Start(watching) }()
	watcher.Track(owner, d.Key.Namespace, d.Objects)
	tick := time.NewTicker(again)
	defer tick.Stop()
	said := ""
	for {
		text := missing(watcher.Look(owner))
		if text == "" {
			i.say("ready")
			return nil
		}
		if text != said {
			i.say("waiting for %s", text)
			said = text
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("release %s:%d is deployed and not ready: %s; it stays as it is", d.Key, d.Revision, text)
		case <-news:
		case <-tick.C:
		}
	}
}

// missing is what is not ready, in a line; "" if everything is.
func missing(s health.Summary) string {
	if s.Ready() {
		return ""
	}
	first := s.Listed[0]
	name := first.Kind + " " + first.Name
	if first.Namespace != "" {
		name = first.Kind + " " + first.Namespace + "/" + first.Name
	}
	text := name + ": " + first.State
	if first.Message != "" {
		text += ": " + first.Message
	}
	if more := s.NotReady - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more of %d objects)", more, s.Total)
	}
	return text
}

// list is a list of metadata of a kind.
func list(kind schema.GroupVersionKind) *metav1.PartialObjectMetadataList {
	l := &metav1.PartialObjectMetadataList{}
	l.SetGroupVersionKind(kind)
	return l
}

func secrets() *metav1.PartialObjectMetadataList {
	return list(corev1.SchemeGroupVersion.WithKind("SecretList"))
}
