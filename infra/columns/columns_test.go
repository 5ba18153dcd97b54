package columns_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/infra/columns"
)

type base struct {
	AccountID string
	TTLDays   int64
	Ignored   []int
}

type row struct {
	ID int64
	base
	BaseURL   string `db:"url"`
	CreatedAt time.Time
	EndedAt   *time.Time
	Skipped   string `db:"-"`
	Hash      []byte
	Partition int32

	//lint:ignore U1000 an unexported field is not a column
	hidden string
}

func TestColumnsAreTheFieldsOfTheStruct(t *testing.T) {
	t.Parallel()
	c := columns.Of[row]("Ignored", "-", "Partition", "offset")
	want := []string{
		`"id" int8 NOT NULL`, `"account_id" text NOT NULL`, `"ttl_days" int8 NOT NULL`, `"url" text NOT NULL`,
		`"created_at" timestamptz NOT NULL`, `"ended_at" timestamptz`, `"hash" bytea NOT NULL`, `"offset" int4 NOT NULL`,
	}
	if diff := cmp.Diff(want, c.Definition()); diff != "" {
		t.Errorf("definition (-want +got):\n%s", diff)
	}
	if key := c.KeyOf(&row{ID: 17}); key != "17" {
		t.Errorf("key %s, want 17", key)
	}
}

func TestInsertWritesAllRowsInOneStatement(t *testing.T) {
	t.Parallel()
	type pair struct {
		Name  string
		Count int64
	}
	c := columns.Of[pair]()
	writes := &columns.Writes{}
	c.Insert(writes, "pairs", nil, "")
	if writes.Len() != 0 {
		t.Error("Insert without rows queued a statement")
	}
	c.Insert(writes, "pairs", []*pair{{"a", 1}, {"b", 2}}, c.Overwrite(1))
	q := writes.QueuedQueries[0]
	const want = `INSERT INTO pairs ("name", "count") SELECT "name", "count" FROM unnest($1::text[], $2::int8[]) AS new ("name", "count") ` +
		`ON CONFLICT ("name") DO UPDATE SET "count" = excluded."count"`
	if diff := cmp.Diff(want, q.SQL); diff != "" {
		t.Errorf("statement (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]any{[]string{"a", "b"}, []int64{1, 2}}, q.Arguments); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
}

func TestAFieldOfAnotherTypeIsRefused(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("Of accepted a field of type map")
		}
	}()
	columns.Of[struct{ Tags map[string]string }]()
}
