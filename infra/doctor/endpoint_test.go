package doctor

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"netsim/infra/auth"
	"netsim/infra/devissuer"
	"netsim/internal/teststack"
)

// serveTLS serves HTTPS with a certificate for the host that is valid for a year, and
// returns the URL and the authority.
func serveTLS(t *testing.T, host string, answer http.HandlerFunc) (string, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "the authority"}, NotBefore: time.Now().Add(-100 * 24 * time.Hour),
		NotAfter: time.Now().Add(3650 * 24 * time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), NotBefore: time.Now().Add(-24 * time.Hour), NotAfter: time.Now().Add(365 * 24 * time.Hour), DNSNames: []string{host},
	}
	signed := func(c *x509.Certificate) []byte {
		der, err := x509.CreateCertificate(rand.Reader, c, authority, &key.PublicKey, key)
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	parsed, err := x509.ParseCertificate(signed(authority))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(parsed)
	server := httptest.NewUnstartedServer(answer)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{signed(leaf)}, PrivateKey: key}}}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL, roots
}

// TestCertificates: a certificate that is valid, ends soon, has ended, has another name or
// is of an unknown authority.
func TestCertificates(t *testing.T) {
	t.Parallel()
	nothing := func(http.ResponseWriter, *http.Request) {}
	_, roots := serveTLS(t, "127.0.0.1", nothing)
	local, localRoots := serveTLS(t, "localhost", nothing)
	const scheme = "https://127.0.0.1"
	named := "https://localhost" + local[len(scheme):]
	at := func(after time.Duration) func() time.Time { return func() time.Time { return time.Now().Add(after) } }
	const day = 24 * time.Hour
	for _, c := range []struct {
		endpoint Endpoint
		status   Status
		words    []string
	}{
		{Endpoint{URL: named, Roots: localRoots, Now: time.Now}, OK, []string{"valid until"}},
		{Endpoint{URL: named, Roots: localRoots, Now: at(350 * day)}, Warn, []string{"days", "renew"}},
		{Endpoint{URL: named, Roots: localRoots, Now: at(366 * day)}, Fail, []string{"and not now", "renew"}},
		{Endpoint{URL: named, Roots: localRoots, Now: at(-2 * day)}, Fail, []string{"and not now", "clock"}},
		{Endpoint{URL: named, Roots: roots, Now: time.Now}, Fail, []string{"is signed by", "the authority"}},
		{Endpoint{URL: local, Roots: localRoots, Now: time.Now}, Fail, []string{"refused", "for this name"}},
		{Endpoint{URL: "https://" + teststack.FreeAddress(t), Now: time.Now}, Fail, []string{"no TLS handshake"}},
	} {
		want(t, run(t, c.endpoint.Certificate(), "certificate"), c.status, c.words...)
	}
	if checks := (Endpoint{URL: "http://host"}).Certificate(); checks != nil {
		t.Errorf("plain HTTP has the checks %v", checks)
	}
}

// TestReachable: an answer is right by its status, and credentials may be refused.
func TestReachable(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, secret, _ := r.BasicAuth(); user != "netsim" || secret != "right" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	t.Cleanup(server.Close)
	e := Endpoint{URL: server.URL, Now: time.Now}
	as := func(secret string) func(*http.Request) {
		return func(r *http.Request) { r.SetBasicAuth("netsim", secret) }
	}
	want(t, e.Reachable(as("right")).Run(t.Context()), OK)
	want(t, e.Reachable(as("wrong")).Run(t.Context()), Fail, "refuses the credentials with status 401")
	want(t, e.Reachable(nil).Run(t.Context()), OK)
	want(t, Endpoint{URL: "http://" + teststack.FreeAddress(t)}.Reachable(nil).Run(t.Context()), Fail, "no answer")
}

// TestConsole: people can log in at the development issuer. What is missing at another one is
// named.
func TestConsole(t *testing.T) {
	t.Parallel()
	at := teststack.Issuer(t)
	healthy := Console{Endpoint{Component: "console", URL: auth.DiscoveryOf(at.URL), Now: time.Now}, at.URL, []string{"openid", "profile", "offline_access"}}
	want(t, run(t, healthy.Checks(), "login"), OK, at.URL)
	document := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, document) })) //nolint:errcheck // the client reads it
	t.Cleanup(server.Close)
	for _, c := range []struct {
		document string
		scopes   []string
		status   Status
		words    string
	}{
		{`nonsense`, nil, Fail, "not JSON"},
		{`{"issuer":"other"}`, nil, Fail, "NETSIM_OIDC_ISSUER"},
		{`{"issuer":"x"}`, nil, Fail, "no authorization"},
		{`{"issuer":"x","authorization_endpoint":"a","token_endpoint":"t","code_challenge_methods_supported":["plain"]}`, nil, Fail, "S256"},
		{`{"issuer":"x","authorization_endpoint":"a","token_endpoint":"t","scopes_supported":["openid"]}`, []string{"openid", "email"}, Warn, "scope email"},
		{`{"issuer":"x","authorization_endpoint":"a","token_endpoint":"t"}`, []string{"openid", "email"}, OK, ""},
	} {
		document = c.document
		broken := Console{Endpoint{Component: "console", URL: server.URL, Now: time.Now}, "x", c.scopes}
		want(t, run(t, broken.Checks(), "login"), c.status, c.words)
	}
	gone := Console{Endpoint: Endpoint{URL: "http://" + teststack.FreeAddress(t), Now: time.Now}}
	want(t, run(t, gone.Checks(), "login"), Fail, "no discovery document")
}

// TestIssuer: the development issuer has only good results. Another issuer's name, other
// algorithms, wrong keys and a wrong clock are named.
func TestIssuer(t *testing.T) {
	t.Parallel()
	at := teststack.Issuer(t)
	at.Token(devissuer.Options{User: "first"}) // makes the first key
	healthy := Issuer{Endpoint{Component: "issuer", URL: at.JWKSURL, Now: time.Now}, at.URL, []string{"ES256", "RS256"}}
	for _, c := range healthy.Checks() {
		want(t, c.Run(t.Context()), OK)
	}
	for _, c := range []struct {
		check  string
		change func(i *Issuer)
		status Status
		words  string
	}{
		{"keys", func(i *Issuer) { i.Algorithms = []string{"EdDSA"} }, Fail, "NETSIM_OIDC_ALGORITHMS"},
		{"keys", func(i *Issuer) { i.URL = at.URL + "/nothing" }, Fail, "NETSIM_OIDC_JWKS_URL"},
		{"discovery", func(i *Issuer) { i.Issuer += "/" }, Fail, "every token is refused"},
		{"discovery", func(i *Issuer) { i.Issuer = at.URL + "/nothing" }, Warn, "no discovery document"},
		{"discovery", func(i *Issuer) { i.URL = at.URL + "/nothing" }, Warn, "NETSIM_OIDC_JWKS_URL"},
		{"clock", func(i *Issuer) { i.Now = func() time.Time { return time.Now().Add(time.Hour) } }, Fail, "behind"},
	} {
		broken := healthy
		c.change(&broken)
		want(t, run(t, broken.Checks(), c.check), c.status, c.words)
	}
}
