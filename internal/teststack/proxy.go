package teststack

import (
	"net"
	"sync"
	"testing"
)

// Proxy forwards connections to a server, and can make the server look down or
// hanging to its clients.
type Proxy struct {
	Addr string // host:port

	target   string
	listener net.Listener
	mu       sync.Mutex
	hanging  chan struct{} // closed when Hang ends; nil while bytes pass
	refusing bool
	conns    map[net.Conn]bool
}

// NewProxy listens for connections to the target, host:port, until the test
// ends.
func NewProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("teststack: %v", err)
	}
	p := &Proxy{Addr: listener.Addr().String(), target: target, listener: listener, conns: map[net.Conn]bool{}}
	go p.accept()
	t.Cleanup(func() {
		listener.Close()
		p.Refuse()
	})
	return p
}

// Hang makes the server look hanging: connections are still accepted, but no byte
// passes on old or new connections.
func (p *Proxy) Hang() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hanging = make(chan struct{})
}

// Refuse closes every connection, old and new.
func (p *Proxy) Refuse() { p.set(true) }

// Heal ends Hang and Refuse. Hanging connections are closed.
func (p *Proxy) Heal() { p.set(false) }

func (p *Proxy) set(refusing bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refusing = refusing
	if p.hanging != nil {
		close(p.hanging)
		p.hanging = nil
	} else if !refusing {
		return // open connections work and stay open
	}
	for conn := range p.conns {
		conn.Close()
	}
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		go p.serve(client)
	}
}

func (p *Proxy) serve(client net.Conn) {
	if !p.open(client) {
		return
	}
	defer p.close(client)
	if !p.passes() {
		return
	}
	server, err := net.Dial("tcp", p.target)
	if err != nil || !p.open(server) {
		return
	}
	defer p.close(server)
	done := make(chan struct{}, 2)
	for _, direction := range [][2]net.Conn{{client, server}, {server, client}} {
		go func() {
			p.pipe(direction[0], direction[1])
			done <- struct{}{}
		}()
	}
	<-done
}

func (p *Proxy) pipe(from, to net.Conn) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 && p.passes() {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// passes reports whether bytes pass. While the proxy hangs, it waits for Heal or
// Refuse and then returns false.
func (p *Proxy) passes() bool {
	p.mu.Lock()
	hanging := p.hanging
	p.mu.Unlock()
	if hanging == nil {
		return true
	}
	<-hanging
	return false
}

func (p *Proxy) open(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refusing {
		conn.Close()
		return false
	}
	p.conns[conn] = true
	return true
}

func (p *Proxy) close(conn net.Conn) {
	conn.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, conn)
}
