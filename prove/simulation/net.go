//go:build faketime

package dst

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// Nothing in the simulated world is locked: the program has one processor, and a
// goroutine is not interrupted until it waits.

// network connects processes with servers. A process reaches each server at an address
// of its own, 10.process.incarnation/256.incarnation%256, so the address says who dials.
type network struct {
	w       *world
	servers map[string]func(*conn) // by port
	links   map[linkKey]*link
	up      map[string]bool // host addresses of running incarnations
	conns   map[*conn]struct{}
}

type linkKey struct {
	process int
	port    string
}

// link is the path between a process and a server. Its state applies to all
// connections on it.
type link struct {
	cut       time.Time     // no connection opens before this time
	toServer  time.Time     // nothing is delivered to the server before this time
	toProcess time.Time     // nothing is delivered to the process before this time
	slow      time.Duration // added to each delivery at random up to this
	slowUntil time.Time
	lossy     time.Time // until then, an answer of the server may be lost with its connection
}

func newNetwork(w *world) *network {
	return &network{w: w, servers: map[string]func(*conn){}, links: map[linkKey]*link{}, up: map[string]bool{}, conns: map[*conn]struct{}{}}
}

func (n *network) link(process int, port string) *link {
	key := linkKey{process, port}
	if n.links[key] == nil {
		n.links[key] = &link{}
	}
	return n.links[key]
}

// hostOf is the address at which an incarnation of a process reaches the servers.
func hostOf(process, incarnation int) string {
	return fmt.Sprintf("10.%d.%d.%d", process, incarnation/256, incarnation%256)
}

func processOf(host string) int {
	parts := strings.Split(host, ".")
	n, _ := strconv.Atoi(parts[1])
	return n
}

type address string

func (a address) Network() string { return "tcp" }
func (a address) String() string  { return string(a) }

// dial replaces net.Dialer.DialContext.
func (n *network) dial(ctx context.Context, to string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(to)
	if err != nil {
		return nil, err
	}
	refused := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Addr: address(to), Err: err} }
	l := n.link(processOf(host), port)
	timer := time.NewTimer(n.w.latency(l))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return nil, refused(ctx.Err())
	}
	serve := n.servers[port]
	if !n.up[host] || serve == nil || n.w.now().Before(l.cut) {
		return nil, refused(errors.New("connection refused"))
	}
	n.w.connected++
	id := n.w.connected
	client, server := &conn{n: n, id: id, host: host, port: port, link: l}, &conn{n: n, id: id, host: host, port: port, link: l, server: true}
	for _, c := range []*conn{client, server} {
		c.wake = make(chan struct{}, 1)
		n.conns[c] = struct{}{}
	}
	client.peer, server.peer = server, client
	go serve(server)
	return client, nil
}

// lostOf is of how many answers one is lost, on a link that loses answers.
const lostOf = 20

var errReset = errors.New("connection reset by peer")

// conn is one end of a connection. Its bytes arrive in order, after a delay.
type conn struct {
	n      *network
	id     int
	host   string
	port   string
	link   *link
	server bool
	peer   *conn

	buf          []byte
	err          error     // of reads once buf is empty
	closed       bool      // by this end
	last         time.Time // when the latest bytes that this end has sent arrive
	wake         chan struct{}
	readBefore   time.Time
	writeBefore  time.Time
	deadlineTick *time.Timer
}

func (c *conn) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// arrival returns when bytes that this end sends now arrive.
func (c *conn) arrival() time.Time {
	at := c.n.w.now().Add(c.n.w.latency(c.link))
	stalled := c.link.toServer
	if c.server {
		stalled = c.link.toProcess
	}
	if at.Before(stalled) { // each connection sends again after a time of its own
		at = stalled.Add(time.Duration(c.n.w.random.Int64N(int64(2 * time.Second))))
	}
	if !at.After(c.last) {
		at = c.last.Add(1)
	}
	c.last = at
	return at
}

