package hub_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"open-cluster-management.io/fleet-addon/pkg/hub"
)

const (
	settle = 500 * time.Millisecond
	grace  = 2 * time.Second
)

// running is a manager with the hub's controllers, and the writes that it makes.
type running struct {
	writes *writes
	stop   func()
}

// startManager starts the hub's controllers; they stop with the test, or earlier.
func startManager(change ...func(*hub.Options)) *running {
	GinkgoHelper()
	opts := hub.NewOptions()
	opts.SettleTime, opts.RemovalGrace = settle, grace
	for _, c := range change {
		c(opts)
	}
	r := &running{writes: &writes{}}
	own := rest.CopyConfig(cfg)
	own.Wrap(r.writes.wrap)
	scheme, err := hub.NewScheme()
	Expect(err).NotTo(HaveOccurred())
	cacheOptions, err := hub.CacheOptions(own)
	Expect(err).NotTo(HaveOccurred())
	again := true
	mgr, err := ctrl.NewManager(own, manager.Options{
		Scheme: scheme, Cache: cacheOptions,
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: &again},
	})
	Expect(err).NotTo(HaveOccurred())
	Expect(hub.SetupWithManager(mgr, opts)).To(Succeed())

	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer GinkgoRecover()
		defer close(done)
		Expect(mgr.Start(ctx)).To(Succeed())
	}()
	r.stop = sync.OnceFunc(func() {
		cancel()
		Eventually(done).WithTimeout(30 * time.Second).Should(BeClosed())
	})
	DeferCleanup(r.stop)
	Eventually(func() error {
		return hub.Ready(mgr.GetCache())(httptest.NewRequest(http.MethodGet, "/readyz", nil))
	}).WithTimeout(patient).Should(Succeed())
	return r
}

// writes counts the requests that change something.
type writes struct {
	mu   sync.Mutex
	list []string
}

func (w *writes) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		if req.Method != http.MethodGet {
			w.mu.Lock()
			w.list = append(w.list, req.Method+" "+req.URL.Path)
			w.mu.Unlock()
		}
		return next.RoundTrip(req)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// all returns the writes so far whose path contains one of the parts.
func (w *writes) all(parts ...string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for _, line := range w.list {
		for _, part := range parts {
			if strings.Contains(line, part) {
				out = append(out, line)
				break
			}
		}
	}
	return out
}
