package cli_test

import (
	"io"
	"net"
	"net/url"
	"path/filepath"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/tools/clientcmd"
)

// gate is a way to the API server that can be closed: who is in it is thrown out, and
// nobody comes in, as when a network goes away.
type gate struct {
	server, address string
	mu              sync.Mutex
	listener        net.Listener
	connections     []net.Conn
}

// newGate returns an open gate, and a kubeconfig like the given one that goes through it.
func newGate(kubeconfig string) (*gate, string) {
	GinkgoHelper()
	config, err := clientcmd.LoadFromFile(kubeconfig)
	Expect(err).NotTo(HaveOccurred())
	g := &gate{address: "127.0.0.1:0"}
	for _, c := range config.Clusters {
		server, err := url.Parse(c.Server)
		Expect(err).NotTo(HaveOccurred())
		g.server = server.Host
		g.open()
		server.Host = g.address
		c.Server = server.String()
	}
	DeferCleanup(g.close)
	file := filepath.Join(GinkgoT().TempDir(), "gate")
	Expect(clientcmd.WriteToFile(*config, file)).To(Succeed())
	return g, file
}

func (g *gate) open() {
	GinkgoHelper()
	listener, err := net.Listen("tcp", g.address)
	Expect(err).NotTo(HaveOccurred())
	g.mu.Lock()
	defer g.mu.Unlock()
	g.listener, g.address = listener, listener.Addr().String()
	go func() {
		for {
			in, err := listener.Accept()
			if err != nil {
				return
			}
			g.pass(in)
		}
	}()
}

// pass connects one client with the server.
func (g *gate) pass(in net.Conn) {
	out, err := net.Dial("tcp", g.server)
	if err != nil {
		in.Close()
		return
	}
	g.mu.Lock()
	g.connections = append(g.connections, in, out)
	g.mu.Unlock()
	pipe := func(to, from net.Conn) {
		_, _ = io.Copy(to, from)
		to.Close()
	}
	go pipe(in, out)
	go pipe(out, in)
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.listener.Close()
	for _, c := range g.connections {
		c.Close()
	}
	g.connections = nil
}
