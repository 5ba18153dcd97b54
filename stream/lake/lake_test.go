//go:build tools

package lake_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"netsim/commands"
	"netsim/events"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
	"netsim/stream/lake"
)

// fill makes facts of several families.
func (w *world) fill(t testing.TB, n int) {
	t.Helper()
	for i := range n {
		workspace := w.create(t, fmt.Sprintf("workspace %d", i))
		testworld.In[commands.Workspace](t, w.World, workspace, workspace, commands.UpdateWorkspace{ID: workspace, Name: fmt.Sprintf("ünamed '%d'", i)})
		account := events.NewID(events.AccountPrefix)
		testworld.In[commands.Account](t, w.World, account, account, commands.GrantCredit{
			Granted: events.CreditGranted{Amount: fmt.Sprintf("%d.000000000001", i+1), Currency: "CREDIT", Reference: fmt.Sprint(i)},
		})
	}
}

// Stock DuckDB reads every value of every fact, and each snapshot is a prefix of the
// facts of each partition.
func TestDuckDBReadsTheFacts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := lake.New(w.config())
	stop := run(t, l)
	for range 5 {
		w.fill(t, 4)
		w.await(t)
	}
	stop()
	duck := w.attach(t)
	w.requireFacts(t, duck)
	if n := w.requirePrefixes(t, duck); n < 6 {
		t.Errorf("%d snapshots", n)
	}
	w.requireFiles(t)
	if r := l.Report(); r.Rows == 0 || r.Error != nil {
		t.Errorf("the report is %+v", r)
	}
	stop = run(t, lake.New(w.config())) // goes on where it stopped
	w.fill(t, 3)
	w.await(t)
	stop()
	w.requireFacts(t, duck)
	w.requirePrefixes(t, duck)
}

var errKilled = errors.New("killed")

// Whatever step an attempt ends at, no fact is lost or doubled, and the files of the
// attempt are deleted.
func TestKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"intended", "uploaded workspaces", "uploaded", "committing", "committed"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			var killed atomic.Int32
			first := lake.New(w.config())
			died := make(chan struct{})
			first.SetHook(func(at string) error {
				if at == step && killed.Add(1) == 2 {
					close(died)
				}
				if killed.Load() >= 2 {
					return errKilled // and does nothing any more
				}
				return nil
			})
			stop := run(t, first)
			w.fill(t, 2)
			testworld.Await(t, func() bool {
				w.create(t, "more")
				select {
				case <-died:
					return true
				default:
					return false
				}
			})
			stop()
			second := lake.New(w.config())
			stop = run(t, second)
			w.fill(t, 2)
			w.await(t)
			stop()
			duck := w.attach(t)
			w.requireFacts(t, duck)
			w.requirePrefixes(t, duck)
			c := w.config()
			c.DeleteAfter = time.Microsecond
			w.tidy(t, c)
			w.requireFiles(t)
			w.requireFacts(t, duck)
		})
	}
}

// tidy merges and deletes once.
func (w *world) tidy(t testing.TB, c lake.Config, hooks ...func(string) error) error {
	t.Helper()
	l := lake.New(c)
	for _, hook := range hooks {
		l.SetHook(hook)
	}
	err := w.lease(t, l)
	if err != nil && len(hooks) == 0 {
		t.Fatal(err)
	}
	return err
}

// lease calls Tidy with the epoch of a lease.
func (w *world) lease(t testing.TB, l *lake.Lake) error {
	t.Helper()
	var epoch int64
	err := w.DB.QueryRow(t.Context(), `
		UPDATE facts.leases SET epoch = epoch + 1, holder = 'tidy', expires_at = now() + interval '1 minute' WHERE subscriber = 'lake' RETURNING epoch`).Scan(&epoch)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if _, err := w.DB.Exec(t.Context(), `UPDATE facts.leases SET holder = '', expires_at = '-infinity' WHERE subscriber = 'lake'`); err != nil {
			t.Error(err)
		}
	}()
	return l.Tidy(t.Context(), epoch)
}

// A writer that has lost its lease between the upload and the commit commits nothing.
func TestALostLeaseCommitsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := lake.New(w.config())
	stop := run(t, first)
	w.fill(t, 1)
	w.await(t)
	stolen := make(chan error, 1)
	var once atomic.Bool
	first.SetHook(func(step string) error {
		if step != "uploaded" || !once.CompareAndSwap(false, true) {
			return nil
		}
		_, err := w.DB.Exec(t.Context(), `UPDATE facts.leases SET epoch = epoch + 1, holder = 'other', expires_at = now() + interval '1 hour' WHERE subscriber = 'lake'`)
		stolen <- err
		return nil
	})
	before := w.positions(t)
	w.create(t, "late")
	if err := testwait.Receive(t, stolen, "the lease to be stolen"); err != nil {
		t.Fatal(err)
	}
	testworld.Await(t, func() bool { r := first.Report(); return r.Failures > 0 || !r.Writing })
	stop()
	if after := w.positions(t); after != before {
		t.Errorf("the writer without the lease moved the positions from %s to %s", before, after)
	}
	duck := w.attach(t)
	if got := duck.Query(t, `SELECT count(*) FROM lake.workspaces WHERE name = 'late'`)[0][0]; got != "0" {
		t.Errorf("the writer without the lease committed %s facts", got)
	}
}

func (w *world) positions(t testing.TB) (text string) {
	t.Helper()
	err := w.DB.QueryRow(t.Context(), `SELECT string_agg(format('%s/%s %s', family, partition, next), ' ' ORDER BY family, partition) FROM lake.netsim_position`).Scan(&text)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
