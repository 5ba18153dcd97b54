package broker_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"netsim/infra/broker"
	"netsim/internal/teststack"
)

// whoami listens by TLS and tells each client the common name of its certificate.
func whoami(t *testing.T, a *teststack.Authority) string {
	t.Helper()
	own := a.Issue("whoami", teststack.Certificate{Name: "server", Hosts: []string{"127.0.0.1"}})
	pair, err := tls.LoadX509KeyPair(own.Cert, own.Key)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(a.File)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(text)
	c := &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert}
	return teststack.Serve(t, c, func(conn net.Conn) {
		if c := conn.(*tls.Conn); c.Handshake() == nil {
			io.WriteString(c, c.ConnectionState().PeerCertificates[0].Subject.CommonName)
		}
	})
}

// TestChangedFilesAreUsed: new connections use changed certificates and authorities. Files
// that cannot be used are counted once, and the former ones stay.
func TestChangedFilesAreUsed(t *testing.T) {
	t.Parallel()
	a := teststack.NewAuthority(t, t.TempDir(), "authority")
	address := whoami(t, a)
	own := a.Issue("client", teststack.Certificate{Name: "first"})
	c, err := broker.New(broker.Config{TLS: &broker.TLS{CA: a.File, Cert: own.Cert, Key: own.Key}, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	name := func() string {
		t.Helper()
		conn, err := c.Dial(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		text, err := io.ReadAll(conn)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	expect := func(want string, reloads, failures int64) {
		t.Helper()
		if got := name(); got != want {
			t.Errorf("the client is %q, want %q", got, want)
		}
		if r := c.Report(); r.Reloads != reloads || r.ReloadFailures != failures {
			t.Errorf("%d reloads and %d failures, want %d and %d", r.Reloads, r.ReloadFailures, reloads, failures)
		}
	}
	expect("first", 0, 0)
	until := time.Now().Add(12 * time.Hour).UTC().Truncate(time.Second)
	a.Issue("client", teststack.Certificate{Name: "second", Until: until})
	expect("second", 1, 0)
	if r := c.Report(); !r.CertUntil.Equal(until) || r.BrokerUntil.IsZero() || r.CAUntil.IsZero() {
		t.Errorf("the report is %+v, want the client certificate until %v", r, until)
	}
	broken := func(path string) {
		t.Helper()
		if err := os.WriteFile(path, []byte("broken"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	broken(own.Key)
	expect("second", 1, 1)
	expect("second", 1, 1)
	if err := c.Check(); err == nil || !strings.Contains(err.Error(), own.Key) {
		t.Errorf("Check says %v, want the key's file in it", err)
	}
	a.Issue("client", teststack.Certificate{Name: "third"})
	expect("third", 2, 1)
	if err := c.Check(); err != nil {
		t.Error(err)
	}
	broken(a.File)
	expect("third", 2, 2)
	if err := os.Remove(own.Cert); err != nil {
		t.Fatal(err)
	}
	expect("third", 2, 3)
}
