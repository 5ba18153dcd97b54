package service_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"netsim/cmd/settings"
	"netsim/internal/servicetest"
	"netsim/internal/teststack"
)

// frontIssuer is in front of the token endpoint of the development issuer. It counts the
// refreshes, and can delay or refuse them.
type frontIssuer struct {
	discovery string
	refreshes atomic.Int64
	refuse    atomic.Bool                   // as if the refresh token were revoked
	away      atomic.Bool                   // as if the issuer did not work
	held      atomic.Pointer[chan struct{}] // a refresh waits until it is closed
}

func newFrontIssuer(t *testing.T) *frontIssuer {
	t.Helper()
	f := &frontIssuer{}
	at, err := url.Parse(teststack.Issuer(t).URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(at)
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	mux.HandleFunc("GET /discovery", func(w http.ResponseWriter, r *http.Request) {
		answer, err := http.Get(at.String() + "/.well-known/openid-configuration")
		if err != nil {
			t.Error(err)
			return
		}
		defer answer.Body.Close()
		document := map[string]any{}
		if err := json.NewDecoder(answer.Body).Decode(&document); err != nil {
			t.Error(err)
		}
		document["token_endpoint"] = server.URL + "/token"
		if err := json.NewEncoder(w).Encode(document); err != nil {
			t.Error(err)
		}
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		if strings.Contains(string(body), "grant_type=refresh_token") {
			f.refreshes.Add(1)
			if held := f.held.Load(); held != nil {
				select {
				case <-*held:
				case <-r.Context().Done():
				}
			}
			switch {
			case f.away.Load():
				http.Error(w, "no", http.StatusBadGateway)
				return
			case f.refuse.Load():
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusBadRequest)
				io.WriteString(w, `{"error":"invalid_grant"}`) //nolint:errcheck // the service reads it
				return
			}
		}
		r.Host = at.Host
		proxy.ServeHTTP(w, r)
	})
	f.discovery = server.URL + "/discovery"
	return f
}

// hold makes refreshes wait until release is called.
func (f *frontIssuer) hold() (release func()) {
	held := make(chan struct{})
	f.held.Store(&held)
	return func() { f.held.Store(nil); close(held) }
}

func (f *frontIssuer) use(c *settings.Config) { c.ConsoleDiscovery = f.discovery }

// short returns the fields of a user whose access tokens last for these seconds.
func short(seconds, account string) url.Values {
	fields := as("ada", account)
	fields.Set("lifetime", seconds)
	return fields
}

// query runs a statement on the database of the service.
func query[T any](t *testing.T, p *servicetest.Program, sql string, args ...any) (value T) {
	t.Helper()
	db := connected(t, p)
	defer db.Close(context.WithoutCancel(t.Context()))
	if err := db.QueryRow(t.Context(), sql, args...).Scan(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

func connected(t *testing.T, p *servicetest.Program) *pgx.Conn {
	t.Helper()
	db, err := pgx.Connect(t.Context(), p.Config.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	return db
}
