package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/infra/wait"
)

// Postgres is a PostgreSQL server: the primary, or a standby that follows it.
type Postgres struct {
	name, dir, address, binaries string
	owner                        *syscall.Credential // nil for the current user
	faketime                     string              // path of libfaketime; "" if it is not installed
	process                      *child
}

const database = "netsim"

// findPostgres returns the directory with PostgreSQL's programs: $PG_BIN, that on PATH,
// or the newest that a distribution or netsim-dev has installed.
func findPostgres() (string, error) {
	if dir := os.Getenv("PG_BIN"); dir != "" {
		return dir, nil
	}
	patterns := []string{"/usr/lib/postgresql/*/bin/postgres", "/usr/pgsql-*/bin/postgres"}
	if cache, err := os.UserCacheDir(); err == nil {
		patterns = append(patterns, filepath.Join(cache, "netsim-dev", "postgres-*/bin/postgres"))
	}
	patterns = append(patterns, "/var/cache/netsim-dev/postgres-*/bin/postgres")
	if path, err := exec.LookPath("postgres"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path), nil
		}
	}
	for _, pattern := range patterns {
		found, _ := filepath.Glob(pattern)
		if len(found) > 0 {
			return filepath.Dir(slices.Max(found)), nil
		}
	}
	return "", errors.New("PostgreSQL is missing: run 'make netsim-dev' and 'bin/netsim-dev part postgres --data DIR' once, or set PG_BIN")
}

// unprivileged returns the user that PostgreSQL runs as: it refuses to run as root.
func unprivileged() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(err1, err2)
	}
	return nil, errors.New("there is no user postgres or nobody to run PostgreSQL as")
}

func (p *Postgres) data() string { return filepath.Join(p.dir, "data") }

// command prepares one of PostgreSQL's programs to run as the owner of the data.
func (p *Postgres) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(p.binaries, name), args...)
	cmd.Dir = "/"
	if p.owner != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.owner}
	}
	return cmd
}

// create makes the first primary. The server is on loopback and ends with the
// campaign, so it trusts its clients.
func (p *Postgres) create(ctx context.Context) error {
	if err := p.makeDir(); err != nil {
		return err
	}
	init := p.command("initdb", "-D", p.data(), "-U", database, "-E", "UTF8", "--locale=C.UTF-8", "-A", "trust", "--no-instructions", "--no-sync")
	if out, err := init.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	access := "host all all 127.0.0.0/8 trust\nhost replication all 127.0.0.0/8 trust\n"
	if err := os.WriteFile(filepath.Join(p.data(), "pg_hba.conf"), []byte(access), 0o644); err != nil {
		return err
	}
	if err := p.Start(); err != nil {
		return err
	}
	if err := p.Await(ctx, slowest); err != nil {
		return err
	}
	return p.exec(ctx, "postgres", "CREATE DATABASE "+database)
}

func (p *Postgres) makeDir() error {
	if err := errors.Join(os.RemoveAll(p.data()), os.MkdirAll(p.dir, 0o755), os.Mkdir(p.data(), 0o700)); err != nil {
		return err
	}
	if p.owner == nil {
		return nil
	}
	return errors.Join(os.Chown(p.dir, int(p.owner.Uid), int(p.owner.Gid)), os.Chown(p.data(), int(p.owner.Uid), int(p.owner.Gid)))
}

