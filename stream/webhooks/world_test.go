package webhooks_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"netsim/commands"
	"netsim/events"
	"netsim/infra/facts"
	"netsim/infra/writelog"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
	"netsim/projections"
	"netsim/stream/feed"
	"netsim/stream/webhooks"
)

const masterKey = "k1:MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="

// world is a process that delivers to webhooks.
type world struct {
	*testworld.World
	hub    *feed.Hub
	source *source
	t      testing.TB

	mu       sync.Mutex
	disabled map[string]string // the reasons, by webhook
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{World: testworld.NewServers(t).Start(t), source: &source{changed: make(chan struct{}, 1)}, t: t, disabled: map[string]string{}}
	partitions, err := writelog.LoadPartitions(t.Context(), w.DB)
	if err != nil {
		t.Fatal(err)
	}
	w.hub = feed.New(feed.Config{
		Log: w.EventLog, Verdicts: w.Watcher, Partitions: partitions,
		Live: facts.NewReader(w.EventLog, w.Watcher), History: facts.NewReader(w.EventLog, w.Watcher), Owners: w.owners,
		Heartbeat: 50 * time.Millisecond, Pace: time.Millisecond, Writes: 100_000, Buffer: 1 << 20, CatchUps: 4, Rate: 1_000_000, Now: time.Now, Logger: w.Logger,
	})
	testworld.Running(t, w.hub.Run)
	if err := webhooks.New(w.config()).Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) owners(ctx context.Context, streams []string) (map[string]feed.Owner, error) {
	found, err := projections.Owners(ctx, w.DB, streams)
	all := map[string]feed.Owner{}
	for _, o := range found {
		all[o.Stream] = feed.Owner{AccountID: o.AccountID, WorkspaceID: o.WorkspaceID}
	}
	return all, err
}

// source has the subscriptions of a test.
type source struct {
	changed chan struct{}
	mu      sync.Mutex
	all     []webhooks.Subscription
}

func (s *source) Subscriptions(context.Context) ([]webhooks.Subscription, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]webhooks.Subscription(nil), s.all...), nil
}

func (s *source) Changed() <-chan struct{} { return s.changed }

// put adds a subscription, or changes the one with its id.
func (s *source) put(sub webhooks.Subscription) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() {
		select {
		case s.changed <- struct{}{}:
		default:
		}
	}()
	for i := range s.all {
		if s.all[i].ID == sub.ID {
			sub.Version = s.all[i].Version + 1
			s.all[i] = sub
			return
		}
	}
	s.all = append(s.all, sub)
}

// config returns the parts of a deliverer whose receivers are on this machine.
func (w *world) config() webhooks.Config {
	w.t.Helper()
	keys, err := webhooks.ParseKeys(masterKey)
	if err != nil {
		w.t.Fatal(err)
	}
	networks, err := webhooks.ParseNetworks([]string{"127.0.0.0/8"})
	if err != nil {
		w.t.Fatal(err)
	}
	return webhooks.Config{
		Pool: w.DB, Hub: w.hub, Source: w.source,
		Leases:  &facts.Leases{Pool: w.DB, Subscriber: webhooks.Subscriber, Process: events.NewID("process"), Shards: 1, TTL: time.Second, Log: w.Logger},
		Losses:  func(context.Context) (string, error) { return "", nil },
		Disable: w.disable, Keys: keys, Networks: networks, Log: w.Logger,
		Limits: webhooks.Limits{FirstPause: 20 * time.Millisecond, Timeout: 5 * time.Second},
		Random: func() float64 { return 0.5 },
	}
}

// disable makes the webhook inactive, as the command does.
func (w *world) disable(_ context.Context, webhook, reason string) error {
	w.mu.Lock()
	w.disabled[webhook] = reason
	w.mu.Unlock()
	w.source.mu.Lock()
	var sub webhooks.Subscription
	for _, one := range w.source.all {
		if one.ID == webhook {
			sub = one
		}
	}
	w.source.mu.Unlock()
	sub.Active = false
	w.source.put(sub)
	return nil
}

func (w *world) reason(webhook string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.disabled[webhook]
}

// run delivers until the returned function is called.
func run(t testing.TB, d *webhooks.Deliverer) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := testwait.Receive(t, done, "the deliverer to end"); err != nil {
			t.Errorf("the deliverer ended with %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// subscription returns an active webhook for the facts of workspaces.
func subscription(url string) webhooks.Subscription {
	return webhooks.Subscription{
		ID: events.NewID("webhook"), Version: 1, URL: url, Active: true, Since: time.Now().Add(-time.Hour),
		Query: feed.Query{
			Keys: map[events.Family][]string{events.Workspaces: nil},
			Sees: func(f *facts.Fact, _ feed.Owner) bool { return f.Type != "netsim.log.sealed.v1" },
		},
		Secrets: []webhooks.Secret{{Key: "k1", Generation: 1}},
	}
}

// create creates a workspace and renames it so many times.
func (w *world) create(t testing.TB, renames int) (stream string) {
	t.Helper()
	id := events.NewID(events.WorkspacePrefix)
	testworld.In(t, w.World, id, id, commands.CreateWorkspace{AccountID: testworld.Account, Name: "w"})
	for i := range renames {
		testworld.In[commands.Workspace](t, w.World, id, id, commands.UpdateWorkspace{ID: id, Name: fmt.Sprintf("w%d", i)})
	}
	return id
}

// delivery is a request that a receiver got.
type delivery struct {
	header http.Header
	body   []byte
}

// receiver keeps what it gets, and answers as a test says.
type receiver struct {
	*httptest.Server
	answer func(w http.ResponseWriter, r *http.Request, body []byte) // nil: 204

	mu  sync.Mutex
	got []delivery
}

func newReceiver(t testing.TB, answer func(w http.ResponseWriter, r *http.Request, body []byte)) *receiver {
	t.Helper()
	r := &receiver{answer: answer}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return
	}
	r.mu.Lock()
	r.got = append(r.got, delivery{request.Header, body})
	r.mu.Unlock()
	if r.answer != nil {
		r.answer(w, request, body)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (r *receiver) all() []delivery {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]delivery(nil), r.got...)
}

// await waits until the receiver got so many requests.
func (r *receiver) await(t testing.TB, count int) []delivery {
	t.Helper()
	testworld.Await(t, func() bool { return len(r.all()) >= count })
	return r.all()
}

// attempts returns the attempts of a webhook, oldest first.
func (w *world) attempts(t testing.TB, webhook string) []webhooks.Attempt {
	t.Helper()
	all, err := webhooks.Attempts(t.Context(), w.DB, webhook, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
		all[i], all[j] = all[j], all[i]
	}
	return all
}