func (c *conn) Write(b []byte) (int, error) {
	switch {
	case c.closed:
		return 0, net.ErrClosed
	case c.err != nil && c.err != io.EOF:
		return 0, c.err
	case !c.writeBefore.IsZero() && !c.n.w.now().Before(c.writeBefore):
		return 0, os.ErrDeadlineExceeded
	case c.server && c.n.w.now().Before(c.link.lossy) && c.n.w.random.IntN(lostOf) == 0:
		c.reset()
		return 0, c.err
	}
	sent := append([]byte(nil), b...)
	time.AfterFunc(c.arrival().Sub(c.n.w.now()), func() {
		p := c.peer
		if p.closed || p.err != nil {
			return
		}
		c.n.w.delivered(c, sent)
		p.buf = append(p.buf, sent...)
		p.signal()
	})
	return len(b), nil
}

func (c *conn) Read(b []byte) (int, error) {
	for {
		switch {
		case c.closed:
			return 0, net.ErrClosed
		case !c.readBefore.IsZero() && !c.n.w.now().Before(c.readBefore):
			return 0, os.ErrDeadlineExceeded
		case len(c.buf) > 0:
			n := copy(b, c.buf)
			if c.buf = c.buf[n:]; len(c.buf) == 0 {
				c.buf = nil
			} else {
				c.signal()
			}
			return n, nil
		case c.err != nil:
			return 0, c.err
		}
		<-c.wake
	}
}

// Close ends the connection. What was sent still arrives.
func (c *conn) Close() error {
	if c.closed {
		return net.ErrClosed
	}
	c.closed = true
	delete(c.n.conns, c)
	c.signal()
	time.AfterFunc(c.arrival().Sub(c.n.w.now()), func() { c.peer.end(io.EOF) })
	return nil
}

func (c *conn) end(err error) {
	if c.err == nil && !c.closed {
		c.err = err
		c.signal()
	}
}

// reset breaks the connection for both ends. What is under way is lost.
func (c *conn) reset() {
	for _, end := range []*conn{c, c.peer} {
		end.end(&net.OpError{Op: "read", Net: "tcp", Err: errReset})
		delete(c.n.conns, end)
	}
}

// cut breaks the connection for the process at once. What it has sent still arrives in
// half of the cases.
func (c *conn) cut() {
	if c.n.w.random.IntN(2) == 0 {
		c.reset()
		return
	}
	c.end(&net.OpError{Op: "read", Net: "tcp", Err: errReset})
	delete(c.n.conns, c)
	server := c.peer
	time.AfterFunc(c.arrival().Sub(c.n.w.now()), server.reset)
}

func (c *conn) LocalAddr() net.Addr  { return address(net.JoinHostPort(c.host, "1")) }
func (c *conn) RemoteAddr() net.Addr { return address(net.JoinHostPort(c.host, c.port)) }

func (c *conn) SetDeadline(t time.Time) error {
	c.writeBefore = t
	return c.SetReadDeadline(t)
}

func (c *conn) SetWriteDeadline(t time.Time) error {
	c.writeBefore = t
	return nil
}

func (c *conn) SetReadDeadline(t time.Time) error {
	c.readBefore = t
	if c.deadlineTick != nil {
		c.deadlineTick.Stop()
		c.deadlineTick = nil
	}
	if !t.IsZero() {
		if left := t.Sub(c.n.w.now()); left <= 0 {
			c.signal()
		} else {
			c.deadlineTick = time.AfterFunc(left, c.signal)
		}
	}
	return nil
}

// each calls f for the connections that match, in the order in which they were opened.
func (n *network) each(match func(*conn) bool, f func(*conn)) {
	var found []*conn
	for c := range n.conns {
		if !c.server && match(c) {
			found = append(found, c)
		}
	}
	sortBy(found, func(c *conn) int { return c.id })
	for _, c := range found {
		f(c)
	}
}

func sum(b []byte) uint32 { return crc32.ChecksumIEEE(b) }
