package operate

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"

	"netsim/cmd/settings"
)

// keptTables are the tables that cannot be rebuilt from the log (docs/recovery.md), with the
// condition under which a restored row, r, is left out: the database has newer ones.
var keptTables = []struct{ name, known string }{
	{"netsim.directory", "EXISTS (SELECT FROM netsim.directory d WHERE d.kind = r.kind AND d.id = r.id)"},
	{"netsim.simulation_logs", "EXISTS (SELECT FROM netsim.simulation_logs l WHERE l.simulation_id = r.simulation_id)"},
}

// dumpEnd is the last line of a dump. pg_dump ends its own with another one.
const dumpEnd, pgDumpEnd = "-- netsim tables dump complete", "-- PostgreSQL database dump complete"

// DumpTables writes the tables that cannot be rebuilt to a file, all as they are at one
// moment. The file is the former one until the new one is whole. It needs only PostgreSQL.
func DumpTables(ctx context.Context, c settings.Config, file string) (rows int64, err error) {
	db, err := pgx.Connect(ctx, c.Postgres)
	if err != nil {
		return 0, err
	}
	defer db.Close(context.WithoutCancel(ctx)) //nolint:errcheck // everything was read
	to, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+"-*")
	if err != nil {
		return 0, err
	}
	defer os.Remove(to.Name()) //nolint:errcheck // it was renamed unless something failed
	err = pgx.BeginTxFunc(ctx, db, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		for _, table := range keptTables {
			n, err := dumpTable(ctx, tx, to, table.name)
			if err != nil {
				return fmt.Errorf("dump %s: %w", table.name, err)
			}
			rows += n
		}
		return nil
	})
	if err == nil {
		_, err = fmt.Fprintln(to, dumpEnd)
	}
	if err == nil {
		err = to.Sync()
	}
	if err = errors.Join(err, to.Close()); err != nil {
		return 0, err
	}
	return rows, os.Rename(to.Name(), file)
}

// dumpTable writes a table as pg_dump --data-only does.
func dumpTable(ctx context.Context, tx pgx.Tx, to io.Writer, table string) (int64, error) {
	var columns string
	err := tx.QueryRow(ctx, `SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
		WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped`, table).Scan(&columns)
	if err != nil {
		return 0, err
	}
	columns = table + " (" + columns + ")"
	if _, err := fmt.Fprintf(to, "COPY %s FROM stdin;\n", columns); err != nil {
		return 0, err
	}
	tag, err := tx.Conn().PgConn().CopyTo(ctx, to, "COPY "+columns+" TO STDOUT")
	if err == nil {
		_, err = fmt.Fprintln(to, `\.`)
	}
	return tag.RowsAffected(), err
}

// RestoreTables adds the rows of a dump, also of one by pg_dump, and returns how many it
// added. What the database has already stays as it is. All is added, or nothing.
func (t *Tools) RestoreTables(ctx context.Context, file string) (added int64, err error) {
	from, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer from.Close() //nolint:errcheck // it is only read
	if err := wholeDump(from); err != nil {
		return 0, fmt.Errorf("%s %w", file, err)
	}
	err = pgx.BeginFunc(ctx, t.conn.Pool, func(tx pgx.Tx) error {
		added, err = restoreAll(ctx, tx, bufio.NewReader(from))
		return err
	})
	if err != nil {
		return 0, err
	}
	return added, nil
}

// restoreAll restores the tables in the lines of a dump, which has each of them.
func restoreAll(ctx context.Context, tx pgx.Tx, lines *bufio.Reader) (added int64, err error) {
	for tables := 0; ; {
		line, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) && tables == len(keptTables) {
			return added, nil
		}
		if err != nil {
			return added, fmt.Errorf("%d of %d tables are in the dump: %w", tables, len(keptTables), err)
		}
		head := copyLine.FindStringSubmatch(strings.TrimSpace(line))
		if head == nil {
			continue
		}
		n, err := restoreTable(ctx, tx, &copied{lines: lines}, head[1], head[2])
		if err != nil {
			return added, fmt.Errorf("restore %s: %w", head[1], err)
		}
		added, tables = added+n, tables+1
	}
}

var copyLine = regexp.MustCompile(`^COPY (\S+) \(([\w", ]+)\) FROM stdin;$`)

// wholeDump refuses a file that does not end as a dump does, and returns to its beginning.
func wholeDump(from *os.File) error {
	const most = 256 // more than any end
	size, err := from.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	end := make([]byte, min(size, most))
	if _, err := from.ReadAt(end, size-int64(len(end))); err != nil {
		return err
	}
	if !bytes.Contains(end, []byte(dumpEnd+"\n")) && !bytes.Contains(end, []byte(pgDumpEnd+"\n")) {
		return errors.New("is not a whole dump of 'netsim tables dump': its end is missing")
	}
	_, err = from.Seek(0, io.SeekStart)
	return err
}

func restoreTable(ctx context.Context, tx pgx.Tx, rows io.Reader, table, columns string) (int64, error) {
	for _, kept := range keptTables {
		if kept.name != table {
			continue
		}
		if _, err := tx.Exec(ctx, "CREATE TEMP TABLE restored ON COMMIT DROP AS SELECT "+columns+" FROM "+table+" WITH NO DATA"); err != nil {
			return 0, err
		}
		if _, err := tx.Conn().PgConn().CopyFrom(ctx, rows, "COPY restored ("+columns+") FROM STDIN"); err != nil {
			return 0, err
		}
		tag, err := tx.Exec(ctx, "INSERT INTO "+table+" ("+columns+") SELECT "+columns+" FROM restored r WHERE NOT "+kept.known)
		if err != nil {
			return 0, err
		}
		_, err = tx.Exec(ctx, "DROP TABLE restored")
		return tag.RowsAffected(), err
	}
	return 0, errors.New("it is made from the log, and never restored")
}

// copied reads the lines of a table up to its end.
type copied struct {
	lines *bufio.Reader
	rest  []byte
	done  bool
}

// Read implements io.Reader.
func (c *copied) Read(p []byte) (int, error) {
	for len(c.rest) == 0 {
		if c.done {
			return 0, io.EOF
		}
		line, err := c.lines.ReadBytes('\n')
		if err != nil {
			return 0, io.ErrUnexpectedEOF
		}
		if c.done = strings.TrimRight(string(line), "\r\n") == `\.`; !c.done {
			c.rest = line
		}
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}
