package readapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/api"
	"netsim/api/contract"
	"netsim/api/contract/contracttest"
	"netsim/events"
	"netsim/infra/auth"
	"netsim/infra/columns"
	"netsim/infra/postgres"
	"netsim/infra/web"
	"netsim/internal/teststack"
	"netsim/projections"
	"netsim/readapi"
)

const (
	mine   = "acct_00000000000000000000000001"
	theirs = "acct_00000000000000000000000002"
	lab    = "workspace_00000000000000000000000001"
)

// billingServer serves the billing API from a read model of the test's facts.
type billingServer struct {
	t      *testing.T
	pool   *pgxpool.Pool
	parts  []projections.Projection
	facts  map[string]int64 // by stream
	caller auth.Caller
	http   *http.Client
	url    string
	logged []string

	openBundle   readapi.OpenBundle
	writeDataset readapi.WriteDataset // nil: that of the service
}

func newBillingServer(t *testing.T) *billingServer {
	t.Helper()
	ctx := t.Context()
	s := &billingServer{t: t, parts: projections.All(), facts: map[string]int64{}, caller: auth.Caller{
		UserID: "auditor", Service: true, AccountID: mine, AllWorkspaces: true,
	}}
	var err error
	if s.pool, err = postgres.Open(ctx, teststack.Postgres(t), "readmodel", 4); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.pool.Close)
	if err := postgres.Migrate(ctx, s.pool); err != nil {
		t.Fatal(err)
	}
	s.exec("CREATE SCHEMA readmodel")
	for _, p := range s.parts {
		s.exec(p.Schema())
	}
	s.exec(`INSERT INTO directory VALUES ('user', 'u1', 'Ada', now()), ('user', 'u2', 'Bob', now()),
		('account', $1, 'Mine Labs', now()), ('sandbox', 'sb', 'play', now())`, mine)
	s.serve(s.pool)
	return s
}

// unimplemented has the operations of other APIs. It embeds them one level deeper,
// so that the billing operations take precedence.
type unimplemented struct{ api.StrictServerInterface }

// serve serves the billing API from a database, for requests of s.caller.
func (s *billingServer) serve(db projections.Reader) {
	s.t.Helper()
	cursors, err := web.NewCursors([][]byte{make([]byte, 32)}, time.Now)
	if err != nil {
		s.t.Fatal(err)
	}
	rules, err := contract.Load()
	if err != nil {
		s.t.Fatal(err)
	}
	writeDataset := s.writeDataset
	if writeDataset == nil {
		writeDataset = s.dataset
	}
	billing := struct {
		unimplemented
		*readapi.Billing
	}{Billing: &readapi.Billing{
		DB: db, Cursors: cursors, Now: func() time.Time { return time.Date(2026, 4, 20, 9, 0, 0, 0, time.UTC) },
		Platform: "netsim", Postpaid: []string{theirs},
		Lag: func(context.Context) (time.Duration, error) { return 1500 * time.Microsecond, nil },
		LogAccess: func(_ context.Context, account, _ string, a events.AccessLogged) error {
			s.logged = append(s.logged, strings.Join([]string{a.Caller, a.Operation, a.FilterKey, a.SubjectID, "on", account}, " "))
			return nil
		},
		OpenBundle: s.openBundle, WriteDataset: writeDataset,
	}}
	fail := web.Errors{Log: slog.New(slog.DiscardHandler)}.Fail
	router := chi.NewRouter()
	router.Use(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(w, r.WithContext(auth.WithCaller(r.Context(), s.caller)))
		})
	}, rules.Check(fail))
	strict := api.NewStrictHandlerWithOptions(billing, nil, api.StrictHTTPServerOptions{
		RequestErrorHandlerFunc: fail, ResponseErrorHandlerFunc: fail,
	})
	server := httptest.NewServer(api.HandlerFromMux(strict, router))
	s.t.Cleanup(server.Close)
	s.url, s.http = server.URL, &http.Client{Transport: contracttest.Transport(s.t, nil)}
}

func (s *billingServer) exec(sql string, args ...any) {
	s.t.Helper()
	if _, err := s.pool.Exec(s.t.Context(), sql, args...); err != nil {
		s.t.Fatal(err)
	}
}

// project applies an event to the read model, as a fact.
func (s *billingServer) project(stream string, data events.Data) {
	s.t.Helper()
	s.facts[stream]++
	at := time.Date(2026, 4, 15, 12, 0, 0, 0, time.UTC).Add(time.Duration(s.facts[stream]) * time.Second)
	f := events.Fact{Event: events.Event{
		Frame: events.Frame{ID: "e", Stream: stream, Sequence: s.facts[stream], CauseID: "cause", Time: at}, Hash: events.Hash{1}, Data: data,
	}, RecordedAt: at}
	if f.Sequence > 1 {
		f.PreviousHash = events.Hash{2}
	}
	reads, writes := &pgx.Batch{}, &columns.Writes{}
	for _, p := range s.parts {
		p.Load(reads, []events.Fact{f})
	}
	if err := s.pool.SendBatch(s.t.Context(), reads).Close(); err != nil {
		s.t.Fatal(err)
	}
	for _, p := range s.parts {
		if err := p.Apply(writes, []events.Fact{f}); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := writes.Send(s.t.Context(), s.pool); err != nil {
		s.t.Fatal(err)
	}
}

// get checks the status of a response, and returns the body.
func (s *billingServer) get(path string, status int) map[string]any {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+"/api/v1/billing/"+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	resp, err := s.http.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // it is read whole
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	var body map[string]any
	if err := json.Unmarshal(text, &body); err != nil {
		s.t.Fatalf("%s: %v in the body %s", path, err, text)
	}
	if resp.StatusCode != status {
		s.t.Fatalf("%s: status %d, want %d: %s", path, resp.StatusCode, status, text)
	}
	return body
}

// walk reads all pages of a list, and returns a member of every row.
func (s *billingServer) walk(path, key, member string, pages int) []string {
	s.t.Helper()
	var out []string
	for next, n := "", 1; ; n++ {
		page := s.get(path+next, http.StatusOK)
		rows, _ := page[key].([]any)
		for _, r := range rows {
			row, _ := r.(map[string]any)
			out = append(out, fmt.Sprint(row[member]))
		}
		pagination, _ := page["pagination"].(map[string]any)
		if pagination["hasMore"] != true {
			if n != pages {
				s.t.Errorf("%s has %d pages, want %d", path, n, pages)
			}
			return out
		}
		next = "&cursor=" + fmt.Sprint(pagination["nextCursor"])
	}
}
