package replicas

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/events"
	"netsim/fault"
	"netsim/infra/postgres"
	"netsim/infra/projector"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
)

// TestTokens: a token gives back its position; tokens combine; a token that was changed,
// of another key, or of another log is refused, and one of too many partitions has none.
func TestTokens(t *testing.T) {
	t.Parallel()
	keys, err := Keys([][]byte{[]byte(strings.Repeat("k", 32))})
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := NewTokens(LogID{1}, keys, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	at := func(family events.Family, partition int32, next int64) projector.Position {
		return projector.PositionOf(events.Position{Family: family, Partition: partition, Offset: next})
	}
	a, b := at(events.Workspaces, 0, 7), at(events.Billing, 3, 1<<40)
	older := at(events.Workspaces, 0, 5)
	got, err := tokens.Open(tokens.Seal(a) + ", " + tokens.Seal(b.Join(older)))
	if want := a.Join(b); err != nil || got.String() != want.String() {
		t.Errorf("the tokens give %s, %v, want %s", got, err, want)
	}
	token := tokens.Seal(a)
	for i := range len(token) {
		changed := token[:i] + string('A'+(token[i]+1)%25) + token[i+1:]
		if _, err := tokens.Open(changed); changed != token && !fault.Is(err, fault.Validation) {
			t.Fatalf("the token %s, of which character %d was changed, gives %v", changed, i, err)
		}
	}
	foreign, err := NewTokens(LogID{2}, keys, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := foreign.Open(token); err == nil || !strings.Contains(err.Error(), "of another event log") {
		t.Errorf("the token of another log gives %v", err)
	}
	all := projector.Position{}
	for partition := range int32(maxParts / 7) {
		for _, family := range events.Families() {
			all = all.Join(at(family, partition, 1<<34))
		}
	}
	if got, err := tokens.Open(tokens.Seal(all)); err != nil || got.String() != all.String() {
		t.Errorf("a token of %d partitions gives %v with %d", len(all), err, len(got))
	}
	if got, err := tokens.Open(tokens.Seal(all.Join(at(events.Workspaces, 99, 1)))); err != nil || len(got) != 0 {
		t.Errorf("a token of too many partitions gives %v with %d, want none", err, len(got))
	}
}

// TestTheAgeOfAPosition: a position is as old as the newest sample that it has reached.
func TestTheAgeOfAPosition(t *testing.T) {
	t.Parallel()
	h := &history{spacing: time.Second}
	began := time.Unix(1_790_000_000, 0)
	at := func(next int64) projector.Position {
		return projector.PositionOf(events.Position{Family: events.Workspaces, Offset: next})
	}
	for i := range int64(3 * maxSamples) {
		h.add(began.Add(time.Duration(i)*time.Second), at(10*i))
		h.add(began.Add(time.Duration(i)*time.Second+time.Millisecond), at(10*i+9)) // too soon for a sample
	}
	now := began.Add(3 * maxSamples * time.Second)
	for next, want := range map[int64]time.Duration{470: time.Second, 1000: time.Second, 469: 2 * time.Second, 0: never} {
		if age := h.age(now, at(next)); age != want {
			t.Errorf("the position %d is %v old, want %v", next, age, want)
		}
	}
}

// TestACancelledReadIsRepeated: PostgreSQL cancels a read on a standby because of a
// conflict with the replay. The own database answers it, and nothing was sent before.
func TestACancelledReadIsRepeated(t *testing.T) {
	t.Parallel()
	primary := teststack.Start(t, "postgres", t.TempDir(), "--replicas", "--no-sync")
	own := open(t, primary.URL)
	model := projector.New(projector.Config{Pool: own, Logger: slog.New(slog.DiscardHandler)})
	if err := model.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	exec(t, own, `INSERT INTO readmodel.log (cluster_id) VALUES ('cluster');
		INSERT INTO readmodel.offsets VALUES ('workspaces', 0, 'topic', 3, '', 3, '', '');
		CREATE TABLE public.held (n int); INSERT INTO public.held VALUES (1)`)
	standby := teststack.StartStandby(t, primary, t.TempDir(), "--no-sync")
	exec(t, open(t, standby.URL), `ALTER SYSTEM SET max_standby_streaming_delay = 0`)
	exec(t, open(t, standby.URL), `SELECT pg_reload_conf()`)
	standby.CatchUp(primary)

	watcher := projector.NewWatcher(own, slog.New(slog.DiscardHandler))
	run := func(f func(context.Context) error) {
		ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
		ended := make(chan error, 1)
		go func() { ended <- f(ctx) }()
		t.Cleanup(func() {
			cancel()
			if err := testwait.Receive(t, ended, "it to end"); err != nil {
				t.Error(err)
			}
		})
	}
	run(watcher.Run)
	id, err := ReadLogID(t.Context(), own)
	if err != nil {
		t.Fatal(err)
	}
	retries := make(chan string, 10)
	reads := NewReads(Config{
		Own: own, Watcher: watcher, Form: model.Fingerprint(), Log: id, Standbys: []string{standby.URL}, Sessions: 4,
		MaxLag: time.Hour, Timeout: time.Minute, Logger: slog.New(slog.DiscardHandler), Now: time.Now,
		Observe: Observer{Retry: func(reason string) { retries <- reason }},
	})
	run(reads.Run)
	tokens, err := NewTokens(id, [][]byte{make([]byte, 32)}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	fail := func(w http.ResponseWriter, _ *http.Request, err error) {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
	serve := &Serve{Reads: reads, Tokens: tokens, KindOf: func(*http.Request) Kind { return Read }, Fail: fail}
	onStandby := make(chan bool, 10)
	handler := serve.Handle(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		onStandby <- source(r.Context()) != nil
		var n int
		// On the standby the read takes until it is cancelled.
		err := reads.QueryRow(r.Context(), `SELECT n FROM public.held WHERE NOT pg_is_in_recovery() OR pg_sleep(600) IS NOT NULL`).Scan(&n)
		if err != nil {
			serve.Repeat(fail)(w, r, err)
			return
		}
		w.WriteHeader(http.StatusOK)
	}))
	for len(reads.Report()) == 0 || !reads.Report()[0].Used {
		exec(t, own, `SELECT pg_sleep(0.01)`)
	}
	answer := httptest.NewRecorder()
	answered := make(chan error, 1)
	go func() {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
		r.Header.Set(Header, tokens.Seal(projector.PositionOf(events.Position{Family: events.Workspaces, Offset: 3})))
		handler.ServeHTTP(answer, r)
		answered <- nil
	}()
	if !testwait.Receive(t, onStandby, "the read to begin") {
		t.Fatal("the read did not begin on the standby")
	}
	watching := open(t, standby.URL)
	for running := false; !running; {
		err := watching.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND query LIKE '%public.held%' AND pid <> pg_backend_pid())`).Scan(&running)
		if err != nil {
			t.Fatal(err)
		}
	}
	exec(t, own, `SET synchronous_commit = on; DROP TABLE public.held; CREATE TABLE public.held (n int); INSERT INTO public.held VALUES (2)`)
	if err := testwait.Receive(t, answered, "the answer"); err != nil {
		t.Fatal(err)
	}
	if answer.Code != http.StatusOK || answer.Header().Get(Header) == "" {
		t.Errorf("the answer is %d %s with the token %q, want 200 and a token", answer.Code, answer.Body, answer.Header().Get(Header))
	}
	if again := testwait.Receive(t, onStandby, "the repetition"); again {
		t.Error("the read was repeated on the standby")
	}
	if why := testwait.Receive(t, retries, "the count"); why != "conflict" {
		t.Errorf("the retry is counted as %q, want conflict", why)
	}
}

func open(t *testing.T, url string) *pgxpool.Pool {
	t.Helper()
	pool, err := postgres.Open(t.Context(), url, projector.Live, 4)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

func exec(t *testing.T, pool *pgxpool.Pool, sql string) {
	t.Helper()
	if _, err := pool.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkTokens(b *testing.B) {
	tokens, err := NewTokens(LogID{1}, [][]byte{make([]byte, 32)}, time.Now)
	if err != nil {
		b.Fatal(err)
	}
	at := projector.PositionOf(events.Position{Family: events.Workspaces, Partition: 3, Offset: 1 << 20})
	token := tokens.Seal(at)
	b.Run("seal", func(b *testing.B) {
		for b.Loop() {
			tokens.Seal(at)
		}
	})
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			if _, err := tokens.Open(token); err != nil {
				b.Fatal(err)
			}
		}
	})
}
