// Package scripted gives tests a remote engine that is a process of its own and
// does what it is told: it runs nothing, but can be late, refuse, lose its runs,
// answer nonsense and be killed. The process is the test's own binary, so a
// package that uses it has
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

	"netsim/infra/teststack"
)

// listen names where the process listens: the environment of a test's binary
// that is to be an engine.
const listen = "NETSIM_SCRIPTED_ENGINE"

// Main is the process, where the binary was started as one, and the tests
// otherwise.
func Main(m *testing.M) int {
	at := os.Getenv(listen)
	if at == "" {
		return m.Run()
	}
	e := &engine{runs: map[string]string{}, ended: map[string]bool{}, another: make(chan struct{}), script: Script{Run: Run{State: "running"}}}
	if err := http.ListenAndServe(at, e.handler()); err != nil {
		os.Stderr.WriteString(err.Error())
	}
	return 1
}

// Engine is the process as the test sees it.
type Engine struct {
	URL string // base URL of the protocol

	t     testing.TB
	at    string
	child *exec.Cmd // nil while it is down
}

// Start starts an engine that does the script, and ends it with the test.
func Start(t testing.TB, s Script) *Engine {
	t.Helper()
	e := &Engine{t: t, at: teststack.FreeAddress(t)}
	e.URL = "http://" + e.at + "/engine"
	e.Restart()
	e.Do(s)
	t.Cleanup(e.Kill)
	return e
}

// Kill ends the process with -9. Its runs are lost, and the script.
func (e *Engine) Kill() {
	if e.child == nil {
		return
	}
	e.child.Process.Kill() //nolint:errcheck // it may have ended
	e.child.Wait()         //nolint:errcheck // "signal: killed"
	e.child = nil
}

// Restart starts the process, at the same address, and returns when it listens.
func (e *Engine) Restart() {
	e.t.Helper()
	self, err := os.Executable()
	if err != nil {
		e.t.Fatal(err)
	}
	e.child = exec.Command(self)
	e.child.Env = append(os.Environ(), listen+"="+e.at)
	e.child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := e.child.Start(); err != nil {
		e.t.Fatal(err)
	}
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for range 2000 {
		c, err := net.Dial("tcp", e.at)
		if err == nil {
			c.Close() //nolint:errcheck // nothing was sent
			return
		}
		<-again.C
	}
	e.t.Fatal("the engine does not listen after ten seconds")
}

// Do has the engine do another script from now on.
func (e *Engine) Do(s Script) { e.t.Helper(); e.tell("PUT", "/script", s) }

// Lose has the engine forget its runs, as a restart does.
func (e *Engine) Lose() { e.t.Helper(); e.tell("POST", "/lose", nil) }

// Calls returns the calls of that name that have come, all for "".
func (e *Engine) Calls(name string) []Call {
	e.t.Helper()
	var all []Call
	if err := json.Unmarshal(e.tell("GET", "/calls", nil), &all); err != nil {
		e.t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(c Call) bool { return name != "" && c.Name != name })
}

func (e *Engine) tell(method, path string, body any) []byte {
	e.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		e.t.Fatal(err)
	}
	request, err := http.NewRequest(method, "http://"+e.at+path, bytes.NewReader(text))
	if err != nil {
		e.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		e.t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it is read whole
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != 200 {
		e.t.Fatalf("tell the engine %s: %d %s %v", path, response.StatusCode, answer, err)
	}
	return answer
}
