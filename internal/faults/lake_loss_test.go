package faults_test

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"netsim/infra/devissuer"
	"netsim/internal/teststack"
	"netsim/internal/testworld"
)

// TestEveryPositionAfterALoss follows docs/recovery.md when the archive was behind, and
// writes on until the log has outgrown every position of before. The lake has lost events
// then: it never says that it is well, the commands say so, and one of them leads on. No
// other position of the log of before is taken for one of this log.
func TestEveryPositionAfterALoss(t *testing.T) {
	t.Setenv("NETSIM_LAKE_EVERY", "100ms")
	d := newDisaster(t)
	acknowledged := d.load(20)
	d.run(blocks(t, "Archive the log")[0])
	d.load(30) // is lost
	d.awaitLake()
	if said := d.output("audit", "lake"); !strings.Contains(said, "everything agrees") {
		t.Errorf("before the loss audit lake says\n%s", said)
	}
	before := d.positions()
	exported := filepath.Join(d.dir, "facts")
	d.tool("events", "export", "--to", exported)
	d.lose()
	if said := d.run(blocks(t, "The log's cluster is lost")[0]); !strings.Contains(said, "LOST ") {
		t.Errorf("adopt names no lost event:\n%s", said)
	}
	d.moved()
	said := d.run(blocks(t, "The archive was behind")[0])
	for _, want := range []string{
		"the lake has facts that the log does not have", "netsim lake drop", "the public topics of this cluster have none of them",
		"the reactions have none of them", "an archive or an export that has them refuses this log", "refused with 400",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("promote does not say %q:\n%s", want, said)
		}
	}
	d.execute(`CREATE TABLE public.lake_before AS TABLE lake.netsim_position`)
	d.start()
	for behind := true; behind; { // until the log has outgrown all that the lake has
		for name, id := range d.load(20) {
			acknowledged[name] = id
		}
		d.query(`SELECT coalesce(bool_or(o.next <= p.next), false) FROM readmodel.offsets o JOIN public.lake_before p USING (family, partition) WHERE family = 'workspaces'`, &behind)
	}
	said = d.refused("audit", "lake")
	for _, want := range []string{"facts of the log have no row in the lake", "rows of the lake are not of a fact of the log"} {
		if !strings.Contains(said, want) {
			t.Errorf("audit lake does not say %q:\n%s", want, said)
		}
	}
	testworld.Await(t, func() bool { return strings.Contains(d.get(d.ops+"/readyz"), "netsim lake drop") })
	if said := d.refused("lake"); !strings.Contains(said, "netsim lake drop") {
		t.Errorf("netsim lake says\n%s", said)
	}
	if said := d.refused("doctor"); !strings.Contains(said, "netsim lake drop") {
		t.Errorf("netsim doctor says\n%s", said)
	}
	before.refused(d)
	for _, command := range []string{"netsim events export --to " + exported, `netsim log archive --to "$NETSIM_ARCHIVE"`} {
		if said, err := d.try(command); err == nil || !strings.Contains(said, "another target") {
			t.Errorf("%s: %v\n%s", command, err, said)
		}
	}

	d.tool("lake", "drop", "--yes")
	d.awaitLake()
	d.quiet(d.broker)
	d.awaitLake()
	if said := d.output("audit", "lake"); !strings.Contains(said, "everything agrees") {
		t.Errorf("the lake that was made again: audit lake says\n%s", said)
	}
	d.output("audit", "public")
	if said := d.get(d.ops + "/readyz"); strings.Contains(said, "lake drop") {
		t.Errorf("/readyz says %s", said)
	}
	d.whole(acknowledged)
}

// awaitLake waits until the lake has what the read model has.
func (d *deployment) awaitLake() {
	d.t.Helper()
	testworld.Await(d.t, func() (whole bool) {
		var exists bool
		if d.query(`SELECT to_regclass('lake.netsim_position') IS NOT NULL`, &exists); !exists {
			return false
		}
		d.query(`SELECT coalesce(bool_and(o.next = p.next), false) FROM readmodel.offsets o LEFT JOIN lake.netsim_position p USING (family, partition)`, &whole)
		return whole
	})
}

// kept is what a client keeps of its position in the log.
type kept struct {
	authorization    string
	position, tokens string
}

// positions reads the feed to its end, and makes a write.
func (d *disaster) positions() kept {
	d.t.Helper()
	k := kept{authorization: "Bearer " + teststack.Issuer(d.t).Token(devissuer.Options{User: "tester"})}
	client := &feedClient{t: d.t, token: strings.TrimPrefix(k.authorization, "Bearer "), got: map[string]int{}}
	last, _ := d.writers.send("last " + rand.Text()[:8])
	client.read(d.url, map[string]string{"last": last})
	k.position = client.position
	resp := d.request(k.authorization, "/api/v1/workspaces/"+last, "Consistency-Token", "any")
	if k.tokens = resp.Header.Get("Consistency-Token"); k.tokens == "" || k.position == "" {
		d.t.Fatalf("a client has the position %q and the token %q", k.position, k.tokens)
	}
	return k
}

// refused checks that what the client kept is refused.
func (k kept) refused(d *disaster) {
	d.t.Helper()
	feed := "/api/v1/events?type=netsim.workspace.created.v1&since=" + url.QueryEscape("2026-01-01T00:00:00Z")
	if resp := d.request(k.authorization, feed, "Last-Event-ID", k.position); resp.StatusCode != http.StatusBadRequest {
		d.t.Errorf("the position of a feed from before the loss: %s, want 400", resp.Status)
	}
	if resp := d.request(k.authorization, "/api/v1/workspaces", "Consistency-Token", k.tokens); resp.StatusCode != http.StatusBadRequest {
		d.t.Errorf("a token from before the loss: %s, want 400", resp.Status)
	}
}

// request sends a GET with a header. The body of the response is closed.
func (d *deployment) request(authorization, path, name, value string) *http.Response {
	d.t.Helper()
	r, err := http.NewRequestWithContext(d.t.Context(), http.MethodGet, d.url+path, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	r.Header.Set("Authorization", authorization)
	r.Header.Set(name, value)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	resp.Body.Close()
	return resp
}
