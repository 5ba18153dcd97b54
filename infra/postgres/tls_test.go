package postgres_test

import (
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"netsim/cmd/service"
	"netsim/cmd/settings"
	"netsim/internal/servicetest"
	"netsim/internal/teststack"
)

// securePostgres is a PostgreSQL that takes only connections by TLS with a client
// certificate for the user.
type securePostgres struct {
	url       *url.URL // without TLS, by the user who may do everything
	authority *teststack.Authority
	client    teststack.Files
}

func newSecurePostgres(t *testing.T, hosts ...string) *securePostgres {
	t.Helper()
	server := teststack.Start(t, "postgres", t.TempDir(), "--no-sync")
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	admin, err := pgx.Connect(t.Context(), server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(t.Context())
	var data, hba string
	if err := admin.QueryRow(t.Context(), "SELECT current_setting('data_directory'), current_setting('hba_file')").Scan(&data, &hba); err != nil {
		t.Fatal(err)
	}
	a := teststack.NewAuthority(t, t.TempDir(), "authority")
	s := &securePostgres{at, a, a.Issue("client", teststack.Certificate{Name: at.User.Username()})}
	own := a.Issue("server", teststack.Certificate{Name: "server", Hosts: hosts})
	for name, from := range map[string]string{"netsim.ca": a.File, "netsim.crt": own.Cert, "netsim.key": own.Key} {
		give(t, from, filepath.Join(data, name), data)
	}
	if err := os.WriteFile(hba, []byte("hostssl all all all cert\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		"ALTER SYSTEM SET ssl_ca_file = 'netsim.ca'", "ALTER SYSTEM SET ssl_cert_file = 'netsim.crt'",
		"ALTER SYSTEM SET ssl_key_file = 'netsim.key'", "ALTER SYSTEM SET ssl = 'on'", "SELECT pg_reload_conf()",
	} {
		if _, err := admin.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// give copies a file for the user who owns the directory.
func give(t *testing.T, from, to, dir string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, text, 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	owner := info.Sys().(*syscall.Stat_t)
	if err := os.Chown(to, int(owner.Uid), int(owner.Gid)); err != nil {
		t.Fatal(err)
	}
}

// with returns the address with settings of TLS.
func (s *securePostgres) with(settings map[string]string) string {
	u := *s.url
	q := u.Query()
	for name, value := range settings {
		q.Set(name, value)
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// TestEveryConnectionIsSecure runs a service with every role on a PostgreSQL that takes only
// TLS with client certificates: so every session of its pools, locks, leases, notifications
// and jobs has them. What is refused is one sentence without the password.
func TestEveryConnectionIsSecure(t *testing.T) {
	t.Parallel()
	s := newSecurePostgres(t, "127.0.0.1", "localhost")
	full := map[string]string{"sslmode": "verify-full", "sslrootcert": s.authority.File, "sslcert": s.client.Cert, "sslkey": s.client.Key}
	change := func(name, value string) map[string]string {
		changed := map[string]string{}
		for n, v := range full {
			changed[n] = v
		}
		changed[name] = value
		return changed
	}
	stranger := teststack.NewAuthority(t, t.TempDir(), "stranger")
	strange := stranger.Issue("client", teststack.Certificate{Name: s.url.User.Username()})
	mixed := change("sslcert", strange.Cert)
	mixed["sslkey"] = strange.Key
	for name, test := range map[string]struct {
		settings map[string]string
		want     string
	}{
		"without TLS":           {map[string]string{"sslmode": "disable"}, "no pg_hba.conf entry"},
		"without a certificate": {map[string]string{"sslmode": "verify-full", "sslrootcert": s.authority.File}, "certificate"},
		"another authority":     {change("sslrootcert", stranger.File), "certificate signed by unknown authority"},
		"a stranger's key":      {mixed, "certificate"},
	} {
		c := servicetest.Config(t)
		c.Postgres = s.with(test.settings)
		err := service.Run(t.Context(), c, slog.New(slog.DiscardHandler), nil)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
		if password, _ := s.url.User.Password(); err != nil && password != "" && strings.Contains(err.Error(), password) {
			t.Errorf("%s: the password is in %v", name, err)
		}
	}

	p := servicetest.Start(t, func(c *settings.Config) { c.Postgres, c.Partitions = s.with(full), 1 })
	client := p.Service(t, servicetest.NewAccount())
	id := client.Post("/api/v1/workspaces", map[string]any{"name": "w"}).Want(201).Object()["id"]
	client.Eventually("/api/v1/billing/items", func(r servicetest.Reply) bool { return strings.Contains(string(r.Body), fmt.Sprint(id)) })

	db, err := pgx.Connect(t.Context(), p.Config.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(t.Context())
	var sessions, plain int
	if err := db.QueryRow(t.Context(), `SELECT count(*), count(*) FILTER (WHERE NOT ssl OR client_dn IS NULL)
		FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE backend_type = 'client backend'`).Scan(&sessions, &plain); err != nil {
		t.Fatal(err)
	}
	if plain > 0 || sessions < 5 {
		t.Errorf("%d of %d sessions have no TLS with a client certificate", plain, sessions)
	}
}

// TestAnotherHost: verify-full refuses the certificate of another host.
func TestAnotherHost(t *testing.T) {
	t.Parallel()
	s := newSecurePostgres(t, "database.example")
	u := s.with(map[string]string{"sslmode": "verify-full", "sslrootcert": s.authority.File, "sslcert": s.client.Cert, "sslkey": s.client.Key})
	_, err := pgx.Connect(t.Context(), u)
	if err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("got %v", err)
	}
}
