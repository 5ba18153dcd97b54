package client_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"netsim/cmd/client"
)

// TestExitCodes: what the service answers, and what a command finds on this machine, has one
// exit code.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]int{
		400: 4, 401: 4, 402: 5, 403: 4, 404: 3, 409: 4, 410: 3, 412: 4, 413: 4, 415: 4, 422: 4, 428: 4, 429: 5, 500: 1, 501: 1,
	} {
		service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"error": {"code": "A_CODE", "message": "the reason"}}`)
		}))
		t.Cleanup(service.Close)
		m := newMachine(t, "NETSIM_URL", service.URL, "NETSIM_TOKEN", "t")
		if out, code, said := m.run("sim", "list", "--json"); code != want || out != "" {
			t.Errorf("status %d: exit %d: %s; want %d\n%s", status, code, said, want, out)
		}
	}
	m := newMachine(t, "NETSIM_URL", "http://127.0.0.1:1")
	m.fails(2, "unexpected argument", "sim", "none")
	m.fails(2, "must be above zero", "sim", "list", "--timeout=-1s")
	m.fails(2, "--jq", "sim", "list", "--jq", "{")
	m.fails(2, "--limit must be at least 1", "sim", "list", "--limit", "0")
	m.fails(2, "give a file", "sim", "submit")
	m.fails(2, "no such file", "sim", "submit", "none.json")
	m.env["NETSIM_URL"] = "none"
	m.fails(2, "must be like https://netsim.example", "sim", "list")
	if code := client.ExitCode(nil); code != 0 {
		t.Errorf("no error has the exit code %d", code)
	}
	if code := client.ExitCode(io.EOF); code != 1 {
		t.Errorf("an error of another command has the exit code %d", code)
	}
}

// TestTimeout: a command ends with 124 when its time has passed, also while it repeats what
// got no answer.
func TestTimeout(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	service := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-ended:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(service.Close)
	t.Cleanup(func() { close(ended) })
	m := newMachine(t, "NETSIM_URL", service.URL)
	m.fails(124, "the time limit of 20ms has passed", "sim", "list", "--timeout", "20ms")
	m.env["NETSIM_URL"] = "http://127.0.0.1:1"
	m.fails(124, "the time limit of 20ms has passed", "sim", "watch", "sim_1", "--timeout", "20ms")
}

// TestJQ: a program of jq gets every digit, and a string is printed as it is.
func TestJQ(t *testing.T) {
	t.Parallel()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"simulations": [{"id": "sim_1", "configurationVersion": 9007199254740993}], "pagination": {}}`) //nolint:errcheck // the test sees it
	}))
	t.Cleanup(service.Close)
	m := newMachine(t, "NETSIM_URL", service.URL)
	for program, want := range map[string]string{
		".[].id": "sim_1\n", ".[].configurationVersion": "9007199254740993\n", ".[] | {id}": "{\"id\":\"sim_1\"}\n", "empty": "", "halt": "",
	} {
		if got := m.wants("sim", "list", "--jq", program); got != want {
			t.Errorf("--jq %q prints %q, want %q", program, got, want)
		}
	}
	m.fails(1, "--jq", "sim", "list", "--jq", ".[0] + 1")
}
