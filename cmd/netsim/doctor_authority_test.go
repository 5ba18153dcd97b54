package main

import (
	"crypto/tls"
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"netsim/infra/doctor"
	"netsim/internal/teststack"
)

// secured returns the URL of a proxy that speaks TLS in front of an HTTP server, with a
// certificate of the authority.
func secured(t *testing.T, a *teststack.Authority, name, base string) string {
	t.Helper()
	own := a.Issue(name, teststack.Certificate{Name: name, Hosts: []string{"127.0.0.1"}})
	pair, err := tls.LoadX509KeyPair(own.Cert, own.Key)
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: target.Scheme, Host: target.Host})
			r.Out.Host = r.In.Host // the signature includes the host
		},
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	})
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // clients refuse the certificate
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL + target.Path
}

// TestAPrivateAuthorityByVariable: the object store and the token issuer are trusted by an
// authority in SSL_CERT_FILE, or in the directory SSL_CERT_DIR, as docs/security.md says,
// and refused without it.
func TestAPrivateAuthorityByVariable(t *testing.T) {
	t.Parallel()
	store, issuer := teststack.Objects(t), teststack.Issuer(t)
	a := teststack.NewAuthority(t, t.TempDir(), "private")
	text, err := os.ReadFile(a.File)
	if err != nil {
		t.Fatal(err)
	}
	directory := t.TempDir()
	if err := os.WriteFile(filepath.Join(directory, "private.pem"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	settings := map[string]string{
		"NETSIM_KAFKA": strings.Join(teststack.Broker(t), ","), "NETSIM_TOPIC_PREFIX": "authority.", "NETSIM_POSTGRES": teststack.Postgres(t), "NETSIM_DATA_DEV": "true",
		"NETSIM_S3_ENDPOINT": secured(t, a, "store", store.Endpoint), "NETSIM_S3_REGION": store.Region, "NETSIM_S3_BUCKET": store.Bucket,
		"NETSIM_S3_ACCESS_KEY": store.AccessKey, "NETSIM_S3_SECRET_KEY": store.SecretKey,
		"NETSIM_OIDC_ISSUER": issuer.URL, "NETSIM_OIDC_JWKS_URL": secured(t, a, "issuer", issuer.JWKSURL), "NETSIM_ROLES": "api,projector",
	}
	for variable, value := range map[string]string{"SSL_CERT_FILE": a.File, "SSL_CERT_DIR": directory, "neither": ""} {
		t.Run(variable, func(t *testing.T) {
			t.Parallel()
			own := map[string]string{variable: value}
			for name, value := range settings {
				own[name] = value
			}
			out, said, _ := doctorBy(t, own, "--json", "--timeout", "10m")
			var answer struct{ Checks []doctor.Row }
			if err := json.Unmarshal([]byte(out), &answer); err != nil {
				t.Fatalf("%v: %s%s", err, out, said)
			}
			rows := map[string]doctor.Row{}
			for _, r := range answer.Checks {
				rows[r.Component+", "+r.Check] = r
			}
			for _, name := range []string{"object store, reachable", "issuer, keys"} {
				r := rows[name]
				if value != "" && r.Status != doctor.OK {
					t.Errorf("with the authority: %+v", r)
				}
				if value == "" && (r.Status != doctor.Fail || !strings.Contains(r.Finding, "unknown authority")) {
					t.Errorf("without the authority: %+v", r)
				}
			}
		})
	}
}
