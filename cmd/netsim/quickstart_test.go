//go:build tools

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"netsim/internal/teststack"
	"netsim/internal/testwait"
)

// TestQuickstart runs five blocks of commands as written, in one shell, against "make run"
// in a directory of its own: the quickstart in README.md, and those of a client, an auditor
// and an analyst in their pages. The analyst's query is run by stock DuckDB, and its total is
// the invoice's.
// Only the address differs, so the test can run beside another netsim.
func TestQuickstart(t *testing.T) {
	root := repository(t)
	script := ""
	for _, b := range []struct{ file, heading string }{
		{"README.md", "## Quickstart"}, {"docs/feed.md", "# The event feed"}, {"docs/traces.md", "# A real trace"},
		{"docs/audit.md", "## An audit in five commands"}, {"docs/lake.md", "## One ATTACH, and SQL"},
	} {
		script += firstBlock(t, b.file, b.heading)
	}
	address, data := teststack.FreeAddress(t), filepath.Join(t.TempDir(), "data")
	written := script
	if script = strings.Replace(written, "127.0.0.1:8080", address, 1); script == written {
		t.Fatal("the quickstart does not name the address")
	}
	environment := append(os.Environ(), "NETSIM_HTTP="+address, "NETSIM_DATA="+data,
		"WAIT_SECONDS=3600", // the loops wait as long as the test
		"PATH="+filepath.Join(root, ".ci", "duckdb")+":"+os.Getenv("PATH")) // for duckdb
	if err := os.Chmod(filepath.Dir(data), 0o755); err != nil { // PostgreSQL runs as another user
		t.Fatal(err)
	}

	var said bytes.Buffer
	run := exec.Command("make", "run")
	run.Dir, run.Env, run.Stdout, run.Stderr = root, environment, &said, &said
	run.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- run.Wait() }()
	t.Cleanup(func() {
		syscall.Kill(-run.Process.Pid, syscall.SIGTERM) //nolint:errcheck // the process may have ended
		testwait.Receive(t, ended, "make run to end")
		if t.Failed() {
			t.Logf("make run said:\n%s", said.String())
		}
	})
	waitForPort(t, address, ended)

	dir := t.TempDir()
	for _, name := range []string{"bin", "simulator"} {
		if err := os.Symlink(filepath.Join(root, name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
	cmd.Dir, cmd.Env = dir, environment
	stuck := time.AfterFunc(2*time.Minute, func() { cmd.Process.Kill() }) //nolint:errcheck // the process may have ended
	defer stuck.Stop()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("the quickstart failed: %v\n%s", err, out)
	}
	if n, there := strings.Count(string(out), "everything agrees\n"), strings.Count(string(out), "everything that is there agrees\n"); n != 1 || there != 2 {
		t.Errorf("%d of 3 verifications (log, billing, bundle) agree:\n%s", n+there, out)
	}
	onlyIgnored(t, dir, []string{"bin", "simulator"})
	dir = filepath.Join(dir, quickstartFiles)
	sameTotal(t, filepath.Join(dir, "total.txt"), filepath.Join(dir, "invoice.json"))
	refusesForgedCost(t, filepath.Join(root, "bin", "netsim"), filepath.Join(dir, "bundle.jsonl"))
	for _, want := range []string{
		`"status":"accepted"`, "event: status\n", `"status":"completed"`, `"downloadUrl"`, `"simulatedTime`, `"status":"closed"`, `"type":"netsim.simulation.completed.v1"`,
		"\"valid\":true\n\"duration\":\"93.", "\"valid\":true\n\"duration\":\"56.741us\"\n", // 14 messages of 552.978 ns, and 49 us of computations
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the quickstart's output has no %s:\n%s", want, out)
		}
	}
}

// sameTotal compares the total in a file with that of a cost summary, digit by digit.
func sameTotal(t *testing.T, total, summary string) {
	t.Helper()
	text, err := os.ReadFile(total)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := os.ReadFile(summary)
	if err != nil {
		t.Fatal(err)
	}
	var invoice struct {
		Credit struct {
			Total string `json:"total"`
		} `json:"CREDIT"`
	}
	if err := json.Unmarshal(stored, &invoice); err != nil {
		t.Fatal(err)
	}
	lake, ok := new(big.Rat).SetString(strings.TrimSpace(string(text)))
	billed, valid := new(big.Rat).SetString(invoice.Credit.Total)
	if !ok || !valid || lake.Sign() <= 0 || lake.Cmp(billed) != 0 {
		t.Errorf("the lake's total is %q, the invoice's %q", text, invoice.Credit.Total)
	}
}

// refusesForgedCost changes one digit of the last cost in a bundle, and checks that the
// verification fails and names the line.
func refusesForgedCost(t *testing.T, program, bundle string) {
	t.Helper()
	text, err := os.ReadFile(bundle)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.LastIndex(text, []byte(`"kind":"cost"`))
	digit := at + bytes.Index(text[at:], []byte(`"cost":"`)) + len(`"cost":"`)
	if text[digit]++; text[digit] > '9' {
		text[digit] = '0'
	}
	if err := os.WriteFile(bundle, text, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), program, "audit", "verify", bundle).CombinedOutput()
	line := bytes.Count(text[:at], []byte("\n")) + 1
	if want := fmt.Sprintf("FOUND line %d: daily cost ", line); err == nil || !strings.Contains(string(out), want) {
		t.Errorf("a forged bundle: got %v, want %q in\n%s", err, want, out)
	}
}

// repository returns the directory of the checkout.
func repository(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// waitForPort waits until the service accepts connections.
func waitForPort(t *testing.T, address string, ended chan error) {
	t.Helper()
	every := time.NewTicker(50 * time.Millisecond)
	defer every.Stop()
	deadline := time.NewTimer(5 * time.Minute) // includes a first build
	defer deadline.Stop()
	for {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			return
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("make run ended: %v", err)
		case <-deadline.C:
			t.Fatal("the service does not accept connections")
		case <-every.C:
		}
	}
}
