package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/infra/devissuer"
	"netsim/infra/eventlog"
	"netsim/infra/postgres"
	"netsim/infra/projector"
	"netsim/internal/devpart"
)

// stack has the servers that the service needs, each in its own process.
type stack struct {
	dir      string
	binaries binaries
	parts    map[string]*devpart.Part
	pool     *pgxpool.Pool // connected to the live read model, as the service is
	token    string        // service token with access to every workspace of one account
	serves   int           // services started so far
	shards   int           // partitions of the topics that the service creates
}

// servers are the settings of the servers of a stack.
type servers struct {
	sync   bool   // the broker writes to the disk before it acknowledges
	kafka  string // directory of Apache Kafka's jars; "" runs the embedded broker
	shards int    // partitions of the service's topics; 0 is the default
}

// process is a running child. Its standard error goes to a file.
type process struct {
	cmd    *exec.Cmd
	said   string // path of the file with standard error
	killed bool
}

// startStack starts the servers on fresh data. PostgreSQL runs as it does in
// netsim-dev.
func (b *bench) startStack(ctx context.Context, how servers) (_ *stack, err error) {
	say("starting the servers, broker %s fsync", map[bool]string{true: "with", false: "without"}[how.sync])
	dir, err := os.MkdirTemp(b.dir, "stack-")
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, err
	}
	s := &stack{dir: dir, binaries: b.binaries, parts: map[string]*devpart.Part{}, shards: cmp.Or(how.shards, partitions)}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.stop())
		}
	}()
	for _, name := range []string{"broker", "postgres", "objects", "issuer"} {
		part, flags := name, []string(nil)
		if name == "broker" && how.kafka != "" {
			part, flags = "kafka", []string{"--jars", how.kafka}
		}
		if name == "broker" && !how.sync {
			flags = append(flags, "--no-sync")
		}
		if s.parts[name], err = b.binaries.startPart(ctx, dir, part, flags...); err != nil {
			return s, err
		}
	}
	if s.token, err = devissuer.Mint(dir, devissuer.Options{Service: true}, time.Now()); err != nil {
		return s, err
	}
	s.pool, err = postgres.Open(ctx, s.parts["postgres"].URL, projector.Live, 8)
	return s, err
}

// startPart starts a server on fresh data in dir, which it deletes at the end.
func (b binaries) startPart(ctx context.Context, dir, name string, flags ...string) (*devpart.Part, error) {
	return devpart.Start(ctx, b.stack, name, dir, append([]string{"--ephemeral"}, flags...)...)
}

// start starts the child. The child ends when this process ends.
func (p *process) start() error {
	said, err := os.Create(p.said)
	if err != nil {
		return err
	}
	defer said.Close() //nolint:errcheck // the child has its own descriptor
	p.cmd.Stderr = said
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM} // no Ctrl-C; bench stops it in order
	return p.cmd.Start()
}

// stop stops the child and waits for it. If a child that gets SIGTERM fails, the error
// has the end of its standard error. A killed child has already ended.
func (p *process) stop() error {
	if p.killed {
		return nil
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	if err := p.cmd.Wait(); err != nil {
		return errors.Join(err, p.complaint())
	}
	return nil
}

// kill ends the child with SIGKILL.
func (p *process) kill() error {
	p.killed = true
	err := p.cmd.Process.Kill()
	p.cmd.Wait() //nolint:errcheck // the error is "signal: killed"
	return err
}

// complaint returns the end of the child's standard error as an error.
func (p *process) complaint() error {
	text, err := os.ReadFile(p.said)
	return errors.Join(err, errors.New(string(bytes.TrimSpace(text[max(0, len(text)-2000):]))))
}

func (s *stack) stop() error {
	if s.pool != nil {
		s.pool.Close()
	}
	var err error
	for name, part := range s.parts {
		if part == nil {
			continue
		}
		if failed := part.Stop(context.Background()); failed != nil {
			err = errors.Join(err, fmt.Errorf("end %s: %w", name, failed))
		}
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}

func (s *stack) brokers() []string { return []string{s.parts["broker"].Addr} }

// openEventLog opens the event log that the service writes to.
func (s *stack) openEventLog(ctx context.Context) (*eventlog.Kafka, error) {
	return eventlog.Open(ctx, eventlog.Config{
		Brokers: s.brokers(), Relaxed: true, MaxQueued: 1 << 20, MaxQueuedBytes: 1 << 30, AppendTimeout: time.Minute,
	})
}
