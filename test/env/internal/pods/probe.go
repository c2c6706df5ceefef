package pods

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"open-cluster-management.io/fleet-addon/test/env/internal/process"
)

// probeEvery is the readiness probe's period; tests should not wait for the usual ten seconds. Three failures in a row
// make a ready container unready.
const (
	probeEvery     = 500 * time.Millisecond
	probeTimeout   = time.Second
	probeTolerance = 3
)

var probeClient = &http.Client{Timeout: probeTimeout, Transport: &http.Transport{
	DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // as a kubelet probes
}}

// probe keeps c.ready as the readiness probe says until the process ends or stop is called.
func (c *Container) probe(p *process.Process) (stop func()) {
	ctx, cancel := context.WithCancel(c.pod.ctx)
	if c.spec.ReadinessProbe == nil {
		return cancel
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(probeEvery)
		defer ticker.Stop()
		failures := 0
		for {
			select {
			case <-p.Done():
				return
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			if c.probeOnce(ctx) {
				failures = 0
				c.setReady(true)
			} else if failures++; failures >= probeTolerance {
				c.setReady(false)
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

func (c *Container) setReady(ready bool) {
	c.mu.Lock()
	changed := c.ready != ready
	c.ready = ready
	c.mu.Unlock()
	if changed {
		c.pod.changed()
	}
}

func (c *Container) probeOnce(ctx context.Context) bool {
	probe := c.spec.ReadinessProbe
	switch {
	case probe.HTTPGet != nil:
		scheme := "http"
		if probe.HTTPGet.Scheme == corev1.URISchemeHTTPS {
			scheme = "https"
		}
		url := fmt.Sprintf("%s://%s%s", scheme, c.address(probe.HTTPGet.Port), probe.HTTPGet.Path)
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return false
		}
		response, err := probeClient.Do(request)
		if err != nil {
			return false
		}
		response.Body.Close()
		return response.StatusCode >= 200 && response.StatusCode < 400
	case probe.TCPSocket != nil:
		conn, err := net.DialTimeout("tcp", c.address(probe.TCPSocket.Port), probeTimeout)
		if err != nil {
			return false
		}
		return conn.Close() == nil
	}
	return true // exec and grpc probes are not supported
}

// address is where a port of the container is on this machine.
func (c *Container) address(port intstr.IntOrString) string {
	number := port.IntValue()
	for _, named := range c.spec.Ports {
		if port.Type == intstr.String && named.Name == port.StrVal {
			number = int(named.ContainerPort)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if address, ok := c.moved.byPort[number]; ok {
		return address
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(number))
}
