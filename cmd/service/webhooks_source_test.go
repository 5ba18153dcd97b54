package service

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"netsim/events"
	"netsim/infra/columns"
	"netsim/internal/teststack"
	"netsim/projections"
	"netsim/stream/webhooks"
)

// recorder records which webhooks the statements on a connection read whole.
type recorder struct {
	*pgx.Conn
	read []string
}

func (r *recorder) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if strings.Contains(sql, "url") {
		r.read = append(r.read, "some")
		if len(args) == 1 {
			r.read = slices.Sorted(slices.Values(args[0].([]string)))
		}
	}
	return r.Conn.Query(ctx, sql, args...)
}

// The family of the webhooks also has the workspaces, whose changes are more frequent.
func TestOnlyWebhooksThatChangedAreRead(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	db, err := pgx.Connect(ctx, teststack.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close(context.WithoutCancel(ctx)) })
	table := projections.NewWebhooks()
	if _, err := db.Exec(ctx, table.Schema()); err != nil {
		t.Fatal(err)
	}
	apply := func(stream string, sequence int64, data events.Data) {
		t.Helper()
		fact := []events.Fact{{Event: events.Event{Frame: events.Frame{Stream: stream, Sequence: sequence, Type: data.EventType(), Time: time.Unix(sequence, 0).UTC()}, Data: data}}}
		loads, writes := &pgx.Batch{}, &columns.Writes{}
		table.Load(loads, fact)
		if err := db.SendBatch(ctx, loads).Close(); err != nil {
			t.Fatal(err)
		}
		if err := table.Apply(writes, fact); err != nil {
			t.Fatal(err)
		}
		if err := writes.Send(ctx, db); err != nil {
			t.Fatal(err)
		}
	}
	var at recorder
	at.Conn = db
	source := &webhookSource{db: &at}
	var a, b = events.NewID(events.WebhookPrefix), events.NewID(events.WebhookPrefix)
	expect := func(step string, urls []string, read ...string) {
		t.Helper()
		at.read = nil
		all, err := source.Subscriptions(ctx)
		if err != nil {
			t.Fatal(step, err)
		}
		var got []string
		for _, one := range slices.SortedFunc(slices.Values(all), func(x, y webhooks.Subscription) int { return strings.Compare(x.URL, y.URL) }) {
			got = append(got, one.URL)
		}
		slices.Sort(read)
		if diff := cmp.Diff(urls, got); diff != "" {
			t.Errorf("%s: the webhooks differ:\n%s", step, diff)
		}
		if diff := cmp.Diff(read, at.read); diff != "" {
			t.Errorf("%s: what was read differs:\n%s", step, diff)
		}
	}
	expect("none", nil)
	apply(a, 1, events.WebhookCreated{URL: "https://a", AllWorkspaces: true})
	apply(b, 1, events.WebhookCreated{URL: "https://b", AllWorkspaces: true})
	expect("two", []string{"https://a", "https://b"}, a, b)
	expect("a change of a workspace", []string{"https://a", "https://b"})
	apply(b, 2, events.WebhookUpdated{URL: "https://c"})
	expect("an update", []string{"https://a", "https://c"}, b)
	apply(a, 2, events.WebhookDeleted{})
	expect("a deletion", []string{"https://c"})
}
