// Package teststack gives tests real servers: an embedded Kafka broker or
// Apache Kafka, PostgreSQL, S3 and an OIDC issuer, each run by the netsim-dev
// binary as a child of the test process.
//
// Shared servers are those of the whole run: "netsim-dev test", which make test calls,
// starts them and names them in NETSIM_TEST_SERVERS. Without it, a test process starts its
// own at their first use, and they end when it ends, even after a crash. No TestMain is
// needed:
//
//	brokers := teststack.Broker(t)   // addresses; NETSIM_TEST_KAFKA=apache for Apache Kafka
//	url := teststack.Postgres(t)     // a new, empty database, dropped after the test
//	store := teststack.Objects(t)    // an S3 endpoint, its keys and a new bucket
//	issuer := teststack.Issuer(t)    // an OIDC issuer; issuer.Token(…) mints
//
// All tests of the run share one broker: use topic and group names that no other test
// uses, of any package. The broker creates no topic on demand.
//
// A test that kills or stops its server starts its own server, on disk and with
// fsync:
//
//	p := teststack.Start(t, "broker", t.TempDir())
//	p.Kill()    // kill -9
//	p.Restart() // same data, same address
//
// A test that runs the service or a command in its own process gets the program by
// Netsim. The binaries are built at the first use; NETSIM_DEV_BIN and NETSIM_BIN can name
// others. A server that does not start fails the test; no test is skipped.
package teststack

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"netsim/internal/devpart"
)

// sharedServer is a server that tests share: of the whole run, or of this process.
type sharedServer struct {
	once     sync.Once
	endpoint devpart.Endpoint
	data     string        // its data directory
	process  *devpart.Part // nil if it is of the whole run
	err      error
}

// The shared servers are package variables because all tests of the process use
// them. They start on demand. When the process ends, their standard input is closed,
// which ends them.
var sharedBroker, sharedKafka, sharedPostgres, sharedObjects, sharedIssuer sharedServer

// get starts the server at the first call. Its data is deleted when it ends.
func (s *sharedServer) get(t testing.TB, name string, args ...string) devpart.Endpoint {
	t.Helper()
	s.once.Do(func() {
		var found bool
		if s.endpoint, s.data, found, s.err = ofTheRun(name); found || s.err != nil {
			return
		}
		var dir string
		if dir, s.err = os.MkdirTemp("", "netsim-test-"+name+"-"); s.err != nil {
			return
		}
		if s.err = openToAll(dir); s.err != nil {
			return
		}
		args = append([]string{"--ephemeral"}, args...)
		if s.process, s.err = startProcess(name, dir, args...); s.err == nil {
			s.endpoint, s.data = s.process.Endpoint, dir
		}
	})
	if s.err != nil {
		t.Fatalf("teststack: %v", s.err)
	}
	return s.endpoint
}

// ofTheRun returns the endpoint and the data directory of a server that all packages of
// the run share, if there is one.
func ofTheRun(name string) (at devpart.Endpoint, data string, found bool, err error) {
	file := os.Getenv("NETSIM_TEST_SERVERS")
	if file == "" {
		return at, "", false, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return at, "", false, fmt.Errorf("NETSIM_TEST_SERVERS: %w", err)
	}
	var all map[string]devpart.Endpoint
	if err := json.Unmarshal(text, &all); err != nil {
		return at, "", false, fmt.Errorf("NETSIM_TEST_SERVERS: %s: %w", file, err)
	}
	at, found = all[name]
	return at, filepath.Dir(file), found, nil
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
