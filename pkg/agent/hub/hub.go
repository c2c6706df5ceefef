package hub

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/clock"

	v1alpha1 "open-cluster-management.io/fleet-addon/pkg/apis/v1alpha1"
)

var (
	contents = v1alpha1.GroupVersion.WithResource("contents")
	addOns   = schema.GroupVersionResource{Group: "addon.open-cluster-management.io", Version: "v1beta1", Resource: "managedclusteraddons"}
)

// checkConfig is how often the kubeconfig is looked at. Certificates rotate
// without it: client-go reads the files that it names again by itself.
const checkConfig = 10 * time.Second

// callTimeout bounds one call, so that a hub that does not answer holds no worker.
const callTimeout = 30 * time.Second

// ErrAway is returned while there is no usable kubeconfig for the hub.
var ErrAway = errors.New("the hub is not connected")

// State is what is known of the cluster's own ManagedClusterAddOn.
type State struct {
	// Known is false until it could be read for the first time.
	Known bool
	// Exists is false if there is none.
	Exists bool
	// Deleting is true once it is being deleted: nothing is installed any more.
	Deleting bool
	// KeepBundles is true if nothing is to be uninstalled.
	KeepBundles bool
}

// Local is what the report is made of.
type Local interface {
	// Bundles are the cluster's BundleDeployments, from the cache.
	Bundles(ctx context.Context) ([]v1alpha1.BundleDeployment, error)
	// Left counts BundleDeployments and releases of ours, read live.
	Left(ctx context.Context) (bundles, releases int, err error)
}

// Options of a Hub.
type Options struct {
	// Kubeconfig is the file of the add-on's registration. It may come later, and
	// is read again when it changes.
	Kubeconfig string
	// Cluster is the name of the managed cluster, and its namespace on the hub.
	Cluster string
	// Interval is the shortest time between two reports, Drained excepted.
	Interval time.Duration
	Local    Local
	// Changed is called when the state has changed.
	Changed func()
	Clock   clock.Clock
}

// Hub is the connection. Its methods may be used at the same time.
type Hub struct {
	Options
	wake chan struct{}

	mu     sync.Mutex
	client dynamic.Interface
	state  State
}

// New returns a hub that connects once it is started.
func New(o Options) *Hub {
	return &Hub{Options: o, wake: make(chan struct{}, 1)}
}

// State returns the last known state of the ManagedClusterAddOn.
func (h *Hub) State() State {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.state
}

// Wake tells that what is reported may have changed.
func (h *Hub) Wake() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// Content returns the compressed content of that name as it is stored, and the
// hash that is stored beside it; nothing is verified.
func (h *Hub) Content(ctx context.Context, name string) (gz []byte, sum string, err error) {
	h.mu.Lock()
	client := h.client
	h.mu.Unlock()
	if client == nil {
		return nil, "", ErrAway
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	obj, err := client.Resource(contents).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, "", fmt.Errorf("get Content %s from the hub: %w", name, err)
	}
	text, _, err := unstructured.NestedString(obj.Object, "content")
	if err != nil {
		return nil, "", fmt.Errorf("read Content %s: %w", name, err)
	}
	sum, _, err = unstructured.NestedString(obj.Object, "sha256sum")
	if err != nil {
		return nil, "", fmt.Errorf("read Content %s: %w", name, err)
	}
	gz, err = base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, "", fmt.Errorf("read Content %s: %w", name, err)
	}
	return gz, sum, nil
}

// Start keeps the connection until ctx ends; a kubeconfig that is missing, bad or
// changed is no error.
func (h *Hub) Start(ctx context.Context) error {
	log := logr.FromContextOrDiscard(ctx).WithName("hub")
	ctx = logr.NewContext(ctx, log)
	for ctx.Err() == nil {
		text, config, err := h.load()
		if err != nil {
			log.Info("no usable kubeconfig for the hub, trying again", "file", h.Kubeconfig, "error", err.Error())
			h.sleep(ctx, checkConfig)
			continue
		}
		h.connected(ctx, text, config)
	}
	return nil
}

// NeedLeaderElection is true: only the agent that deploys reports.
func (h *Hub) NeedLeaderElection() bool { return true }

// connected runs one session until the kubeconfig changes.
func (h *Hub) connected(ctx context.Context, text []byte, config *rest.Config) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		logr.FromContextOrDiscard(ctx).Error(err, "bad kubeconfig for the hub", "file", h.Kubeconfig)
		h.sleep(ctx, checkConfig)
		return
	}
	h.mu.Lock()
	h.client = client
	h.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.session(ctx, client)
	}()
	for ctx.Err() == nil {
		h.sleep(ctx, checkConfig)
		if now, _, err := h.load(); err == nil && !bytes.Equal(now, text) {
			logr.FromContextOrDiscard(ctx).Info("the kubeconfig for the hub has changed, connecting anew")
			break
		}
	}
	cancel()
	<-done
}

func (h *Hub) load() ([]byte, *rest.Config, error) {
	text, err := os.ReadFile(h.Kubeconfig)
	if err != nil {
		return nil, nil, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", h.Kubeconfig)
	if err != nil {
		return nil, nil, err
	}
	config.UserAgent = "fleet-agent"
	return text, config, nil
}

func (h *Hub) sleep(ctx context.Context, d time.Duration) {
	timer := h.Clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C():
	}
}

func (h *Hub) observe(obj *unstructured.Unstructured) {
	next := State{Known: true}
	if obj != nil {
		next.Exists = true
		next.Deleting = obj.GetDeletionTimestamp() != nil
		next.KeepBundles = obj.GetAnnotations()[v1alpha1.AnnotationKeepBundles] == "true"
	}
	h.mu.Lock()
	changed := h.state != next
	h.state = next
	h.mu.Unlock()
	if changed {
		h.Changed()
	}
	h.Wake()
}
