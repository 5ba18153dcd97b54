package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// follow makes the cluster follow that of another part, whose data is in the directory and
// which runs on this machine.
func (c *cluster) follow(data string) error {
	other := cluster{}
	dir := filepath.Join(data, "postgres")
	password, err := os.ReadFile(filepath.Join(dir, "password"))
	if err != nil {
		return fmt.Errorf("--standby-of: %w", err)
	}
	if other.owner, err = postgresOwner(filepath.Join(dir, "pgdata")); err != nil {
		return err
	}
	if other.pgdata, err = locatePgdata(dir, other.owner); err != nil {
		return err
	}
	running, err := os.ReadFile(filepath.Join(other.pgdata, "postmaster.pid"))
	lines := strings.Split(string(running), "\n") // the fourth has the port, the sixth the address
	if err == nil && len(lines) < 6 {
		err = errors.New("its postmaster.pid has no address")
	}
	if err != nil {
		return fmt.Errorf("--standby-of: the server to follow does not run: %w", err)
	}
	other.password, other.addr = strings.TrimSpace(string(password)), net.JoinHostPort(lines[5], lines[3])
	c.password, c.primary = other.password, &other
	return nil
}

// copyTimeout bounds the copy of the files of another server.
const copyTimeout = 2 * time.Minute

// copy makes the cluster a standby: it copies the files of the server that it follows,
// while that server runs. It needs no pg_basebackup, which some distributions of
// PostgreSQL leave out.
func (c *cluster) copy() error {
	ctx, cancel := context.WithTimeout(context.Background(), copyTimeout)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.primary.url("postgres"))
	if err != nil {
		return fmt.Errorf("connect to the server to follow: %w", err)
	}
	defer conn.Close(ctx)
	fresh := c.pgdata + ".new"
	if err := errors.Join(os.RemoveAll(fresh), os.RemoveAll(c.pgdata)); err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, "SELECT pg_backup_start('standby', true)"); err != nil {
		return fmt.Errorf("begin the copy: %w", err)
	}
	if err := c.copyFiles(c.primary.pgdata, fresh); err != nil {
		return fmt.Errorf("copy the files: %w", err)
	}
	var label string
	if err := conn.QueryRow(ctx, "SELECT labelfile FROM pg_backup_stop(false)").Scan(&label); err != nil {
		return fmt.Errorf("end the copy: %w", err)
	}
	follow, err := c.conninfo()
	if err != nil {
		return err
	}
	for name, text := range map[string]string{
		"backup_label":         label,
		"standby.signal":       "",
		"postgresql.auto.conf": "primary_conninfo = '" + strings.ReplaceAll(follow, "'", "''") + "'\n",
	} {
		file := filepath.Join(fresh, name)
		if err := errors.Join(os.WriteFile(file, []byte(text), 0o600), c.chown(file)); err != nil {
			return err
		}
	}
	return os.Rename(fresh, c.pgdata)
}

// conninfo returns how the standby connects to the server that it follows.
func (c *cluster) conninfo() (string, error) {
	host, port, err := net.SplitHostPort(c.primary.addr)
	return fmt.Sprintf("host=%s port=%s user=%s password=%s sslmode=disable application_name=standby",
		host, port, postgresName, c.password), err
}

// copyFiles copies a running cluster's files. Files that vanish meanwhile are left out:
// the write-ahead log since the begin of the copy makes up for them.
func (c *cluster) copyFiles(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, name)
		switch {
		case d.IsDir():
			return errors.Join(os.Mkdir(target, 0o700), c.chown(target))
		case !d.Type().IsRegular() || ownFile(name):
			return nil
		}
		if err := copyFile(path, target); errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
		return c.chown(target)
	})
}

// ownFile reports whether a file of the cluster is of no use in a copy, because it belongs
// to the running server.
func ownFile(name string) bool {
	switch top, _, _ := strings.Cut(name, string(filepath.Separator)); top {
	case "postmaster.pid", "postmaster.opts", "pg_wal", "pg_replslot", "pg_stat_tmp", "pg_subtrans", "pg_notify", "pg_serial", "pg_snapshots", "pg_dynshmem":
		return true
	}
	return false
}

func copyFile(from, to string) error {
	r, err := os.Open(from)
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	return errors.Join(err, w.Close())
}
