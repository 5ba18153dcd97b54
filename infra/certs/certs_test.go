package certs_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"netsim/infra/certs"
)

// issue returns a self-signed certificate of localhost.
func issue(t *testing.T, expires time.Time) *tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	text, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotBefore: expires.Add(-24 * time.Hour), NotAfter: expires,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}, &x509.Certificate{SerialNumber: big.NewInt(1)}, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(text)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{text}, PrivateKey: key, Leaf: leaf}
}

// serve starts a server that shows the stored certificate, and returns its URL.
func serve(t *testing.T, shown *atomic.Pointer[tls.Certificate]) string {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }))
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // refused handshakes are part of the test
	server.TLS = &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return shown.Load(), nil }}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL
}

// TestExpiryOfAPeer: the expiry of a server's certificate is reported after a request,
// also if the certificate is refused because it has expired or its issuer is unknown. A
// renewed certificate replaces the earlier one.
func TestExpiryOfAPeer(t *testing.T) {
	t.Parallel()
	soon, later := time.Now().Add(time.Hour).Truncate(time.Second).UTC(), time.Now().Add(2*time.Hour).Truncate(time.Second).UTC()
	past := time.Now().Add(-time.Minute).Truncate(time.Second).UTC()
	roots := x509.NewCertPool()
	var shown atomic.Pointer[tls.Certificate]
	url := serve(t, &shown)
	var seen certs.Expiries
	ask := func() error {
		client := http.Client{Transport: seen.Transport("issuer", &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "localhost"}, DisableKeepAlives: true,
		})}
		reply, err := client.Get(url)
		if err == nil {
			reply.Body.Close()
		}
		return err
	}
	for _, c := range []struct {
		name           string
		expires        time.Time
		trusted, fails bool
	}{
		{"accepted", soon, true, false}, {"renewed", later, true, false}, {"expired", past, true, true}, {"unknown issuer", soon, false, true},
	} {
		own := issue(t, c.expires)
		if c.trusted {
			roots.AddCert(own.Leaf)
		}
		shown.Store(own)
		if err := ask(); (err != nil) != c.fails {
			t.Errorf("%s: the request ends with %v", c.name, err)
		}
		if got := seen.Report(); len(got) != 1 || !got["issuer"].Equal(c.expires) {
			t.Errorf("%s: the report is %v, want the expiry %v", c.name, got, c.expires)
		}
	}
}

// TestOwnCertificates: the earliest expiry of a peer is reported, which can be that of
// the process's own certificate.
func TestOwnCertificates(t *testing.T) {
	t.Parallel()
	own, other := issue(t, time.Now().Add(time.Hour)), issue(t, time.Now().Add(9*time.Hour))
	var seen certs.Expiries
	seen.Observe("kafka", &tls.Config{Certificates: []tls.Certificate{*own}})
	seen.Saw("kafka", "broker-1", other.Leaf)
	if got := seen.Report()["kafka"]; !got.Equal(own.Leaf.NotAfter) {
		t.Errorf("the report is %v, want %v", got, own.Leaf.NotAfter)
	}
}

// TestVerificationStays: the observer keeps a verification of the settings, and a nil
// receiver observes nothing.
func TestVerificationStays(t *testing.T) {
	t.Parallel()
	var seen certs.Expiries
	called := false
	c := &tls.Config{VerifyConnection: func(tls.ConnectionState) error { called = true; return io.EOF }}
	seen.Observe("postgres", c)
	if err := c.VerifyConnection(tls.ConnectionState{}); err != io.EOF || !called {
		t.Errorf("the verification ends with %v, want EOF from the settings' own one", err)
	}
	var none *certs.Expiries
	none.Observe("postgres", &tls.Config{})
	none.Saw("postgres", "db")
	if got := none.Report(); len(got) > 0 {
		t.Errorf("a nil receiver reports %v", got)
	}
}
