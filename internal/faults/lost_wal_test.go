package faults_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"netsim/internal/devpart"
	"netsim/internal/testworld"
)

// powerCut makes PostgreSQL lose what it has written after a position in its write-ahead
// log, as a power failure at that moment does: its processes end, and the log is cut at
// the position.
type powerCut struct {
	t      *testing.T
	dir    string // the data of PostgreSQL
	file   string // the file of the write-ahead log that has the position
	offset int64  // of the position in the file
}

// losesCommits prepares PostgreSQL for power cuts: it must not write data pages before
// the log is cut.
func (d *deployment) losesCommits() {
	for _, setting := range []string{"fsync = off", "full_page_writes = off", "bgwriter_lru_maxpages = 0", "autovacuum = off"} {
		d.execute(`ALTER SYSTEM SET ` + setting)
	}
	d.execute(`SELECT pg_reload_conf()`)
	d.execute(`CREATE TABLE public.kept (n int)`)
}

// powerCutNow chooses the current position. Then it adds a row, which verifyLoss expects to
// be lost.
func (d *deployment) powerCutNow() *powerCut {
	d.t.Helper()
	c := &powerCut{t: d.t}
	var at string
	d.query(`SELECT concat_ws(' ', f.file_name, f.file_offset, current_setting('data_directory'))
		FROM pg_walfile_name_offset(pg_current_wal_insert_lsn()) f`, &at)
	if _, err := fmt.Sscan(at, &c.file, &c.offset, &c.dir); err != nil {
		d.t.Fatal(err)
	}
	d.execute(`INSERT INTO public.kept VALUES (1)`)
	return c
}

// verifyLoss fails the test when PostgreSQL has lost nothing.
func (d *deployment) verifyLoss() {
	d.t.Helper()
	var kept bool
	if d.query(`SELECT EXISTS (SELECT FROM public.kept)`, &kept); kept {
		d.t.Fatal("PostgreSQL has lost nothing")
	}
}

// cutLog cuts the write-ahead log at the position. The server must not run.
func (c *powerCut) cutLog() {
	c.t.Helper()
	files, err := os.ReadDir(filepath.Join(c.dir, "pg_wal"))
	if err != nil {
		c.t.Fatal(err)
	}
	for _, file := range files {
		offset := int64(0)
		switch name := file.Name(); {
		case len(name) != len(c.file) || name < c.file:
			continue
		case name == c.file:
			offset = c.offset
		}
		path := filepath.Join(c.dir, "pg_wal", file.Name())
		stat, err := os.Stat(path)
		if err != nil {
			c.t.Fatal(err)
		}
		for _, size := range []int64{offset, stat.Size()} { // the rest becomes zeros
			if err := os.Truncate(path, size); err != nil {
				c.t.Fatal(err)
			}
		}
	}
}

// crashSessions kills all processes of PostgreSQL except the postmaster, cuts the log, and
// waits until the postmaster has started the others again.
func (c *powerCut) crashSessions(url string) {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(c.dir, "postmaster.pid"))
	if err != nil {
		c.t.Fatal(err)
	}
	first, err := strconv.Atoi(strings.SplitN(string(text), "\n", 2)[0])
	if err != nil {
		c.t.Fatal(err)
	}
	if err := devpart.KillChildren(first); err != nil {
		c.t.Fatal(err)
	}
	c.cutLog()
	if err := syscall.Kill(first, syscall.SIGCONT); err != nil {
		c.t.Fatal(err)
	}
	testworld.Await(c.t, func() bool {
		conn, err := pgx.Connect(c.t.Context(), url)
		if err == nil {
			conn.Close(context.WithoutCancel(c.t.Context())) //nolint:errcheck // only the connection was tested
		}
		return err == nil
	})
}
