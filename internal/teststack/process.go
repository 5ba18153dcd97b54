package teststack

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// endpoint is the JSON object that netsim-dev prints for a server when it is ready.
type endpoint struct {
	Addr      string
	URL       string
	PID       int
	Region    string
	AccessKey string
	SecretKey string
	JWKSURL   string
	Issuer    string
	Audience  string
}

// process is a running process of netsim-dev with one server.
type process struct {
	name     string
	data     string // its data directory
	endpoint endpoint
	cmd      *exec.Cmd
	stdin    io.Closer // closing it ends the server
}

// startProcess runs netsim-dev with one part and waits until it is ready. Its
// standard error goes to a file beside the data.
func startProcess(name, data string, args ...string) (*process, error) {
	path, err := binary()
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(data, name+".log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(path, append([]string{"part", name, "--data", data}, args...)...)
	// Not the test's standard error: go test would wait until the child closes it.
	cmd.Stderr = log
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{name: name, data: data, cmd: cmd, stdin: stdin}
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err != nil {
		text, _ := os.ReadFile(log.Name())
		return nil, errors.Join(fmt.Errorf("%s did not start: %s", name, text), p.stop())
	}
	var ready map[string]endpoint
	if err := json.Unmarshal(line, &ready); err != nil {
		return nil, errors.Join(err, p.stop())
	}
	p.endpoint = ready[name]
	return p, nil
}

// stop ends the server in order.
func (p *process) stop() error {
	p.stdin.Close()
	return p.cmd.Wait()
}

// kill ends netsim-dev and its server with SIGKILL, and returns when both have
// ended. A server in its own process is killed first, because it would shut down in
// order when netsim-dev dies, which is not a crash.
func (p *process) kill() error {
	if p.endpoint.PID != p.cmd.Process.Pid {
		if err := killTree(p.endpoint.PID); err != nil {
			return err
		}
	}
	p.cmd.Process.Kill()
	p.cmd.Wait() // the error is "signal: killed", or an exit status because the server died
	return nil
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
	running *process // nil while it is stopped
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
	p.running, p.Addr, p.URL = running, running.endpoint.Addr, running.endpoint.URL
}

// Kill ends the server with SIGKILL.
func (p *Process) Kill() {
	p.t.Helper()
	if err := p.running.kill(); err != nil {
		p.t.Fatalf("teststack: killing %s: %v", p.name, err)
	}
	p.running = nil
}

// Stop ends the server in order.
func (p *Process) Stop() {
	p.t.Helper()
	err := p.running.stop()
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
