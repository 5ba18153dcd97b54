package teststack

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"netsim/internal/devpart"
)

// startProcess runs a server with netsim-dev and waits until it is ready.
func startProcess(name, data string, args ...string) (*devpart.Part, error) {
	path, err := binary()
	if err != nil {
		return nil, err
	}
	return devpart.Start(context.Background(), path, name, data, args...)
}

// Process is a server of one test, which the test can end and restart. Its methods
// must be called by the goroutine that runs the test.
type Process struct {
	Addr string // host:port, the same after a restart
	URL  string // URL of postgres' database; base URL of objects and issuer

	t       testing.TB
	name    string
	dir     string
	args    []string
	running *devpart.Part // nil while it is stopped
}

// Start runs a server until the test ends, with its data in dir. The name is broker,
// kafka, postgres, objects or issuer. The args are flags of "netsim-dev part";
// without flags the server fsyncs before it acknowledges.
func Start(t testing.TB, name, dir string, args ...string) *Process {
	t.Helper()
	if name == "kafka" {
		args = append(args, "--jars", kafkaJars(t))
	}
	if err := openToAll(dir); err != nil {
		t.Fatalf("teststack: %v", err)
	}
	p := &Process{t: t, name: name, dir: dir, args: args}
	p.start()
	p.args = append(p.args, "--listen", p.Addr)
	t.Cleanup(func() {
		if p.running != nil {
			p.Stop()
		}
	})
	return p
}

// openToAll makes dir, and its parents below the directory for temporary files,
// searchable by every user. The tests of root need this: PostgreSQL then runs as
// another user, and t.TempDir has mode 0700. Secrets are in files of mode 0600.
func openToAll(dir string) error {
	for temp := os.TempDir(); strings.HasPrefix(dir, temp+string(filepath.Separator)); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			return err
		}
	}
	return nil
}

func (p *Process) start() {
	p.t.Helper()
	running, err := startProcess(p.name, p.dir, p.args...)
	if err != nil {
		p.t.Fatalf("teststack: %v", err)
	}
	p.running, p.Addr, p.URL = running, running.Addr, running.URL
}

// Kill ends the server with SIGKILL.
func (p *Process) Kill() {
	p.t.Helper()
	if err := p.running.Kill(); err != nil {
		p.t.Fatalf("teststack: killing %s: %v", p.name, err)
	}
	p.running = nil
}

// Stop ends the server in order.
func (p *Process) Stop() {
	p.t.Helper()
	err := p.running.Stop(context.Background())
	p.running = nil
	if err != nil {
		p.t.Errorf("teststack: stopping %s: %v", p.name, err)
	}
}

// Restart starts the server again with the same data and address. A server that
// still runs is ended in order first.
func (p *Process) Restart() {
	p.t.Helper()
	if p.running != nil {
		p.Stop()
	}
	p.start()
}
