package faults_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"netsim/infra/devissuer"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
)

// feedClient is a client of the feed, with the workspaces that it got.
type feedClient struct {
	t        *testing.T
	token    string
	position string
	got      map[string]int
	reason   string
}

// read reads the feed of a process from the last position, until the connection ends or
// the client has all workspaces that are wanted, unless none are.
func (c *feedClient) read(url string, want map[string]string) {
	r, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, url+"/api/v1/events?type=netsim.workspace.created.v1&since=2026-01-01T00:00:00Z", nil)
	if err != nil {
		c.t.Error(err)
		return
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	r.Header.Set("Last-Event-ID", c.position)
	if c.position == "" {
		r.Header.Del("Last-Event-ID")
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return // the process is not there
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(resp.Body)
		c.t.Errorf("the feed answers %s: %s", resp.Status, text)
		return
	}
	lines := bufio.NewReader(resp.Body)
	id, subject := "", ""
	for want == nil || !c.has(want) {
		line, err := lines.ReadString('\n')
		if err != nil {
			return // what is not whole is not counted
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "id":
			id = value
		case "data":
			var data struct{ Subject, Reason string }
			if err := json.Unmarshal([]byte(value), &data); err != nil {
				c.t.Errorf("%v in %s", err, value)
			}
			if subject = data.Subject; data.Reason != "" {
				c.reason = data.Reason
			}
		case "":
			if id != "" {
				c.position = id
			}
			if subject != "" {
				c.got[subject]++
			}
			id, subject = "", ""
		}
	}
}

// has reports whether the client got all workspaces.
func (c *feedClient) has(want map[string]string) bool {
	for _, id := range want {
		if c.got[id] == 0 {
			return false
		}
	}
	return true
}

// TestAFeedSurvivesItsProcess: clients follow a process that is killed under load and
// then one that is asked to end, and resume at another from their last position. Each
// gets every workspace once.
func TestAFeedSurvivesItsProcess(t *testing.T) {
	d := newDeployment(t)
	d.start()
	other := d.beside("api,projector,reactor,worker")
	token := teststack.Issuer(t).Token(devissuer.Options{User: "tester"})
	writing := startWriters(t, other.url, 3)
	first := &feedClient{t: t, token: token, got: map[string]int{}}
	followed := make(chan bool, 1)
	go func() { first.read(d.url, nil); followed <- true }()
	writing.progress(100)
	d.kill()
	testwait.Receive(t, followed, "the feed of the killed process to end")
	if first.position == "" || first.reason != "" {
		t.Errorf("after the kill the client has the position %q and the reason %q", first.position, first.reason)
	}
	d.start()
	go func() { first.read(d.url, nil); followed <- true }()
	writing.progress(100)
	if err := d.child.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	testwait.Receive(t, followed, "the feed of the ending process to end")
	if first.reason != "shutdown" {
		t.Errorf("the feed ended with %q, want shutdown", first.reason)
	}
	want, _ := writing.stop()
	go func() { first.read(other.url, want); followed <- true }()
	testwait.Receive(t, followed, "the rest of the events")
	for id, n := range first.got {
		if n != 1 {
			t.Errorf("%s came %d times", id, n)
		}
	}
	t.Logf("%d workspaces", len(want))
}
