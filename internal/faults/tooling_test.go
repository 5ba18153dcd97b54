package faults_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"netsim/audit"
)

// tooling is a running netsim command.
type tooling struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines *bufio.Scanner
	said  strings.Builder
}

// running starts a netsim command.
func (d *deployment) running(args ...string) *tooling {
	d.t.Helper()
	p := &tooling{t: d.t, cmd: exec.CommandContext(d.t.Context(), d.binary, args...)}
	p.cmd.Env = d.env
	p.cmd.Stderr = d.log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	p.lines = bufio.NewScanner(out)
	if err := p.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	return p
}

// awaitLine reads until a line begins with the prefix.
func (p *tooling) awaitLine(prefix string) {
	p.t.Helper()
	for p.lines.Scan() {
		fmt.Fprintln(&p.said, p.lines.Text())
		if strings.HasPrefix(p.lines.Text(), prefix) {
			return
		}
	}
	p.t.Fatalf("the command ended without a line %q: %s", prefix, p.said.String())
}

// wait waits until the command has succeeded, and returns its output.
func (p *tooling) wait() string {
	p.t.Helper()
	for p.lines.Scan() {
		fmt.Fprintln(&p.said, p.lines.Text())
	}
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("%v: %v\n%s", p.cmd.Args, err, p.said.String())
	}
	return p.said.String()
}

func (p *tooling) kill() {
	p.cmd.Process.Kill() //nolint:errcheck // the process may have ended
	p.cmd.Wait()         //nolint:errcheck // the process was killed
}

// output runs a command that must succeed, and returns its output.
func (d *deployment) output(args ...string) string { return d.running(args...).wait() }

// refused runs a command that must fail, and returns its output.
func (d *deployment) refused(args ...string) string {
	d.t.Helper()
	cmd := exec.CommandContext(d.t.Context(), d.binary, args...)
	cmd.Env = d.env
	out, err := cmd.CombinedOutput()
	if err == nil {
		d.t.Errorf("netsim %s succeeded, want an error", strings.Join(args, " "))
	}
	return string(out)
}

func newAuditKey(t *testing.T) string {
	t.Helper()
	text, err := audit.NewKey("test")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "audit.key")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// copyFolder copies a folder with its owners and times.
func copyFolder(t *testing.T, from, to string) {
	t.Helper()
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		t.Fatalf("copy %s: %v\n%s", from, err, out)
	}
}

func publicKey(t *testing.T, file string) string {
	t.Helper()
	key, err := audit.ReadKey(file)
	if err != nil {
		t.Fatal(err)
	}
	return key.Verifier
}
