package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// postgresName is the superuser and the database of the private cluster.
const postgresName = "netsim"

// defaultConnections is how many sessions PostgreSQL allows at the same time.
const defaultConnections = 200

// postgresStart bounds how long a start may take, including crash recovery.
const postgresStart = 2 * time.Minute

// postgresTakeover is how long a start waits for the previous server to end. When
// netsim-dev is killed, the kernel signals its PostgreSQL, which takes a moment to
// end.
const postgresTakeover = 15 * time.Second

// elsewhere is the directory of the clusters whose owner cannot enter the data
// directory.
const elsewhere = "/var/lib/netsim-dev"

// cluster is a private PostgreSQL cluster, reachable on loopback with a password
// from a file in its directory.
type cluster struct {
	binaries
	owner       *syscall.Credential // the user that the cluster runs as; nil for the current user
	pgdata      string
	log         string
	addr        string
	auth        string // method by which a session shows the password
	password    string
	sync        bool
	connections int      // at the same time
	replicas    bool     // standbys can follow it
	primary     *cluster // that it follows; nil for none
}

// startPostgres starts the private cluster in dir and creates it at the first
// start. postgres is a child of this process, not pg_ctl's daemon, so that it ends
// with this process.
func startPostgres(o options, dir string) (_ *server, err error) {
	c := cluster{auth: "scram-sha-256", sync: o.sync, connections: o.connections, replicas: o.replicas || o.standbyOf != ""}
	if o.ephemeral { // its password ends with it, and SCRAM takes milliseconds of each of thousands of sessions
		c.auth = "md5"
	}
	if c.owner, err = postgresOwner(filepath.Join(dir, "pgdata")); err != nil {
		return nil, err
	}
	if c.pgdata, err = locatePgdata(dir, c.owner); err != nil {
		return nil, err
	}
	if c.binaries, err = findBinaries(c.pgdata, c.owner); err != nil {
		return nil, err
	}
	password := secret
	if o.standbyOf != "" && majorOf(c.pgdata) == 0 {
		if err := c.follow(o.standbyOf); err != nil {
			return nil, err
		}
		password = func() string { return c.password }
	}
	if c.password, err = readOrCreate(filepath.Join(dir, "password"), password); err != nil {
		return nil, err
	}
	c.log = filepath.Join(dir, "postgres.log")
	if err := c.init(); err != nil {
		return nil, err
	}
	running, err := c.start(o.listen)
	if err != nil {
		return nil, err
	}
	published := endpoint{Addr: c.addr, URL: c.url(postgresName), PID: running.cmd.Process.Pid}
	if filepath.Dir(c.pgdata) != dir {
		published.Data = c.pgdata
	}
	return &server{
		endpoint: published,
		stop:     func() error { return running.stop(syscall.SIGINT, 20*time.Second) },
		ended:    running.wait(),
	}, nil
}

// init makes the cluster if there is none. It makes it in another directory and
// renames that, so that an interrupted initdb leaves no partial cluster.
func (c *cluster) init() error {
	if _, err := os.Stat(filepath.Join(c.pgdata, "PG_VERSION")); err == nil {
		return nil
	}
	if c.primary != nil {
		return c.copy()
	}
	fresh := c.pgdata + ".new"
	password := c.pgdata + ".password"
	if err := errors.Join(os.RemoveAll(fresh), os.RemoveAll(c.pgdata), os.Mkdir(fresh, 0o700)); err != nil {
		return err
	}
	if err := os.WriteFile(password, []byte(c.password+"\n"), 0o600); err != nil {
		return err
	}
	defer os.Remove(password)
	if err := errors.Join(c.chown(fresh), c.chown(password)); err != nil {
		return err
	}
	args := []string{"-D", fresh, "-U", postgresName, "-E", "UTF8", "--locale=C.UTF-8",
		"-A", c.auth, "--pwfile", password, "--no-instructions"}
	if !c.sync {
		args = append(args, "--no-sync")
	}
	cmd := c.command("initdb", args...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, lastLine(string(out)))
	}
	return os.Rename(fresh, c.pgdata)
}

