// Package teststack gives tests real servers, each run by the netsim-dev binary
// as a child of the test process.
//
// Shared servers are started at their first use in a test process and end with
// it, whichever way it ends; no TestMain is needed:
//
//	brokers := teststack.Broker(t)   // addresses
//	url := teststack.Postgres(t)     // a fresh, empty database, dropped after the test
//
// The broker is one for the whole process: use topic and group names that no
// other test uses. It creates no topic by itself.
//
// A test that hurts its server has one of its own, on disk and with fsync:
//
//	p := teststack.Start(t, "broker", t.TempDir())
//	p.Kill()    // kill -9
//	p.Restart() // same data, same address
//
// The binary is built at the first use; NETSIM_DEV_BIN names one to use
// instead. A server that cannot be had fails the test: nothing is skipped.
package teststack

import (
	"os"
	"sync"
	"testing"
)

// sharedServer is a server that all tests of this process share.
type sharedServer struct {
	once    sync.Once
	process *process
	err     error
}

// The shared servers are package variables because the process is what they
// are shared by; they are started on demand and end when its end closes
// their standard input.
var sharedBroker, sharedPostgres sharedServer

// get starts the server at the first call. Its data is deleted when it ends.
func (s *sharedServer) get(t testing.TB, name string, args ...string) endpoint {
	t.Helper()
	s.once.Do(func() {
		var dir string
		if dir, s.err = os.MkdirTemp("", "netsim-test-"+name+"-"); s.err != nil {
			return
		}
		args = append([]string{"--ephemeral", "--no-sync"}, args...)
		s.process, s.err = startProcess(name, dir, args...)
	})
	if s.err != nil {
		t.Fatalf("teststack: %v", s.err)
	}
	return s.process.endpoint
}

// Broker returns the addresses of the Kafka broker that the tests of this
// process share.
func Broker(t testing.TB) []string {
	t.Helper()
	return []string{sharedBroker.get(t, "broker", "--memory").Addr}
}
