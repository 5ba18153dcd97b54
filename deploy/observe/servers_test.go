//go:build tools

package observe_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func newPace() *time.Ticker { return time.NewTicker(100 * time.Millisecond) }

// gateway is a proxy in front of the object store that refuses some requests.
type gateway struct {
	URL     string
	refuses atomic.Pointer[func(*http.Request) bool] // nil: none
}

func startGateway(t *testing.T, store string) *gateway {
	t.Helper()
	target, err := url.Parse(store)
	if err != nil {
		t.Fatal(err)
	}
	g := &gateway{}
	pass := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host // the signature includes the host
		},
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refuses := g.refuses.Load(); refuses != nil && (*refuses)(r) {
			io.Copy(io.Discard, r.Body) //nolint:errcheck // the client may have gone
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, "<Error><Code>AccessDenied</Code><Message>no</Message></Error>")
			return
		}
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	g.URL = server.URL
	return g
}

// refuse makes the gateway refuse requests with the method, "" for any, whose path
// contains part.
func (g *gateway) refuse(method, part string) {
	refuses := func(r *http.Request) bool {
		return (method == "" || r.Method == method) && strings.Contains(r.URL.Path, part)
	}
	g.refuses.Store(&refuses)
}

func (g *gateway) heal() { g.refuses.Store(nil) }

// registry is a schema registry.
type registry struct {
	URL  string
	down atomic.Bool
}

func startRegistry(t *testing.T) *registry {
	t.Helper()
	r := &registry{}
	var ids sync.Map
	var last atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		subject, registers := strings.CutSuffix(strings.TrimPrefix(q.URL.Path, "/subjects/"), "/versions")
		switch {
		case r.down.Load():
			w.WriteHeader(http.StatusServiceUnavailable)
		case registers:
			id, known := ids.Load(subject)
			if !known {
				id = last.Add(1)
				ids.Store(subject, id)
			}
			fmt.Fprintf(w, `{"id":%d}`, id)
		default:
			fmt.Fprint(w, `{"compatibilityLevel":"FORWARD_TRANSITIVE"}`)
		}
	}))
	t.Cleanup(server.Close)
	r.URL = server.URL
	return r
}

// secureIssuer serves the keys of the token issuer over TLS.
type secureIssuer struct {
	URL   string // of the keys
	roots string // path of a file with the certificate of the authority
	down  atomic.Bool

	t         *testing.T
	server    *httptest.Server
	authority tls.Certificate
	shown     atomic.Pointer[tls.Certificate]
}

func startIssuer(t *testing.T, keys string) *secureIssuer {
	t.Helper()
	i := &secureIssuer{t: t, roots: filepath.Join(t.TempDir(), "roots.pem")}
	i.authority = issue(t, nil, time.Now().AddDate(1, 0, 0))
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.authority.Certificate[0]})
	if err := os.WriteFile(i.roots, text, 0o600); err != nil {
		t.Fatal(err)
	}
	i.renew(90 * 24 * time.Hour)
	u, err := url.Parse(keys)
	if err != nil {
		t.Fatal(err)
	}
	pass := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: u.Scheme, Host: u.Host}) }}
	i.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if i.down.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Connection", "close") // so that each fetch sees the certificate
		pass.ServeHTTP(w, r)
	}))
	i.server.EnableHTTP2 = false
	i.server.TLS = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { // clients of an address name no server
		return &tls.Config{Certificates: []tls.Certificate{*i.shown.Load()}}, nil
	}}
	i.server.StartTLS()
	t.Cleanup(i.server.Close)
	i.URL = i.server.URL + u.Path
	return i
}

// renew makes the server show a certificate that expires after a time.
func (i *secureIssuer) renew(after time.Duration) {
	i.t.Helper()
	shown := issue(i.t, &i.authority, time.Now().Add(after))
	i.shown.Store(&shown)
}

// issue returns a certificate of 127.0.0.1, or of an authority if there is none above.
func issue(t *testing.T, above *tls.Certificate, expires time.Time) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), NotBefore: time.Now().Add(-time.Hour), NotAfter: expires,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature,
	}
	parent, signer := template, any(key)
	if above == nil {
		template.IsCA, template.KeyUsage, template.Subject = true, x509.KeyUsageCertSign, pkix.Name{CommonName: "test authority"}
	} else {
		template.Subject = pkix.Name{CommonName: "issuer"}
		template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
		parent, signer = above.Leaf, above.PrivateKey
	}
	text, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(text)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{text}, PrivateKey: key, Leaf: leaf}
}

// delay is a proxy that can delay what a server answers.
type delay struct {
	URL  string
	late atomic.Int64 // nanoseconds
}

// startDelay starts a proxy in front of the server of a URL.
func startDelay(t *testing.T, base string) *delay {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &delay{}
	var target string
	target, d.URL = hostOf(t, base, listener.Addr().String())
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", target)
			if err != nil {
				client.Close()
				continue
			}
			go d.pipe(server, client, false)
			go d.pipe(client, server, true)
		}
	}()
	return d
}

func (d *delay) pipe(to, from net.Conn, late bool) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if wait := time.Duration(d.late.Load()); late && wait > 0 {
			<-time.After(wait)
		}
		if _, failed := to.Write(buffer[:n]); err != nil || failed != nil {
			return
		}
	}
}
