package writelog_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/internal/testwait"
)

// session is all that a process says to and hears from PostgreSQL, which a test can
// suspend, as SIGSTOP does, or end, as SIGKILL does.
type session struct {
	mu      sync.Mutex
	resumed chan struct{} // closed unless the session is suspended
	dead    bool
	conns   []net.Conn
}

func newSession() *session {
	s := &session{resumed: make(chan struct{})}
	close(s.resumed)
	return s
}

// suspend stops the process wherever it is, until resume is called. Its connections
// stay open.
func (s *session) suspend() (resume func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	resumed := make(chan struct{})
	s.resumed = resumed
	return sync.OnceFunc(func() { close(resumed) })
}

// kill ends the connections, as the kernel does. There are no others afterwards.
func (s *session) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dead = true
	for _, c := range s.conns {
		c.Close()
	}
}

// pool returns a pool like another one, whose connections are of the session.
func (s *session) pool(t *testing.T, like *pgxpool.Pool) *pgxpool.Pool {
	t.Helper()
	c := like.Config().Copy()
	dial := c.ConnConfig.DialFunc
	c.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.dead {
			conn.Close()
			return nil, errors.New("the process is dead")
		}
		s.conns = append(s.conns, conn)
		return suspendable{conn, s, t}, nil
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

type suspendable struct {
	net.Conn
	session *session
	t       *testing.T
}

func (c suspendable) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.await()
	return n, err
}

func (c suspendable) Write(b []byte) (int, error) {
	c.await()
	return c.Conn.Write(b)
}

func (c suspendable) await() {
	c.session.mu.Lock()
	resumed := c.session.resumed
	c.session.mu.Unlock()
	testwait.Gate(c.t, resumed)
}
