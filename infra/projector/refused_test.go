package projector_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"netsim/events"
	"netsim/infra/columns"
	"netsim/infra/projector"
	"netsim/internal/testworld"
)

// refusing is a projection that cannot take the workspaces of one name.
type refusing struct {
	name string
	how  func(writes *columns.Writes) error
}

func (refusing) Schema() string                 { return "" }
func (refusing) Load(*pgx.Batch, []events.Fact) {}
func (refusing) Forget()                        {}
func (r refusing) refuses(d events.Data) bool {
	w, ok := d.(events.WorkspaceCreated)
	return ok && w.Name == r.name
}
func (r refusing) Apply(writes *columns.Writes, facts []events.Fact) error {
	for _, f := range facts {
		if r.refuses(f.Data) {
			return r.how(writes)
		}
	}
	return nil
}

// A fact that a projection cannot take parks its own stream. The other facts of the
// batch are applied.
func TestARefusedFactParksItsStreamOnly(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	for i := range 12 {
		if _, err := s.createWorkspace(t.Context(), fmt.Sprint("workspace ", i)); err != nil {
			t.Fatal(err)
		}
	}
	for name, how := range map[string]func(*columns.Writes) error{
		"invalid":  func(writes *columns.Writes) error { writes.Queue(`SELECT 'seven'::int`); return nil },
		"error":    func(*columns.Writes) error { return errors.New("cannot be applied") },
		"panicked": func(*columns.Writes) error { panic("cannot be applied") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := s.Pool(t, name)
			p := s.Projector(pool, name, func(c *projector.Config) {
				c.Projections = append(c.Projections, refusing{"workspace 5", how})
			})
			if err := p.Create(t.Context()); err != nil {
				t.Fatal(err)
			}
			testworld.Running(t, p.RunWithoutLock)
			count := func(sql string) (n int) {
				if err := pool.QueryRow(t.Context(), sql).Scan(&n); err != nil {
					t.Fatal(err)
				}
				return n
			}
			testworld.Await(t, func() bool { return count(`SELECT coalesce(sum(next), 0) FROM offsets`) == 12 })
			if n := count(`SELECT count(*) FROM workspaces WHERE name LIKE 'workspace %'`); n != 11 {
				t.Errorf("%d workspaces have a row, want 11", n)
			}
			if n := count(`SELECT count(*) FROM parked`); n != 1 {
				t.Errorf("%d facts are parked, want 1", n)
			}
			if n := count(`SELECT count(*) FROM streams WHERE parked`); n != 1 {
				t.Errorf("%d streams are parked, want 1", n)
			}
		})
	}
}

// The digest beside a partition's offset is that of its facts, whatever else
// lies between them.
func TestTheDigestIsOfTheFacts(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	id := events.NewID(events.WorkspacePrefix)
	frame := events.Frame{Type: "netsim.workspace.created.v1", Stream: id, PartitionKey: id, Sequence: 1}
	var want events.Digest
	first, _ := s.append(t, frame, `{"accountId":"acct","name":"first"}`)
	if _, verdict := s.append(t, frame, `{"accountId":"acct","name":"again"}`); verdict != events.Stale {
		t.Fatalf("another first event is %s", verdict)
	}
	frame.Type, frame.Sequence, frame.PreviousHash = "netsim.workspace.updated.v1", 2, first
	second, _ := s.append(t, frame, `{"name":"second"}`)
	want = want.Add(first).Add(second)
	var facts int64
	var digest []byte
	if err := s.DB.QueryRow(t.Context(), `SELECT facts, digest FROM offsets WHERE next > 0`).Scan(&facts, &digest); err != nil {
		t.Fatal(err)
	}
	if facts != 2 || !cmp.Equal(digest, want[:]) {
		t.Errorf("%d facts with digest %x, want 2 with %x", facts, digest, want)
	}
}
