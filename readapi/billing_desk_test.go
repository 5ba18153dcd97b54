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
	"netsim/infra/postgres"
	"netsim/infra/teststack"
	web "netsim/infra/web"
	"netsim/projections"
	"netsim/readapi"
)

const (
	mine   = "acct_00000000000000000000000001"
	theirs = "acct_00000000000000000000000002"
	lab    = "workspace_00000000000000000000000001"
)

// desk is the billing API on a read model that holds given facts.
type desk struct {
	t      *testing.T
	pool   *pgxpool.Pool
	parts  []projections.Projection
	facts  map[string]int64 // by stream
	caller auth.Caller
	http   *http.Client
	url    string
	logged []string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	ctx := t.Context()
	d := &desk{t: t, parts: projections.All(), facts: map[string]int64{}, caller: auth.Caller{
		UserID: "auditor", Service: true, AccountID: mine, AllWorkspaces: true,
	}}
	var err error
	if d.pool, err = postgres.Open(ctx, teststack.Postgres(t), "readmodel", 4); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.pool.Close)
	if err := postgres.Migrate(ctx, d.pool); err != nil {
		t.Fatal(err)
	}
	d.exec("CREATE SCHEMA readmodel")
	for _, p := range d.parts {
		d.exec(p.Schema())
	}
	d.exec(`INSERT INTO directory VALUES ('user', 'u1', 'Ada', now()), ('user', 'u2', 'Bob', now()),
		('account', $1, 'Mine Labs', now()), ('sandbox', 'sb', 'play', now())`, mine)
	d.serve(d.pool)
	return d
}

// unserved has the operations that a test asks nothing of, one level deeper
// than those that it does.
type unserved struct{ api.StrictServerInterface }

// serve answers requests of the desk's caller from a database.
func (d *desk) serve(db projections.Reader) {
	d.t.Helper()
	cursors, err := web.NewCursors([][]byte{make([]byte, 32)}, time.Now)
	if err != nil {
		d.t.Fatal(err)
	}
	rules, err := contract.Load()
	if err != nil {
		d.t.Fatal(err)
	}
	billing := struct {
		unserved
		*readapi.Billing
	}{Billing: &readapi.Billing{
		DB: db, Cursors: cursors, Now: func() time.Time { return time.Date(2026, 4, 20, 9, 0, 0, 0, time.UTC) },
		Platform: "netsim", Postpaid: []string{theirs},
		Lag: func(context.Context) (time.Duration, error) { return 1500 * time.Microsecond, nil },
		LogAccess: func(_ context.Context, account, _ string, a events.AccessLogged) error {
			d.logged = append(d.logged, strings.Join([]string{a.Caller, a.Operation, a.FilterKey, a.SubjectID, "on", account}, " "))
			return nil
		},
	}}
	fail := web.Errors{Log: slog.New(slog.DiscardHandler)}.Fail
	router := chi.NewRouter()
	router.Use(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(w, r.WithContext(auth.WithCaller(r.Context(), d.caller)))
		})
	}, rules.Check(fail))
	strict := api.NewStrictHandlerWithOptions(billing, nil, api.StrictHTTPServerOptions{
		RequestErrorHandlerFunc: fail, ResponseErrorHandlerFunc: fail,
	})
	server := httptest.NewServer(api.HandlerFromMux(strict, router))
	d.t.Cleanup(server.Close)
	d.url, d.http = server.URL, &http.Client{Transport: contracttest.Transport(d.t, nil)}
}

func (d *desk) exec(sql string, args ...any) {
	d.t.Helper()
	if _, err := d.pool.Exec(d.t.Context(), sql, args...); err != nil {
		d.t.Fatal(err)
	}
}

// tell projects an event as a fact.
func (d *desk) tell(stream string, data events.Data) {
	d.t.Helper()
	d.facts[stream]++
	at := time.Date(2026, 4, 15, 12, 0, 0, 0, time.UTC).Add(time.Duration(d.facts[stream]) * time.Second)
	f := events.Fact{Event: events.Event{
		Frame: events.Frame{ID: "e", Stream: stream, Sequence: d.facts[stream], CauseID: "cause", Time: at}, Hash: events.Hash{1}, Data: data,
	}, RecordedAt: at}
	if f.Sequence > 1 {
		f.PreviousHash = events.Hash{2}
	}
	reads, writes := &pgx.Batch{}, &pgx.Batch{}
	for _, p := range d.parts {
		p.Load(reads, []events.Fact{f})
	}
	if err := d.pool.SendBatch(d.t.Context(), reads).Close(); err != nil {
		d.t.Fatal(err)
	}
	for _, p := range d.parts {
		if err := p.Apply(writes, []events.Fact{f}); err != nil {
			d.t.Fatal(err)
		}
	}
	if err := d.pool.SendBatch(d.t.Context(), writes).Close(); err != nil {
		d.t.Fatal(err)
	}
}

// get returns the body of a response with the status. It is within the contract.
func (d *desk) get(path string, status int) map[string]any {
	d.t.Helper()
	req, err := http.NewRequestWithContext(d.t.Context(), http.MethodGet, d.url+"/api/v1/billing/"+path, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	resp, err := d.http.Do(req)
	if err != nil {
		d.t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // it is read whole
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	var body map[string]any
	if err := json.Unmarshal(text, &body); err != nil {
		d.t.Fatalf("%s: %v: %s", path, err, text)
	}
	if resp.StatusCode != status {
		d.t.Fatalf("%s: status %d, want %d: %s", path, resp.StatusCode, status, text)
	}
	return body
}

// walk follows the cursors and returns a member of every row.
func (d *desk) walk(path, key, member string, pages int) []string {
	d.t.Helper()
	var out []string
	for next, n := "", 1; ; n++ {
		page := d.get(path+next, http.StatusOK)
		rows, _ := page[key].([]any)
		for _, r := range rows {
			row, _ := r.(map[string]any)
			out = append(out, fmt.Sprint(row[member]))
		}
		pagination, _ := page["pagination"].(map[string]any)
		if pagination["hasMore"] != true {
			if n != pages {
				d.t.Errorf("%s has %d pages, want %d", path, n, pages)
			}
			return out
		}
		next = "&cursor=" + fmt.Sprint(pagination["nextCursor"])
	}
}
