package publisher

import (
	"encoding/binary"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"netsim/internal/testwait"
)

// The requests of a session, by their keys in Kafka's protocol.
const (
	keyProduce          = 0
	keyInitProducerID   = 22
	keyAddPartitionsTxn = 24
	keyAddOffsetsTxn    = 25
	keyEndTxn           = 26
	keyTxnOffsetCommit  = 28
)

// faulty is the network of a publisher. At a request, or at its answer, it breaks for
// good, as when the process is killed, or stands still until it is released, as when the
// process is suspended.
type faulty struct {
	t       *testing.T
	key     int16
	nth     int // which request with the key, from 1
	answer  bool
	suspend bool

	mu       sync.Mutex
	seen     int
	tripped  chan struct{} // closed when the fault has happened
	released chan struct{} // closed by release
	conns    []net.Conn
}

func newFaulty(t *testing.T, key int16, nth int, answer, suspend bool) *faulty {
	return &faulty{t: t, key: key, nth: nth, answer: answer, suspend: suspend, tripped: make(chan struct{}), released: make(chan struct{})}
}

var errKilled = errors.New("the process is killed")

func (f *faulty) release() { close(f.released) }

func (f *faulty) happened() bool {
	select {
	case <-f.tripped:
		return true
	default:
		return false
	}
}

// pass returns when bytes may pass, or an error when never again.
func (f *faulty) pass() error {
	if !f.happened() {
		return nil
	}
	if !f.suspend {
		return errKilled
	}
	testwait.Gate(f.t, f.released)
	return nil
}

// trip makes the fault happen.
func (f *faulty) trip() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.happened() {
		return
	}
	close(f.tripped)
	if !f.suspend {
		for _, c := range f.conns {
			c.Close()
		}
	}
}

func (f *faulty) dial(network, address string) (net.Conn, error) {
	if err := f.pass(); err != nil {
		return nil, err
	}
	c, err := net.DialTimeout(network, address, 5*time.Second)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.conns = append(f.conns, c)
	return &faultyConn{Conn: c, network: f}, nil
}

type faultyConn struct {
	net.Conn
	network *faulty
	due     atomic.Bool // whether the next answer is the fault
}

// Write sends a request, which sarama writes at once.
func (c *faultyConn) Write(request []byte) (int, error) {
	f := c.network
	if err := f.pass(); err != nil {
		return 0, err
	}
	if len(request) >= 6 && int16(binary.BigEndian.Uint16(request[4:])) == f.key {
		f.mu.Lock()
		f.seen++
		now := f.seen == f.nth
		f.mu.Unlock()
		switch {
		case now && f.answer:
			c.due.Store(true)
		case now:
			f.trip()
			if err := f.pass(); err != nil {
				return 0, err
			}
		}
	}
	return c.Conn.Write(request)
}

// Read receives answers. The one that is due has arrived, so the broker has done what was
// requested.
func (c *faultyConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && c.due.Swap(false) {
		c.network.trip()
	}
	if e := c.network.pass(); e != nil {
		return 0, e
	}
	return n, err
}

// SetReadDeadline implements net.Conn. A suspended process does not see time pass.
func (c *faultyConn) SetReadDeadline(t time.Time) error {
	if c.network.happened() {
		return nil
	}
	return c.Conn.SetReadDeadline(t)
}
