package writelog_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/commands"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/eventlog"
	"netsim/infra/projector"
	"netsim/infra/writelog"
	"netsim/internal/testworld"
)

func TestLoad(t *testing.T) {
	t.Parallel()
	p := &process{World: testworld.NewServers(t).Start(t)}
	id := p.create(t, "known")
	unknown := events.NewID(events.WorkspacePrefix)
	for _, c := range []struct {
		name, stream, commandID string
		sequence                int64
		prior                   *events.Prior
	}{
		{name: "a stream that does not exist", stream: unknown, commandID: "create"},
		{name: "without a command", stream: id, sequence: 1},
		{name: "a command that ran", stream: id, commandID: "create", sequence: 1, prior: &events.Prior{Sequence: 1, Digest: "body"}},
		{name: "a command that did not", stream: id, commandID: "other", sequence: 1},
	} {
		s, err := p.WriteLog.Load(t.Context(), c.stream, c.commandID)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if s.Head.Sequence != c.sequence || (s.State == nil) != (c.sequence == 0) || s.Parked {
			t.Errorf("%s: %+v, want sequence %d", c.name, s, c.sequence)
		}
		if diff := cmp.Diff(c.prior, s.Prior); diff != "" {
			t.Errorf("%s: prior (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestPriorsReadsWhatItIsAskedFor: the commands of a batch are looked up one by one, whatever
// else the stream has, also when PostgreSQL plans without the values and takes the stream for
// one of the many that have one command.
func TestPriorsReadsWhatItIsAskedFor(t *testing.T) {
	t.Parallel()
	w := testworld.NewServers(t).Start(t)
	const all, asked = 20_000, 50
	if _, err := w.DB.Exec(t.Context(), `
		INSERT INTO command_ids SELECT stream, 'command-' || i, i, 'body'
		FROM generate_series(1, $1::int) i, unnest(ARRAY['stream', 'other-' || i]) stream`, all); err != nil {
		t.Fatal(err)
	}
	if _, err := w.DB.Exec(t.Context(), `ANALYZE command_ids`); err != nil {
		t.Fatal(err)
	}
	ids := []string{"unknown"}
	for i := range asked {
		ids = append(ids, fmt.Sprint("command-", 1+i*(all/asked)))
	}
	for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
		// A connection of its own counts what it alone reads.
		config := w.DB.Config()
		config.MaxConns = 1
		config.ConnConfig.RuntimeParams["plan_cache_mode"] = mode
		pool, err := pgxpool.NewWithConfig(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		before := entriesRead(t, pool)
		found, err := writelog.New(writelog.Config{Pool: pool}).Priors(t.Context(), "stream", ids)
		if err != nil {
			t.Fatal(err)
		}
		want := events.Prior{Sequence: 1 + 7*(all/asked), Digest: "body"}
		if got := found[ids[8]]; len(found) != asked || got != want {
			t.Errorf("%s: found %d, of %s %+v, want %d and %+v", mode, len(found), ids[8], got, asked, want)
		}
		if read := entriesRead(t, pool) - before; read > 2*asked {
			t.Errorf("%s: read %d entries for %d commands", mode, read, asked)
		}
	}
}

// entriesRead returns how many entries of command_ids the only connection of a pool has read
// so far, beside those of others.
func entriesRead(t *testing.T, pool *pgxpool.Pool) (n int64) {
	t.Helper()
	if _, err := pool.Exec(t.Context(), `SELECT pg_stat_force_next_flush()`); err != nil {
		t.Fatal(err)
	}
	if err := pool.QueryRow(t.Context(), `
		SELECT seq_tup_read + idx_tup_read FROM pg_stat_user_tables t JOIN pg_stat_user_indexes i USING (relid)
		WHERE t.relname = 'command_ids'`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestAStreamWithAnUnknownEventIsParked(t *testing.T) {
	t.Parallel()
	p := &process{World: testworld.NewServers(t).Start(t)}
	id := events.NewID(events.WorkspacePrefix)
	frame := events.Frame{
		ID: "1", Type: "netsim.workspace.painted.v1", Stream: id, PartitionKey: id,
		Sequence: 1, Time: time.UnixMilli(0), DataVersion: 1,
	}
	message, _ := frame.Message([]byte(`{"colour":"red"}`))
	wait, err := p.WriteLog.Append(t.Context(), events.Workspaces, id, message)
	if err != nil {
		t.Fatal(err)
	}
	at, err := wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if verdict, err := p.WriteLog.Verdict(t.Context(), at); err != nil || verdict != events.Accepted {
		t.Errorf("the verdict is %q, %v: a body that cannot be read is still a fact", verdict, err)
	}
	if s, err := p.WriteLog.Load(t.Context(), id, ""); err != nil || !s.Parked {
		t.Errorf("the stream is %+v, %v, want it parked", s, err)
	}
	if _, err := p.run(t, id, "", commands.DeleteWorkspace{ID: id}); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a command on it: %v, want it refused for now", err)
	}
}

func TestARejectedRecordIsNoFact(t *testing.T) {
	t.Parallel()
	p := &process{World: testworld.NewServers(t).Start(t)}
	id := p.create(t, "once")
	frame := events.Frame{
		ID: "1", Type: "netsim.workspace.created.v1", Stream: id, PartitionKey: id,
		Sequence: 1, Time: time.UnixMilli(0), DataVersion: 1,
	}
	message, _ := frame.Message([]byte(`{"name":"twice"}`))
	wait, err := p.WriteLog.Append(t.Context(), events.Workspaces, id, message)
	if err != nil {
		t.Fatal(err)
	}
	at, err := wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"while it waits", "when it is asked for again"} {
		if verdict, err := p.WriteLog.Verdict(t.Context(), at); err != nil || verdict != events.Stale {
			t.Errorf("%s the verdict is %q, %v, want stale", when, verdict, err)
		}
	}
	if _, w := p.load(t, id); w.Name != "once" {
		t.Errorf("the workspace is named %q", w.Name)
	}
}

// A refused write reaches no server, so the test has none.
func TestWritesAreShedWhileTooManyWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := writelog.New(writelog.Config{
			EventLog: &eventlog.Kafka{}, Watcher: projector.NewWatcher(nil, nil), MaxWaiting: 2,
		})
		_, admitted := l.Append(t.Context(), events.Workspaces, "key", events.Message{})
		ctx, cancel := context.WithCancel(t.Context())
		for i := range l.MaxWaiting {
			go l.Verdict(ctx, events.Position{Family: events.Workspaces, Offset: i}) //nolint:errcheck // no verdict comes
		}
		synctest.Wait()
		_, err := l.Append(t.Context(), events.Workspaces, "key", events.Message{})
		shed, ok := errors.AsType[*fault.Fault](err)
		if !ok || shed.Code != fault.Unavailable || shed.RetryAfter <= 0 {
			t.Errorf("append returned %v, want unavailable with a Retry-After", err)
		}
		cancel()
		synctest.Wait()
		// The write log has no partitions, so an admitted write fails with this.
		if _, err := l.Append(t.Context(), events.Workspaces, "key", events.Message{}); err == nil || err.Error() != admitted.Error() {
			t.Errorf("append returned %v when no write waits, want %v", err, admitted)
		}
	})
}

func TestAVerdictThatDoesNotComeEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := writelog.New(writelog.Config{Watcher: projector.NewWatcher(nil, nil)})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := l.Verdict(ctx, events.Position{Family: events.Workspaces})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("verdict returned %v, want the deadline", err)
		}
	})
}

func TestAnAppendWithoutATraceCostsNothing(t *testing.T) {
	ctx, l := t.Context(), writelog.New(writelog.Config{})
	m := events.Message{Headers: []events.Header{{Key: "ce_id"}}}
	if n := testing.AllocsPerRun(100, func() { l.Sending(ctx, "topic", &m) }); n != 0 || len(m.Headers) != 1 {
		t.Errorf("an append without a trace allocates %g times and has the headers %v", n, m.Headers)
	}
}