// start starts the server and waits until it answers. It tries again while an
// earlier server on the same data is ending, or when another process has taken the
// free port.
func (c *cluster) start(listen string) (*child, error) {
	deadline := time.Now().Add(postgresTakeover)
	for {
		var err error
		if c.addr, err = address(listen); err != nil {
			return nil, err
		}
		running, err := c.spawn()
		if err != nil {
			return nil, err
		}
		err = c.ready(running)
		if err == nil {
			return running, nil
		}
		running.stop(syscall.SIGINT, 5*time.Second)
		transient := strings.Contains(err.Error(), "already exists") || // postmaster.pid
			strings.Contains(err.Error(), "shared memory block") ||
			strings.Contains(err.Error(), "could not create any TCP/IP sockets")
		if !transient || time.Now().After(deadline) {
			return nil, err
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// spawn starts postgres. Its commits are asynchronous: a power cut may lose the last
// half second of the read model, but the event log's offset is stored in the same
// transactions, so the projector applies those events again.
func (c *cluster) spawn() (*child, error) {
	host, port, err := net.SplitHostPort(c.addr)
	if err != nil {
		return nil, err
	}
	settings := []string{
		"listen_addresses=" + host, "port=" + port, "unix_socket_directories=",
		"max_connections=" + strconv.Itoa(c.connections), "shared_buffers=256MB", "jit=off", "random_page_cost=1.1",
		"synchronous_commit=off", "max_wal_size=2GB", "checkpoint_timeout=15min", "log_checkpoints=off",
	}
	if c.replicas {
		settings = append(settings, "wal_level=replica", "max_wal_senders=10", "wal_keep_size=512MB", "hot_standby=on")
	} else {
		settings = append(settings, "wal_level=minimal", "max_wal_senders=0")
	}
	if !c.sync {
		settings = append(settings, "fsync=off", "full_page_writes=off")
	}
	args := []string{"-D", c.pgdata}
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	log, err := os.OpenFile(c.log, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := c.command("postgres", args...)
	cmd.Stdout, cmd.Stderr = log, log
	return spawn(cmd, syscall.SIGINT) // SIGINT is PostgreSQL's fast shutdown
}

// ready waits until the server answers, and creates the database if it is missing.
// When the server ends first, it returns the error in the server's log.
func (c *cluster) ready(running *child) error {
	ctx, cancel := context.WithTimeout(context.Background(), postgresStart)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-running.ended:
			text, _ := os.ReadFile(c.log)
			return fmt.Errorf("postgres ended at once: %s", causeIn(string(text)))
		case <-ctx.Done():
			return fmt.Errorf("postgres did not answer in %v; see %s", postgresStart, c.log)
		case <-tick.C:
		}
		conn, err := pgx.Connect(ctx, c.url("postgres"))
		if err != nil {
			continue
		}
		defer conn.Close(ctx)
		var exists bool
		const query = "select exists (select from pg_database where datname = $1)"
		if err := conn.QueryRow(ctx, query, postgresName).Scan(&exists); err != nil || exists {
			return err
		}
		_, err = conn.Exec(ctx, "create database "+postgresName)
		return err
	}
}

func (c *cluster) url(database string) string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword(postgresName, c.password),
		Host:     c.addr,
		Path:     "/" + database,
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

// command prepares one of PostgreSQL's programs to run as the cluster's owner.
func (c *cluster) command(name string, args ...string) *exec.Cmd {
	return commandAs(c.owner, filepath.Join(c.dir, name), args...)
}

// chown changes the owner of a file to the cluster's owner.
func (c *cluster) chown(file string) error {
	if c.owner == nil {
		return nil
	}
	return os.Chown(file, int(c.owner.Uid), int(c.owner.Gid))
}

// locatePgdata returns the directory of the cluster's files. It is below dir, unless
// the owner cannot search one of dir's parents (for example a clone below /root).
// Then it is below elsewhere, under a random name that is stored in dir. Each data
// directory therefore has its own cluster, and a new one after it was deleted.
func locatePgdata(dir string, owner *syscall.Credential) (string, error) {
	probe := commandAs(owner, "/bin/sh", "-c", ":")
	probe.Dir = dir
	err := probe.Run()
	if err == nil {
		return filepath.Join(dir, "pgdata"), nil
	}
	if owner == nil || !errors.Is(err, fs.ErrPermission) {
		return "", err
	}
	name, err := readOrCreate(filepath.Join(dir, "elsewhere"), secret)
	if err != nil {
		return "", err
	}
	path := filepath.Join(elsewhere, name)
	return filepath.Join(path, "pgdata"), makeDir(path)
}

// deleteData deletes the data of all parts, including that below elsewhere.
func deleteData(data string) error {
	name, err := os.ReadFile(filepath.Join(data, "postgres", "elsewhere"))
	if err == nil {
		err = os.RemoveAll(filepath.Join(elsewhere, strings.TrimSpace(string(name))))
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, os.RemoveAll(data))
}

// causeIn returns the line of PostgreSQL's log that says why the server ended.
func causeIn(log string) string {
	for line := range strings.Lines(log) {
		if _, why, found := strings.Cut(line, "FATAL:"); found {
			return strings.TrimSpace(why)
		}
	}
	return lastLine(log)
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// majorOf returns the major version of a cluster's files, or 0 if there are none.
func majorOf(pgdata string) int {
	text, _ := os.ReadFile(filepath.Join(pgdata, "PG_VERSION"))
	major, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return major
}
