package lake

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/parquet-go/parquet-go"

	"netsim/audit"
	"netsim/events"
	"netsim/infra/facts"
	"netsim/stream/tables"
)

// Contents is the lake in its last snapshot, for an audit.
type Contents struct {
	lake     *Lake
	dataPath string
	at       map[source]int64
	files    map[string][]contentFile // by table, in the order of their rows
}

type contentFile struct {
	path string
	rows int64
}

var _ audit.Lake = (*Contents)(nil)

// OpenContents reads what the catalogue says of the last snapshot.
func OpenContents(ctx context.Context, pool *pgxpool.Pool, store Objects, bucket string) (*Contents, error) {
	c := &Contents{lake: &Lake{Config: Config{Objects: store, Bucket: bucket}}, at: map[source]int64{}, files: map[string][]contentFile{}}
	err := pgx.BeginTxFunc(ctx, pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		var exists bool
		if err := tx.QueryRow(ctx, `SELECT to_regclass('lake.netsim_upload') IS NOT NULL`).Scan(&exists); err != nil {
			return err
		}
		if !exists {
			return ErrMissing
		}
		var edited bool
		var names []string
		for _, t := range tables.All() {
			names = append(names, t.Name)
		}
		err := tx.QueryRow(ctx, `
			WITH ours AS (SELECT table_id FROM lake.ducklake_table WHERE end_snapshot IS NULL AND schema_id = 0 AND table_name = ANY ($1))
			SELECT value, EXISTS (SELECT FROM lake.ducklake_delete_file JOIN ours USING (table_id) WHERE end_snapshot IS NULL)
				OR EXISTS (SELECT FROM lake.ducklake_inlined_data_tables JOIN ours USING (table_id))
			FROM lake.ducklake_metadata WHERE key = 'data_path' AND scope IS NULL`, names).Scan(&c.dataPath, &edited)
		if err != nil {
			return err
		}
		if edited {
			return errors.New("another program has inserted or deleted rows: the lake is not what the log says")
		}
		var s source
		var next int64
		rows, _ := tx.Query(ctx, `SELECT family, partition, next FROM lake.netsim_position`)
		if _, err := pgx.ForEachRow(rows, []any{&s.family, &s.partition, &next}, func() error { c.at[s] = next; return nil }); err != nil {
			return err
		}
		var table string
		var f contentFile
		rows, _ = tx.Query(ctx, `
			SELECT t.table_name, 'main/' || t.path || f.path, f.record_count
			FROM lake.ducklake_data_file f JOIN lake.ducklake_table t ON t.table_id = f.table_id AND t.end_snapshot IS NULL AND t.schema_id = 0
			WHERE f.end_snapshot IS NULL ORDER BY t.table_name, f.row_id_start`)
		_, err = pgx.ForEachRow(rows, []any{&table, &f.path, &f.rows}, func() error {
			c.files[table] = append(c.files[table], f)
			return nil
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the catalogue of the lake: %w", err)
	}
	return c, nil
}

// At implements audit.Lake.
func (c *Contents) At(family events.Family, partition int32) int64 {
	return c.at[source{family, partition}]
}

// Rows implements audit.Lake.
func (c *Contents) Rows(ctx context.Context, family events.Family, each func(*audit.LakeRow) error) error {
	table := tables.For(family)
	for _, f := range c.files[table.Name] {
		content, err := c.lake.get(ctx, c.dataPath, f.path)
		if err == nil {
			err = readRows(content, table, f.rows, each)
		}
		if err != nil {
			return fmt.Errorf("read the file %s of the lake: %w", f.path, err)
		}
	}
	return nil
}

// readRows calls each with the rows of a Parquet file.
func readRows(content []byte, table *tables.Table, rows int64, each func(*audit.LakeRow) error) error {
	file, err := openParquet(content)
	if err != nil {
		return err
	}
	if file.NumRows() != rows {
		return fmt.Errorf("it has %d rows, the catalogue says %d", file.NumRows(), rows)
	}
	r := contentRow{table: table, columns: make([]int, len(table.Columns))}
	for i := range r.columns {
		r.columns[i] = -1 // of a later release than the file
	}
	for at, path := range file.Schema().Columns() {
		if i := table.Index(path[0]); i >= 0 {
			r.columns[i] = at
		}
	}
	var one audit.LakeRow
	one.Differs = r.differs
	for _, name := range []string{"event_id", "event_hash", "source_partition", "source_offset"} {
		if r.columns[table.Index(name)] < 0 {
			return fmt.Errorf("it has no column %s", name)
		}
	}
	for _, group := range file.RowGroups() {
		if err := r.group(group, &one, each); err != nil {
			return err
		}
	}
	return nil
}

// contentRow is a row of a file that is compared with a fact.
type contentRow struct {
	table   *tables.Table
	columns []int // of the file, by index in the table; -1 for none
	values  parquet.Row
	want    tables.Row
}

func (r *contentRow) group(group parquet.RowGroup, one *audit.LakeRow, each func(*audit.LakeRow) error) (err error) {
	rows := group.Rows()
	defer func() { err = errors.Join(err, rows.Close()) }()
	buffer := make([]parquet.Row, 256)
	for {
		n, err := rows.ReadRows(buffer)
		for _, values := range buffer[:n] {
			r.values = values
			one.EventID, one.Hash = string(r.value("event_id").ByteArray()), string(r.value("event_hash").ByteArray())
			one.Partition, one.Offset = int32(r.value("source_partition").Int64()), r.value("source_offset").Int64()
			if err := each(one); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (r *contentRow) value(name string) parquet.Value {
	return r.values[r.columns[r.table.Index(name)]]
}

// differs names the first column that has another value than the fact's.
func (r *contentRow) differs(f *audit.Fact) (string, error) {
	family := r.table.Family
	err := r.table.Row(&r.want, &facts.Fact{
		Fact: events.Fact{
			Event:  events.Event{Frame: f.Frame, Hash: f.Hash},
			Family: family, Partition: f.Where.Partition, Offset: f.Where.Offset, RecordedAt: f.RecordedAt,
		},
		Record: &events.Record{Message: *f.Message},
	})
	if err != nil {
		return "", err
	}
	for i, at := range r.columns {
		if at < 0 {
			continue
		}
		want, filled := r.want.Get(i)
		got := r.values[at]
		if got.IsNull() == filled || filled && !sameValue(r.table.Columns[i].Type, want, got) {
			return r.table.Columns[i].Name, nil
		}
	}
	return "", nil
}

func sameValue(t tables.Type, want tables.Value, got parquet.Value) bool {
	switch t {
	case tables.Text, tables.JSON:
		return bytes.Equal(got.ByteArray(), want.Text)
	case tables.Integer, tables.Timestamp:
		return got.Int64() == want.Int
	case tables.Boolean:
		return got.Boolean() == (want.Int != 0)
	case tables.Date:
		return int64(got.Int32()) == want.Int
	case tables.Decimal:
		b := got.ByteArray()
		return len(b) == 16 && binary.BigEndian.Uint64(b[:8]) == want.Amount.Hi && binary.BigEndian.Uint64(b[8:]) == want.Amount.Lo
	}
	panic("lake: no such type: " + string(t))
}
