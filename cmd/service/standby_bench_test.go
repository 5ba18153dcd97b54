package service_test

import (
	"io"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"netsim/cmd/settings"
	"netsim/infra/devissuer"
	"netsim/infra/replicas"
	"netsim/internal/servicetest"
	"netsim/internal/teststack"
)

// BenchmarkReads reads a workspace over HTTP: without a token, with a token on the own
// database, and with a token on a standby. All servers are on this machine.
func BenchmarkReads(b *testing.B) {
	primary := teststack.Start(b, "postgres", b.TempDir(), "--replicas", "--no-sync")
	standby := teststack.StartStandby(b, primary, b.TempDir(), "--no-sync")
	begin := func(standbys string) (address, bearer, token string) {
		p := servicetest.StartLogged(b, slog.New(slog.DiscardHandler), func(c *settings.Config) {
			c.Postgres, c.Standbys, c.StandbyMaxLag = primary.URL, standbys, time.Hour
			c.Roles = []string{settings.RoleAPI, settings.RoleProjector}
			if standbys == "" {
				c.Postgres = teststack.Postgres(b)
			}
		})
		account := servicetest.NewAccount()
		made := p.Service(b, account).Post("/api/v1/workspaces", map[string]any{"name": "w"}).Want(201)
		return p.URL + made.Header.Get("Location"), teststack.Issuer(b).Token(devissuer.Options{Service: true, Account: account}), made.Header.Get(replicas.Header)
	}
	read := func(b *testing.B, address, bearer, token string) {
		client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
		b.SetParallelism(16)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, address, http.NoBody)
				if err != nil {
					b.Error(err)
					return
				}
				r.Header.Set("Authorization", "Bearer "+bearer)
				if token != "" {
					r.Header.Set(replicas.Header, token)
				}
				resp, err := client.Do(r)
				if err != nil {
					b.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
				if resp.StatusCode != http.StatusOK {
					b.Errorf("status %d", resp.StatusCode)
					return
				}
			}
		})
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "reads/s")
	}
	own, bearer, token := begin("")
	b.Run("own", func(b *testing.B) { read(b, own, bearer, "") })
	b.Run("own with a token", func(b *testing.B) { read(b, own, bearer, token) })
	address, bearer, token := begin(standby.URL)
	b.Run("standby", func(b *testing.B) { read(b, address, bearer, token) })
}
