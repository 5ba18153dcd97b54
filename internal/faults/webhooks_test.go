package faults_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"netsim/internal/teststack"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// hooked is a receiver that can end the process that delivers to it before it answers.
type hooked struct {
	mu      sync.Mutex
	ids     map[string]int     // deliveries by webhook-id
	streams map[string][]int64 // sequences of a stream, in the order of their first delivery
	trap    func()             // called once, before the next answer; nil for none
	sprung  int                // how often the trap was
	lost    []string           // the webhook-ids whose answer was not read
}

func (h *hooked) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var event struct {
		Subject, Sequence string
	}
	text, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(text, &event)
	}
	sequence, wrong := strconv.ParseInt(event.Sequence, 10, 64)
	if err != nil || wrong != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	id := r.Header.Get("webhook-id")
	if h.ids[id]++; h.ids[id] == 1 {
		h.streams[event.Subject] = append(h.streams[event.Subject], sequence)
	}
	if h.trap != nil {
		h.trap()
		h.trap, h.sprung, h.lost = nil, h.sprung+1, append(h.lost, id)
	}
}

// arm sets the trap.
func (h *hooked) arm(trap func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.trap = trap
}

// has reports whether the events of the stream up to a sequence have come.
func (h *hooked) has(stream string, sequence int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Contains(h.streams[stream], sequence)
}

// hook starts a deployment without a process that delivers, and the receiver of a webhook.
func hook(t *testing.T) (d *deployment, h *hooked, create func(path string, body object) (id string), webhook object) {
	t.Helper()
	h = &hooked{ids: map[string]int{}, streams: map[string][]int64{}}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	d = newDeployment(t)
	d.env = append(d.env, "NETSIM_WEBHOOK_KEYS=a:"+strings.Repeat("A", 43)+"=", "NETSIM_WEBHOOK_NETWORKS=127.0.0.0/8", "NETSIM_ROLES=api,projector")
	d.start()
	create = func(path string, body object) string {
		t.Helper()
		made := d.as(http.MethodPost, path, body)
		id, _ := made["id"].(string)
		if id == "" {
			t.Fatalf("%s is answered with %v", path, made)
		}
		return id
	}
	return d, h, create, object{"url": server.URL, "filter": object{"family": "workspaces"}}
}

// killAfterDelivery kills the deliverer after a delivery of what write writes, before it has recorded it.
func (h *hooked) killAfterDelivery(t *testing.T, deliverer *deployment, write func()) {
	t.Helper()
	killed := make(chan struct{})
	h.arm(func() { deliverer.child.Process.Kill(); close(killed) }) //nolint:errcheck // it may have ended
	write()
	testwait.Receive(t, killed, "a delivery whose process is killed")
	deliverer.kill()
}

// TestWebhooksSurviveTheirProcesses: the process that delivers is killed again and again
// between a delivery and its record. Nothing is lost, the events of a stream come in order,
// and what comes twice has the same webhook-id.
func TestWebhooksSurviveTheirProcesses(t *testing.T) {
	d, h, create, webhook := hook(t)
	create("/api/v1/webhooks", webhook)
	var streams []string
	for range 4 {
		streams = append(streams, create("/api/v1/workspaces", object{"name": "w"}))
	}
	sequence := int64(1)
	write := func() {
		sequence++
		for _, id := range streams {
			d.as(http.MethodPatch, "/api/v1/workspaces/"+id, object{"name": strconv.FormatInt(sequence, 10)})
		}
	}
	all := func() bool {
		return !slices.ContainsFunc(streams, func(id string) bool { return !h.has(id, sequence) })
	}
	rounds := kills(t, 3)
	for range rounds {
		h.killAfterDelivery(t, d.launched("reactor"), write)
	}
	d.launched("reactor")
	write()
	testworld.Await(t, all)
	testworld.Await(t, func() bool { // what was delivered and not recorded comes again
		h.mu.Lock()
		defer h.mu.Unlock()
		return !slices.ContainsFunc(h.lost, func(id string) bool { return h.ids[id] < 2 })
	})
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sprung != rounds {
		t.Errorf("the deliverer was killed %d times, want %d", h.sprung, rounds)
	}
	for _, id := range streams {
		for i, got := range h.streams[id] {
			if got != int64(i+1) {
				t.Errorf("%s came in the order %v", id, h.streams[id])
				break
			}
		}
	}
}

// TestWebhooksBeginAgainWhenTheDatabaseIsLost: the deliverer is killed after a delivery, and
// the database is lost with what was delivered. The service rebuilds its read model from the
// log in an empty one, and sends everything since the creation of the webhook again, in order
// and with the same webhook-ids, and then what is new.
func TestWebhooksBeginAgainWhenTheDatabaseIsLost(t *testing.T) {
	d, h, create, webhook := hook(t)
	rename := func(id, name string) { d.as(http.MethodPatch, "/api/v1/workspaces/"+id, object{"name": name}) }
	before := create("/api/v1/workspaces", object{"name": "before the webhook"})
	create("/api/v1/webhooks", webhook)
	stream := create("/api/v1/workspaces", object{"name": "w"})
	rename(stream, "second")
	deliverer := d.launched("reactor")
	testworld.Await(t, func() bool { return h.has(stream, 2) })
	h.killAfterDelivery(t, deliverer, func() { rename(stream, "third") })
	d.kill()

	d.postgres.Kill()
	d.postgres = teststack.Start(t, "postgres", t.TempDir())
	d.env = append(d.env, "NETSIM_POSTGRES="+d.postgres.URL)
	h.mu.Lock()
	was := h.ids
	h.ids, h.streams = map[string]int{}, map[string][]int64{}
	h.mu.Unlock()
	d.start()
	d.tool("upgrade", "finish")
	d.launched("reactor")
	rename(stream, "fourth")
	testworld.Await(t, func() bool { return h.has(stream, 4) })
	h.mu.Lock()
	defer h.mu.Unlock()
	if got := h.streams[stream]; !slices.Equal(got, []int64{1, 2, 3, 4}) {
		t.Errorf("after the loss the events came in the order %v, want all from the creation on", got)
	}
	if got := h.streams[before]; len(got) > 0 {
		t.Errorf("the events %v from before the creation of the webhook came", got)
	}
	for id := range was {
		if h.ids[id] == 0 {
			t.Errorf("%s did not come again with the same webhook-id", id)
		}
	}
}
