package service_test

import (
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"netsim/events"
	"netsim/infra/devissuer"
	"netsim/infra/eventlog"
	"netsim/infra/projector"
	"netsim/internal/teststack"
	"netsim/internal/testworld"
)

// Parked facts are visible in every command, check, metric and log for operators. After
// the cause is removed, they are applied in order.
func TestParkedStreamsAreSeenAndRetried(t *testing.T) {
	t.Parallel()
	d := newDeployment(t)
	d.env = append(d.env, "NETSIM_AUDIT_KEY="+newAuditKey(t))
	d.start()
	w := &writers{t: t, url: d.url, token: teststack.Issuer(t).Token(devissuer.Options{Service: true, User: "writer"})}
	unknown, _ := w.send("unknown type")
	cut, _ := w.send("cut body")
	refused, _ := w.send("refused rows")
	d.execute(`ALTER TABLE readmodel.workspaces ADD CONSTRAINT no_colour CHECK (name NOT IN ('green', 'blue'))`)
	d.append(unknown, "netsim.workspace.painted.v1", `{"colour":"green"}`)
	d.append(cut, "netsim.workspace.updated.v1", `{"name":"cu`)
	d.append(refused, "netsim.workspace.updated.v1", `{"name":"green"}`)
	parked := func() (all []projector.Parked) {
		t.Helper()
		if err := json.Unmarshal([]byte(d.output("streams", "parked", "--json")), &all); err != nil {
			t.Fatal(err)
		}
		return all
	}
	testworld.Await(t, func() bool { return len(parked()) == 3 })
	d.append(refused, "netsim.workspace.updated.v1", `{"name":"blue"}`)
	testworld.Await(t, func() bool { return len(parked()) == 4 })

	if said := d.output("streams", "parked"); strings.Count(said, "\n") != 5 || !strings.Contains(said, "netsim.workspace.painted.v1") {
		t.Errorf("streams parked says %q", said)
	}
	if said := d.output("streams", "show", cut); !strings.Contains(said, `data: {"name":"cu`) {
		t.Errorf("streams show says %q, want %q in it", said, `data: {"name":"cu`)
	}
	if said := d.get(d.ops + "/readyz"); !strings.Contains(said, "degraded") || !strings.Contains(said, "parkedStreams") {
		t.Errorf("/readyz says %q", said)
	}
	if said := d.get(d.ops + "/metrics"); !strings.Contains(said, "netsim_projector_parked_total 4") {
		t.Error("/metrics does not count the parked facts")
	}
	log, err := os.ReadFile(d.log.Name())
	if err != nil {
		t.Fatal(err)
	}
	for _, stream := range []string{unknown, cut, refused} {
		if n := strings.Count(string(log), `"a stream is parked","stream":"`+stream); n != 1 {
			t.Errorf("%s is logged %d times, want once", stream, n)
		}
	}
	if said := d.output("readmodel", "rebuild", "--once", "next"); !strings.Contains(said, "2 facts PARKED") {
		t.Errorf("rebuild says %q, want %q in it", said, "2 facts PARKED")
	}
	said := d.output("audit", "verify")
	for _, want := range []string{"1 facts cannot be read, their streams are parked: netsim.workspace.painted.v1", "parked: netsim.workspace.updated.v1"} {
		if !strings.Contains(said, want) {
			t.Errorf("audit verify says %q, want %q", said, want)
		}
	}

	if said := d.refused("streams", "retry", refused); !strings.Contains(said, "2 facts stay parked") {
		t.Errorf("a retry before the cause is removed says %q, want %q in it", said, "2 facts stay parked")
	}
	d.execute(`ALTER TABLE readmodel.workspaces DROP CONSTRAINT no_colour`)
	d.tool("streams", "retry", refused)
	var name string
	d.query(`SELECT name || version FROM readmodel.workspaces WHERE id = '`+refused+`'`, &name)
	if name != "blue3" {
		t.Errorf("the workspace is %q after the retry, want blue at version 3", name)
	}
	if left := parked(); len(left) != 2 {
		t.Errorf("the parked facts are %+v, want two", left)
	}
	d.append(refused, "netsim.workspace.updated.v1", `{"name":"red"}`)
	testworld.Await(t, func() bool {
		d.query(`SELECT name || version FROM readmodel.workspaces WHERE id = '`+refused+`'`, &name)
		return name == "red4"
	})
}

// append appends a fact of a workspace to the log, without the service.
func (d *deployment) append(stream, eventType, data string) {
	d.t.Helper()
	j, err := eventlog.Open(d.t.Context(), eventlog.Config{Brokers: []string{d.broker.Addr}, Prefix: "netsim.", Relaxed: true})
	if err != nil {
		d.t.Fatal(err)
	}
	defer j.Close()
	var head struct {
		Sequence int64
		Hash     string
	}
	var text string
	d.query(`SELECT json_build_object('sequence', sequence, 'hash', encode(hash, 'hex')) FROM readmodel.streams WHERE stream = '`+stream+`'`, &text)
	if err := json.Unmarshal([]byte(text), &head); err != nil {
		d.t.Fatal(err)
	}
	f := events.Frame{
		ID: events.DerivedUUID(stream, head.Hash).String(), Type: eventType, Stream: stream, PartitionKey: stream, Sequence: head.Sequence + 1,
		Time: time.Now(), DataVersion: 1, Actor: "tester",
	}
	hash, err := hex.DecodeString(head.Hash)
	if err != nil {
		d.t.Fatal(err)
	}
	f.PreviousHash = events.Hash(hash)
	m, _ := f.Message([]byte(data))
	if _, err := j.Append(j.Topic(events.Workspaces), events.PartitionOf(stream, 2), m).Wait(d.t.Context()); err != nil {
		d.t.Fatal(err)
	}
}

// get returns the body of the response from a URL.
func (d *deployment) get(url string) string {
	d.t.Helper()
	_, body := send(d.t, http.MethodGet, url, "")
	return body
}

// send sends a request without a body.
func send(t *testing.T, method, url, authorization string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}
