// Package teststack gives tests real servers: an embedded Kafka broker or
// Apache Kafka, PostgreSQL, S3 and an OIDC issuer, each run by the netsim-dev
// binary as a child of the test process.
//
// Shared servers are started at their first use in a test process and end when that
// process ends, even after a crash. No TestMain is needed:
//
//	brokers := teststack.Broker(t)   // addresses; NETSIM_TEST_KAFKA=apache for Apache Kafka
//	url := teststack.Postgres(t)     // a new, empty database, dropped after the test
//	store := teststack.Objects(t)    // an S3 endpoint, its keys and a new bucket
//	issuer := teststack.Issuer(t)    // an OIDC issuer; issuer.Token(…) mints
//
// All tests of the process share one broker: use topic and group names that no
// other test uses. The broker creates no topic on demand.
//
// A test that kills or stops its server starts its own server, on disk and with
// fsync:
//
//	p := teststack.Start(t, "broker", t.TempDir())
//	p.Kill()    // kill -9
//	p.Restart() // same data, same address
//
// The binary is built at the first use; NETSIM_DEV_BIN can name another binary. A
// server that does not start fails the test; no test is skipped.
package teststack

import (
	"os"
	"sync"
	"testing"

	"netsim/internal/devpart"
)

// sharedServer is a server that all tests of this process share.
type sharedServer struct {
	once    sync.Once
	process *devpart.Part
	err     error
}

// The shared servers are package variables because all tests of the process use
// them. They start on demand. When the process ends, their standard input is closed,
// which ends them.
var sharedBroker, sharedKafka, sharedPostgres, sharedObjects, sharedIssuer sharedServer

// get starts the server at the first call. Its data is deleted when it ends.
func (s *sharedServer) get(t testing.TB, name string, args ...string) devpart.Endpoint {
	t.Helper()
	s.once.Do(func() {
		var dir string
		if dir, s.err = os.MkdirTemp("", "netsim-test-"+name+"-"); s.err != nil {
			return
		}
		if s.err = openToAll(dir); s.err != nil {
			return
		}
		args = append([]string{"--ephemeral"}, args...)
		s.process, s.err = startProcess(name, dir, args...)
	})
	if s.err != nil {
		t.Fatalf("teststack: %v", s.err)
	}
	return s.process.Endpoint
}

// Broker returns the addresses of the Kafka broker that the tests of this process
// share: the embedded broker in memory, or one node of Apache Kafka with
// NETSIM_TEST_KAFKA=apache.
func Broker(t testing.TB) []string {
	t.Helper()
	if BrokerPart() == "kafka" {
		return []string{sharedKafka.get(t, "kafka", "--no-sync", "--jars", kafkaJars(t)).Addr}
	}
	return []string{sharedBroker.get(t, "broker", "--memory").Addr}
}

// BrokerPart returns the name with which Start starts the same kind of broker as
// Broker: "broker", or "kafka" with NETSIM_TEST_KAFKA=apache.
func BrokerPart() string {
	if os.Getenv("NETSIM_TEST_KAFKA") == "apache" {
		return "kafka"
	}
	return "broker"
}
