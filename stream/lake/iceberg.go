package lake

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/stream/lake/iceberg"
	"netsim/stream/tables"
)

//go:embed iceberg.sql
var icebergSQL string

// dayOf is the manifest of the files of a table whose first snapshots are of a day.
type dayOf struct {
	Table  int64
	Day    time.Time
	Digest string // of the ids of the files
	Files  int64
	Rows   int64
	Bytes  int64 // of the files

	path     string // of the stored manifest
	size     int64  // of the manifest
	snapshot int64  // in which the manifest was made
}

// edition is the metadata of a table for Iceberg.
type edition struct {
	table                  *tableEntry
	digest, metadata, list string
	days                   []dayOf
	content                map[string][]byte // of the new files, by path
	replaced               []string          // paths
	replacing              bool              // there is an edition before
}

// publishIceberg writes the metadata of the tables that have changed since the last
// edition, and commits the locations in one transaction. An edition is one snapshot of
// all tables. Manifests of days whose files are the same are kept.
func (w *writer) publishIceberg(ctx context.Context) error {
	editions, err := w.editions(ctx)
	if err != nil {
		return fmt.Errorf("make the metadata for Iceberg: %w", err)
	}
	if len(editions) == 0 {
		return nil
	}
	var paths []string
	for _, e := range editions {
		for path := range e.content {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	if err := w.intend(ctx, paths); err != nil {
		return err
	}
	if err := w.hook("metadata intended"); err != nil {
		return err
	}
	for _, e := range editions {
		for path, content := range e.content {
			if err := w.put(ctx, path, content); err != nil {
				return err
			}
		}
	}
	if err := w.hook("metadata uploaded"); err != nil {
		return err
	}
	err = again(ctx, func() error {
		return pgx.BeginFunc(ctx, w.Pool, func(tx pgx.Tx) error {
			if err := tx.SendBatch(ctx, w.editionBatch(editions, paths)).Close(); err != nil {
				return err
			}
			return w.hook("metadata committing")
		})
	})
	if err != nil {
		return fmt.Errorf("commit the metadata for Iceberg: %w", err)
	}
	return w.hook("metadata committed")
}

// editionBatch returns the statements of a commit of editions.
func (w *writer) editionBatch(editions []*edition, paths []string) *pgx.Batch {
	b := &pgx.Batch{}
	b.Queue(statement(commitSQL, "durable"))
	expect(b, 1, errLost, statement(mergeSQL, "lease"), Subscriber, w.epoch)
	expect(b, int64(len(paths)), errRefused, statement(commitSQL, "uploaded"), paths)
	b.Queue(statement(icebergSQL, "namespace"))
	for _, e := range editions {
		var days []time.Time
		for _, d := range e.days {
			days = append(days, d.Day)
			b.Queue(statement(icebergSQL, "manifest"), d.Table, d.Day, d.Digest, d.path, d.size, d.snapshot, d.Files, d.Rows)
		}
		b.Queue(statement(icebergSQL, "replace"), e.replaced)
		b.Queue(statement(icebergSQL, "forget_days"), e.table.id, days)
		b.Queue(statement(icebergSQL, "table"), e.table.id, e.digest, e.metadata, e.list)
		b.Queue(statement(icebergSQL, "location"), e.table.Name, w.dataPath+e.metadata)
	}
	return b
}

// editions returns the editions of the tables that have changed, of the newest snapshot.
func (w *writer) editions(ctx context.Context) (changed []*edition, err error) {
	err = pgx.BeginTxFunc(ctx, w.Pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		var snapshot int64
		var at time.Time
		if err := tx.QueryRow(ctx, statement(icebergSQL, "newest")).Scan(&snapshot, &at); err != nil {
			return err
		}
		of, ids, err := w.readEditions(ctx, tx)
		if err != nil {
			return err
		}
		for _, e := range of {
			files, err := e.write(ctx, tx, w.dataPath, snapshot, at, ids[e.table.id])
			if err != nil {
				return fmt.Errorf("the table %s: %w", e.table.Name, err)
			}
			if files {
				changed = append(changed, e)
			}
		}
		return nil
	})
	return changed, err
}

// readEditions reads what is published of each table, and the days that it has now.
func (w *writer) readEditions(ctx context.Context, tx pgx.Tx) (all []*edition, ids map[int64]string, err error) {
	of := map[int64]*edition{}
	for _, t := range w.catalog.tables {
		of[t.id] = &edition{table: t, content: map[string][]byte{}}
		all = append(all, of[t.id])
	}
	slices.SortFunc(all, func(a, b *edition) int { return int(a.table.id - b.table.id) })
	rows, _ := tx.Query(ctx, statement(icebergSQL, "published")) // errors are those of the rows
	var id int64
	var digest, metadata, list, uuid string
	if _, err := pgx.ForEachRow(rows, []any{&id, &digest, &metadata, &list}, func() error {
		if e := of[id]; e != nil {
			e.digest, e.metadata, e.list, e.replacing = digest, metadata, list, true
		}
		return nil
	}); err != nil {
		return nil, nil, err
	}
	ids = map[int64]string{}
	rows, _ = tx.Query(ctx, statement(icebergSQL, "identity"))
	if _, err := pgx.ForEachRow(rows, []any{&id, &uuid}, func() error { ids[id] = uuid; return nil }); err != nil {
		return nil, nil, err
	}
	stored := map[string]dayOf{}
	var s dayOf
	rows, _ = tx.Query(ctx, statement(icebergSQL, "manifests"))
	if _, err := pgx.ForEachRow(rows, []any{&s.Table, &s.Day, &s.Digest, &s.path, &s.size, &s.snapshot, &s.Files, &s.Rows}, func() error {
		stored[dayKey(&s)] = s
		return nil
	}); err != nil {
		return nil, nil, err
	}
	var d dayOf
	rows, _ = tx.Query(ctx, statement(icebergSQL, "days"))
	if _, err := pgx.ForEachRow(rows, []any{&d.Table, &d.Day, &d.Digest, &d.Files, &d.Rows, &d.Bytes}, func() error {
		e := of[d.Table]
		if e == nil { // a table of DuckDB's
			return nil
		}
		day := d
		if s, is := stored[dayKey(&d)]; is {
			if s.Digest == d.Digest {
				day.path, day.size, day.snapshot = s.path, s.size, s.snapshot
				delete(stored, dayKey(&d))
			}
		}
		e.days = append(e.days, day)
		return nil
	}); err != nil {
		return nil, nil, err
	}
	for _, s := range stored { // they are replaced
		if e := of[s.Table]; e != nil {
			e.replaced = append(e.replaced, s.path)
		}
	}
	return all, ids, nil
}

func dayKey(d *dayOf) string { return fmt.Sprint(d.Table, d.Day.Format(" "+time.DateOnly)) }

// vectorized is the property by which Spark reads rows and not batches: its reader of
// batches does not know the encoding of our texts, DELTA_LENGTH_BYTE_ARRAY.
const vectorized = "read.parquet.vectorization.enabled"

// write makes the files of the edition of a snapshot. It reports whether the table has
// changed since the last one.
func (e *edition) write(ctx context.Context, tx pgx.Tx, dataPath string, snapshot int64, at time.Time, id string) (changed bool, err error) {
	schema := schemaOf(e.table.Table)
	properties := map[string]string{"comment": tableComment(e.table.Table), vectorized: "false"}
	text, err := json.Marshal([]any{schema, properties})
	if err != nil {
		return false, err
	}
	sum := sha256.New()
	sum.Write(text)
	for _, d := range e.days {
		fmt.Fprintln(sum, d.Day, d.Digest)
	}
	digest := fmt.Sprintf("%x", sum.Sum(nil)[:16])
	if digest == e.digest {
		return false, nil
	}
	folder := "iceberg/" + e.table.Name + "/"
	if e.replacing {
		e.replaced = append(e.replaced, e.metadata, e.list)
	}
	t := iceberg.Table{ID: id, Location: dataPath + folder[:len(folder)-1], Schema: schema, Snapshot: snapshot, At: at, Properties: properties}
	var manifests []iceberg.Manifest
	for i := range e.days {
		d := &e.days[i]
		if d.path == "" {
			files, err := e.files(ctx, tx, dataPath, d.Day)
			if err != nil {
				return false, err
			}
			content, err := iceberg.WriteManifest(schema, snapshot, files)
			if err != nil {
				return false, err
			}
			d.path, d.size, d.snapshot = folder+newName()+".avro", int64(len(content)), snapshot
			e.content[d.path] = content
		}
		manifests = append(manifests, iceberg.Manifest{Path: dataPath + d.path, Bytes: d.size, Snapshot: d.snapshot, Files: d.Files, Rows: d.Rows})
		t.Files, t.Rows, t.Bytes = t.Files+d.Files, t.Rows+d.Rows, t.Bytes+d.Bytes
	}
	e.digest, e.list, e.metadata = digest, folder+newName()+".avro", folder+newName()+".metadata.json"
	t.List = dataPath + e.list
	if e.content[e.list], err = iceberg.WriteList(snapshot, manifests); err != nil {
		return false, err
	}
	e.content[e.metadata], err = iceberg.WriteMetadata(&t)
	return true, err
}

// files returns the files of a day.
func (e *edition) files(ctx context.Context, tx pgx.Tx, dataPath string, day time.Time) (files []iceberg.File, err error) {
	rows, _ := tx.Query(ctx, statement(icebergSQL, "files"), e.table.id, day) // the error is that of ForEachRow
	var path string
	var relative bool
	var n, bytes int64
	var columns []int32
	var values, nulls []int64
	var least, most []*string
	_, err = pgx.ForEachRow(rows, []any{&path, &relative, &n, &bytes, &columns, &values, &nulls, &least, &most}, func() error {
		if relative {
			path = dataPath + path
		}
		f := iceberg.File{Path: path, Rows: n, Bytes: bytes, Values: map[int32]int64{}, Nulls: map[int32]int64{}, Least: map[int32][]byte{}, Most: map[int32][]byte{}}
		for i, id := range columns {
			f.Values[id], f.Nulls[id] = values[i], nulls[i]
			if at := int(id) - 1; at < len(e.table.Columns) && least[i] != nil && most[i] != nil {
				low, is := boundOf(e.table.Columns[at].Type, *least[i])
				high, too := boundOf(e.table.Columns[at].Type, *most[i])
				if is && too {
					f.Least[id], f.Most[id] = low, high
				}
			}
		}
		files = append(files, f)
		columns, values, nulls, least, most = nil, nil, nil, nil, nil
		return nil
	})
	return files, err
}

// schemaOf returns the schema of a table. All columns may be null, because a file of a
// merge by DuckDB says so.
func schemaOf(t *tables.Table) iceberg.Schema {
	s := iceberg.Schema{Type: "struct"}
	for _, c := range t.Columns {
		s.Fields = append(s.Fields, iceberg.Field{ID: c.ID, Name: c.Name, Type: icebergType(c.Type), Doc: c.Comment()})
	}
	return s
}

func icebergType(t tables.Type) string {
	switch t {
	case tables.Integer:
		return "long"
	case tables.Boolean:
		return "boolean"
	case tables.Timestamp:
		return "timestamptz"
	case tables.Date:
		return "date"
	case tables.Decimal:
		return fmt.Sprintf("decimal(%d, %d)", tables.Precision, tables.Scale)
	case tables.Text, tables.JSON:
	}
	return "string"
}

// boundOf returns a bound of the catalogue in Iceberg's form, false where there is none:
// for decimals and booleans, which nobody looks for by range.
func boundOf(t tables.Type, text string) ([]byte, bool) {
	switch t {
	case tables.Text:
		return []byte(text), true
	case tables.Integer:
		n, err := strconv.ParseInt(text, 10, 64)
		return binary.LittleEndian.AppendUint64(nil, uint64(n)), err == nil
	case tables.Timestamp:
		at, err := time.Parse("2006-01-02 15:04:05.999999-07", text)
		return binary.LittleEndian.AppendUint64(nil, uint64(at.UnixMicro())), err == nil
	case tables.Date:
		at, err := time.Parse(time.DateOnly, text)
		return binary.LittleEndian.AppendUint32(nil, uint32(at.Unix()/86400)), err == nil
	case tables.Boolean, tables.Decimal, tables.JSON:
	}
	return nil, false
}

// deleteEditions deletes files of metadata that were replaced long enough ago.
func (w *writer) deleteEditions(ctx context.Context) error {
	rows, _ := w.Pool.Query(ctx, statement(icebergSQL, "replaced"), w.DeleteAfter, sweepFiles)
	paths, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("list the replaced metadata for Iceberg: %w", err)
	}
	if err := w.deleteFiles(ctx, paths); err != nil {
		return err
	}
	if _, err := w.Pool.Exec(ctx, statement(icebergSQL, "deleted"), paths); err != nil {
		return fmt.Errorf("forget the replaced metadata for Iceberg: %w", err)
	}
	return nil
}
