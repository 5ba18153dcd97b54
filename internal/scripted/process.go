// Package scripted gives tests a remote engine in a process of its own. The engine
// simulates nothing. It answers as the test's script says: late, with a refusal, or
// with an invalid body. It can also lose its runs and be killed. The process runs
// the test's own binary, so a package that uses it has
//
//	func TestMain(m *testing.M) { os.Exit(scripted.Main(m)) }
package scripted

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"

	"netsim/internal/teststack"
	"netsim/internal/testwait"
)

// listen is the environment variable with the address that an engine listens on.
// With it, Main runs an engine instead of the tests.
const listen = "NETSIM_SCRIPTED_ENGINE"

// Main runs an engine if the binary was started as one, and the tests otherwise.
func Main(m *testing.M) int {
	address := os.Getenv(listen)
	if address == "" {
		return m.Run()
	}
	e := &engine{runs: map[string]string{}, ended: map[string]bool{}, changed: make(chan struct{}), script: Script{Run: Run{State: "running"}}}
	if err := http.ListenAndServe(address, e.handler()); err != nil {
		os.Stderr.WriteString(err.Error())
	}
	return 1
}

// Engine is an engine's process, as the test controls it.
type Engine struct {
	URL string // base URL of the protocol

	t       testing.TB
	address string
	child   *exec.Cmd // nil while the engine is down
}

// Start starts an engine with the script, and kills it when the test ends.
func Start(t testing.TB, s Script) *Engine {
	t.Helper()
	e := &Engine{t: t, address: teststack.FreeAddress(t)}
	e.URL = "http://" + e.address + "/engine"
	e.Restart()
	e.Do(s)
	t.Cleanup(e.Kill)
	return e
}

// Proxied changes the URL to that of a proxy in front of the engine, with which a test
// makes the engine look down to its clients.
func (e *Engine) Proxied() *teststack.Proxy {
	e.t.Helper()
	proxy := teststack.NewProxy(e.t, e.address)
	e.URL = "http://" + proxy.Addr + "/engine"
	return proxy
}

// Down returns an engine whose process does not run.
func Down(t testing.TB) *Engine {
	t.Helper()
	return &Engine{URL: "http://" + teststack.FreeAddress(t) + "/engine", t: t}
}

// Kill ends the process with SIGKILL. Its runs and the script are lost.
func (e *Engine) Kill() {
	if e.child == nil {
		return
	}
	e.child.Process.Kill() //nolint:errcheck // the process may have ended
	e.child.Wait()         //nolint:errcheck // "signal: killed"
	e.child = nil
}

// Restart starts the process at the same address and returns when it listens.
func (e *Engine) Restart() {
	e.t.Helper()
	self, err := os.Executable()
	if err != nil {
		e.t.Fatal(err)
	}
	e.child = exec.Command(self)
	e.child.Env = append(os.Environ(), listen+"="+e.address)
	e.child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := e.child.Start(); err != nil {
		e.t.Fatal(err)
	}
	retry := time.NewTicker(5 * time.Millisecond)
	defer retry.Stop()
	for expired := time.After(testwait.Limit(e.t)); ; {
		c, err := net.Dial("tcp", e.address)
		if err == nil {
			c.Close() //nolint:errcheck // nothing was sent
			return
		}
		select {
		case <-retry.C:
		case <-expired:
			e.t.Fatal("the engine does not listen")
		}
	}
}

// Do replaces the engine's script.
func (e *Engine) Do(s Script) { e.t.Helper(); e.control("PUT", "/script", s) }

// Lose makes the engine forget its runs, as a restart does.
func (e *Engine) Lose() { e.t.Helper(); e.control("POST", "/lose", nil) }

// Calls returns the calls with the name that the engine received, or all calls if
// the name is "".
func (e *Engine) Calls(name string) []Call {
	e.t.Helper()
	var all []Call
	if err := json.Unmarshal(e.control("GET", "/calls", nil), &all); err != nil {
		e.t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(c Call) bool { return name != "" && c.Name != name })
}

// control sends a request to the engine's control interface, which is outside the
// protocol, and returns the answer.
func (e *Engine) control(method, path string, body any) []byte {
	e.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		e.t.Fatal(err)
	}
	request, err := http.NewRequest(method, "http://"+e.address+path, bytes.NewReader(text))
	if err != nil {
		e.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		e.t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // the body is only read
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != 200 {
		e.t.Fatalf("%s %s: status %d, want 200: %s %v", method, path, response.StatusCode, answer, err)
	}
	return answer
}
