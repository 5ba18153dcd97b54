//go:build tools

package broker_test

import (
	"os"
	"strings"
	"testing"

	"netsim/cmd/settings"
	"netsim/events"
	"netsim/internal/servicetest"
	"netsim/internal/teststack"
)

// TestAnUnusableCertificateIsCounted: a running service whose client certificate for Kafka
// is replaced by a file that cannot be used counts that in its metrics, although it makes
// no connection. It goes on with the former certificate.
func TestAnUnusableCertificateIsCounted(t *testing.T) {
	t.Parallel()
	s := kafkaStack(t)
	file := "unusable-" + events.NewID("test")
	own := s.Authority.Issue(file, teststack.Certificate{Name: machine})
	way := s.ways()["mutual TLS"]
	p := servicetest.Start(t, way.set, func(c *settings.Config) {
		c.Partitions, c.KafkaCert, c.KafkaKey = 1, own.Cert, own.Key
	})
	counts := func(want string) {
		t.Helper()
		line := `netsim_kafka_credential_failures_total{credential="certificates"} ` + want
		if !strings.Contains(servicetest.Scrape(t, p.Ops), line+"\n") {
			t.Errorf("/metrics has no line %s", line)
		}
	}
	user := p.Service(t, servicetest.NewAccount())
	counts("0")
	usable, err := os.ReadFile(own.Cert)
	if err != nil {
		t.Fatal(err)
	}
	// Renamed in one step: connections in the background must not read half a file.
	replace := func(text []byte) {
		t.Helper()
		if err := os.WriteFile(own.Cert+".new", text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(own.Cert+".new", own.Cert); err != nil {
			t.Fatal(err)
		}
	}
	replace([]byte("broken"))
	counts("1")
	counts("1")
	user.Post("/api/v1/workspaces", map[string]any{"name": "w"}).Want(201)
	replace(usable)
	counts("1")
}