// Start starts the server. It does not wait until the server answers.
func (p *Postgres) Start() (err error) {
	host, port, err := net.SplitHostPort(p.address)
	if err != nil {
		return err
	}
	// A postmaster that was killed leaves its file; no other server uses the data.
	if err := os.Remove(filepath.Join(p.data(), "postmaster.pid")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	args := []string{"-D", p.data()}
	for _, setting := range []string{
		"listen_addresses=" + host, "port=" + port, "unix_socket_directories=", "max_connections=200", "shared_buffers=64MB", "jit=off",
		"wal_level=replica", "max_wal_senders=5", "hot_standby=on", "wal_keep_size=256MB", "max_wal_size=256MB", "min_wal_size=64MB",
		"checkpoint_timeout=1min", "wal_receiver_timeout=5s", "wal_sender_timeout=5s", "wal_retrieve_retry_interval=200ms", "log_checkpoints=off",
	} {
		args = append(args, "-c", setting)
	}
	cmd := p.command("postgres", args...)
	clock, err := p.clockSettings()
	if err != nil {
		return err
	}
	if cmd.Env = append(os.Environ(), clock...); len(clock) == 0 {
		cmd.Env = nil
	}
	p.process, err = spawn(p.name, filepath.Join(p.dir, "postgres.log"), cmd)
	return err
}

// Await waits until the server answers queries.
func (p *Postgres) Await(ctx context.Context, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for {
		err := p.exec(ctx, "postgres", "SELECT 1")
		if err == nil {
			return nil
		}
		if !p.process.running() {
			return fmt.Errorf("%s ended: %w", p.name, p.process.lastLines())
		}
		if wait.For(ctx, 50*time.Millisecond) != nil {
			return fmt.Errorf("%s does not answer: %w", p.name, err)
		}
	}
}

// Revive waits until the server answers queries, and starts it whenever it does not run. A
// server whose disk was full may end some time after there is space again.
func (p *Postgres) Revive(ctx context.Context, timeout time.Duration) error {
	for deadline := time.Now().Add(timeout); ; {
		if !p.Running() {
			if err := p.Start(); err != nil {
				return err
			}
		}
		err := p.Await(ctx, time.Until(deadline))
		if err == nil || p.Running() || ctx.Err() != nil || time.Now().After(deadline) {
			return err
		}
		if wait.For(ctx, restartAfter) != nil {
			return err
		}
	}
}

func (p *Postgres) exec(ctx context.Context, database, sql string) error {
	conn, err := pgx.Connect(ctx, p.url(database))
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // the statement has been answered
	_, err = conn.Exec(ctx, sql)
	return err
}

func (p *Postgres) url(name string) string { return postgresURL(p.address, name) }

func postgresURL(address, name string) string {
	return "postgres://" + database + "@" + address + "/" + name + "?sslmode=disable"
}

// URL connects to the service's database without a link.
func (p *Postgres) URL() string { return p.url(database) }

// Name is the name of the server, such as postgres-1.
func (p *Postgres) Name() string { return p.name }

// Running reports whether the server's process runs.
func (p *Postgres) Running() bool { return p.process.running() }

// Kill kills the server and its sessions with SIGKILL.
func (p *Postgres) Kill() { p.process.kill() }

// follow makes the standby from a copy of the primary's files and starts it. Its
// connection to the primary is the link at the given address.
func (p *Postgres) follow(ctx context.Context, primary *Postgres, link string) error {
	if err := p.makeDir(); err != nil {
		return err
	}
	label, err := p.copy(ctx, primary)
	if err != nil {
		return fmt.Errorf("copy the primary: %w", err)
	}
	host, port, err := net.SplitHostPort(link)
	if err != nil {
		return err
	}
	settings := fmt.Sprintf("primary_conninfo = 'host=%s port=%s user=%s application_name=%s'\n", host, port, database, p.name)
	for name, text := range map[string]string{"backup_label": label, "standby.signal": "", "postgresql.auto.conf": settings} {
		if err := os.WriteFile(filepath.Join(p.data(), name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	if p.owner != nil {
		chown := exec.Command("chown", "-R", fmt.Sprintf("%d:%d", p.owner.Uid, p.owner.Gid), p.data())
		if out, err := chown.CombinedOutput(); err != nil {
			return fmt.Errorf("chown: %w: %s", err, out)
		}
	}
	if err := p.Start(); err != nil {
		return err
	}
	return p.Await(ctx, slowest)
}

// copy copies the files of a running primary, and returns the label of the backup. The
// low-level interface needs no program but the server.
func (p *Postgres) copy(ctx context.Context, primary *Postgres) (label string, err error) {
	conn, err := pgx.Connect(ctx, primary.url("postgres"))
	if err != nil {
		return "", err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // a backup that is not ended is dropped with its session
	if _, err := conn.Exec(ctx, "SELECT pg_backup_start('standby', true)"); err != nil {
		return "", err
	}
	// Files may vanish while they are copied, which cp reports; the log makes up for it.
	out, cpErr := exec.CommandContext(ctx, "cp", "-a", primary.data()+"/.", p.data()).CombinedOutput()
	if cpErr != nil && strings.Count(string(out), "\n") != strings.Count(string(out), "No such file") {
		return "", fmt.Errorf("cp: %w: %s", cpErr, out)
	}
	if err := conn.QueryRow(ctx, "SELECT labelfile FROM pg_backup_stop(false)").Scan(&label); err != nil {
		return "", err
	}
	for _, name := range []string{"postmaster.pid", "postmaster.opts", "standby.signal", "recovery.signal"} {
		if err := os.Remove(filepath.Join(p.data(), name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
	}
	return label, nil
}
