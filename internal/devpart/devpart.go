// Package devpart runs the servers that netsim-dev provides, each in a process of its own,
// for tests, the fault campaign and the benchmarks.
//
// The protocol of "netsim-dev part NAME --data DIR": when the server is ready, netsim-dev
// prints one line on standard output, a JSON object that maps NAME to the server's
// endpoint, and nothing more; messages go to standard error. It ends the server in order
// when its standard input is closed or after SIGTERM or SIGINT. The parent holds the other
// end of standard input, so no server outlives the parent, however that ends.
package devpart

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// Endpoint is what a client of the server needs to know. Members that do not apply to the
// server are empty.
type Endpoint struct {
	Addr      string
	URL       string // of PostgreSQL's database; base URL of objects and issuer
	PID       int    // the server's process: netsim-dev itself or a child of it
	Region    string
	AccessKey string
	SecretKey string
	JWKSURL   string
	Issuer    string
	Audience  string
}

// Part is a running server.
type Part struct {
	Endpoint

	Data string // its data directory

	cmd   *exec.Cmd
	stdin io.Closer
}

// Start runs the server with the flags and returns when it is ready. The name is broker,
// kafka, postgres, objects or issuer; program is the path of netsim-dev. If ctx ends before
// the server is ready, it is killed. Its standard error goes to the file NAME.log in data.
func Start(ctx context.Context, program, name, data string, flags ...string) (*Part, error) {
	// Not this process's standard error: go test would wait until the child closes it.
	log, err := os.Create(filepath.Join(data, name+".log"))
	if err != nil {
		return nil, err
	}
	defer log.Close() //nolint:errcheck // the child has its own descriptor
	cmd := exec.Command(program, append([]string{"part", name, "--data", data}, flags...)...)
	cmd.Stderr = log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C reaches the parent, which ends the servers in order
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
	p := &Part{Data: data, cmd: cmd, stdin: stdin}
	defer context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })()
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err != nil {
		text, _ := os.ReadFile(log.Name())
		text = bytes.TrimSpace(text[max(0, len(text)-8000):])
		return nil, errors.Join(fmt.Errorf("%s did not start: %s", name, text), ctx.Err(), p.Stop(ctx))
	}
	var ready map[string]Endpoint
	if err := json.Unmarshal(line, &ready); err != nil {
		return nil, errors.Join(fmt.Errorf("%s prints %q: %w", name, line, err), p.Stop(ctx))
	}
	p.Endpoint = ready[name]
	return p, nil
}

// Stop ends the server in order, and kills it when ctx ends first.
func (p *Part) Stop(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { _ = p.cmd.Process.Kill() })()
	_ = p.stdin.Close()
	return p.cmd.Wait()
}

// Kill ends netsim-dev and its server with SIGKILL, and returns when both have ended. A
// server in its own process is killed first, because it would shut down in order when
// netsim-dev dies, which is not a crash.
func (p *Part) Kill() error {
	if p.PID != p.cmd.Process.Pid {
		if err := killTree(p.PID); err != nil {
			return err
		}
	}
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait() // the error is "signal: killed", or an exit status because the server died
	return nil
}
