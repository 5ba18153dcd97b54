package webhooks_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"netsim/internal/testwait"
	"netsim/internal/testworld"
	"netsim/stream/webhooks"
)

func (w *world) await(t testing.TB, condition func() bool) {
	t.Helper()
	testworld.Await(t, condition)
}

// A message that is refused holds its lane only. After ten attempts it is dropped, and its
// lane goes on.
func TestAFailingMessageHoldsItsLaneOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var bad atomic.Value
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, body []byte) {
		if e := eventIn(t, body); e.Subject == bad.Load() && e.Sequence == "1" {
			w.WriteHeader(http.StatusBadRequest)
		}
	})
	sub := subscription(r.URL)
	sub.Active = false
	w.source.put(sub)
	c := w.config()
	c.Limits.FirstPause = 10 * time.Microsecond // and 0.6 s at last
	bad.Store(w.create(t, 2))
	good := w.create(t, 2)
	sub.Active = true
	w.source.put(sub)
	d := webhooks.New(c)
	run(t, d)
	var lane []string
	r.await(t, webhooks.MaxAttempts+5)
	goods := 0
	for _, got := range r.all() {
		e := eventIn(t, got.body)
		if e.Subject == good {
			goods++
			if len(lane) >= webhooks.MaxAttempts {
				t.Errorf("%s of the other lane came after the lane was free", e.Sequence)
			}
			continue
		}
		lane = append(lane, e.Sequence)
	}
	want := append(slices.Repeat([]string{"1"}, webhooks.MaxAttempts), "2", "3")
	if !slices.Equal(lane, want) || goods != 3 {
		t.Errorf("the lane got %v, the other %d", lane, goods)
	}
	w.await(t, func() bool { // attempts are counted after their commit
		r := d.Report()
		return r.Messages == 0 && r.Attempts[webhooks.Dropped]+r.Attempts[webhooks.Failed]+r.Attempts[webhooks.Delivered] >= webhooks.MaxAttempts+5
	})
	dropped := 0
	for _, a := range w.attempts(t, sub.ID) {
		if a.Outcome == webhooks.Dropped {
			dropped++
			if a.Count != webhooks.MaxAttempts || a.Status != 400 {
				t.Errorf("dropped by %+v", a)
			}
		}
	}
	if r := d.Report(); dropped != 1 || r.Attempts[webhooks.Dropped] != 1 || r.Attempts[webhooks.Failed] != webhooks.MaxAttempts-1 || r.Attempts[webhooks.Delivered] != 5 {
		t.Errorf("%d dropped; the report is %+v", dropped, r)
	}
}

var errKilled = errors.New("killed")

// Whatever receivers answer and wherever deliverers end, also between a delivery and its
// record, each lane gets every event, none before the one before it, and each event always
// with the same id.
func TestLanesKeepTheirOrderThroughCrashes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(7, 11))
	draw := func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return random.IntN(n)
	}
	answer := func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		switch draw(12) {
		case 0:
			w.WriteHeader(http.StatusInternalServerError)
		case 1:
			panic(http.ErrAbortHandler)
		}
	}
	receivers := []*receiver{newReceiver(t, answer), newReceiver(t, answer), newReceiver(t, nil)}
	for _, r := range receivers {
		w.source.put(subscription(r.URL))
	}
	deliverer := func() *webhooks.Deliverer {
		c := w.config()
		c.Limits.FirstPause, c.Limits.Messages, c.Limits.PerWebhook = 100*time.Microsecond, 20, 3
		return webhooks.New(c)
	}
	const streams, length = 6, 12
	made := make(chan struct{})
	go func() {
		defer close(made)
		for range streams {
			w.create(t, length-1)
		}
	}()
	total := func() (all int) {
		for _, r := range receivers {
			all += len(r.all())
		}
		return all
	}
	crashes := 0
	for _, step := range []string{"sent", "committing", "sent", "sent", "committing", "sent"} {
		d := deliverer()
		ctx, kill := context.WithCancel(t.Context())
		var dead atomic.Bool
		left := atomic.Int32{}
		left.Store(int32(5 + draw(20)))
		d.SetHook(func(at string) error {
			if !dead.Load() && (at != step || left.Add(-1) > 0) {
				return nil
			}
			dead.Store(true)
			kill()
			return errKilled // and does nothing any more
		})
		before := total()
		if err := d.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if crashes++; total() == before {
			t.Error("a deliverer has sent nothing")
		}
	}
	last := deliverer()
	run(t, last)
	testwait.Receive(t, made, "the events")
	for i, r := range receivers {
		w.await(t, func() bool {
			return len(lanesOf(t, r)) == streams && last.Report().Messages == 0 && wholeLanes(lanesOf(t, r), length)
		})
		for stream, lane := range lanesOf(t, r) {
			if !slices.IsSorted(lane) {
				t.Errorf("receiver %d: %s got %v", i, stream, lane)
			}
		}
		ids := map[string]string{}
		for _, got := range r.all() {
			e := eventIn(t, got.body)
			id := got.header.Get("Webhook-Id")
			if before, again := ids[e.ID]; again && before != id {
				t.Errorf("%s came as %s and as %s", e.ID, before, id)
			}
			ids[e.ID] = id
		}
	}
	if crashes != 6 {
		t.Errorf("%d crashes", crashes)
	}
}

// lanesOf returns the sequences of each stream as they came to a receiver.
func lanesOf(t testing.TB, r *receiver) map[string][]int {
	t.Helper()
	lanes := map[string][]int{}
	for _, got := range r.all() {
		e := eventIn(t, got.body)
		sequence, err := strconv.Atoi(e.Sequence)
		if err != nil {
			t.Fatal(err)
		}
		lanes[e.Subject] = append(lanes[e.Subject], sequence)
	}
	return lanes
}

func wholeLanes(lanes map[string][]int, length int) bool {
	for _, lane := range lanes {
		if len(slices.Compact(slices.Sorted(slices.Values(lane)))) != length {
			return false
		}
	}
	return true
}

// A webhook whose receiver takes nothing is read up to its limit. Nothing is dropped.
func TestAFullWebhookWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	opened := make(chan struct{})
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		select {
		case <-opened:
		default:
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	w.source.put(subscription(r.URL))
	c := w.config()
	c.Limits.Messages = 5
	d := webhooks.New(c)
	run(t, d)
	for range 4 {
		w.create(t, 9)
		w.await(t, func() bool { return d.Report().Full == 1 })
	}
	if n := d.Report().Messages; n >= 40 {
		t.Errorf("%d messages wait", n)
	}
	close(opened)
	w.await(t, func() bool {
		return wholeLanes(lanesOf(t, r), 10) && d.Report().Messages == 0 && len(lanesOf(t, r)) == 4
	})
	for stream, lane := range lanesOf(t, r) {
		if !slices.IsSorted(lane) {
			t.Errorf("%s got %v", stream, lane)
		}
	}
}

// The attempts of a webhook are bounded, and pages of them go on before a number.
func TestAttemptsAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := newReceiver(t, nil)
	sub := subscription(r.URL)
	w.source.put(sub)
	run(t, webhooks.New(w.config()))
	w.create(t, 0)
	w.await(t, func() bool { return len(w.attempts(t, sub.ID)) == 1 })
	if _, err := w.DB.Exec(t.Context(), `INSERT INTO webhooks.attempts (webhook, event, type, stream, attempt, began_at, duration, outcome, status, error, excerpt)
		SELECT $1, 'e' || n, '', '', 1, now(), '1s', 'delivered', 200, '', '' FROM generate_series(1, 3000) AS n`, sub.ID); err != nil {
		t.Fatal(err)
	}
	for i := range 1001 {
		w.create(t, 0)
		if i%100 == 99 {
			r.await(t, i)
		}
	}
	var left int
	w.await(t, func() bool {
		if err := w.DB.QueryRow(t.Context(), `SELECT count(*) FROM webhooks.attempts WHERE webhook = $1`, sub.ID).Scan(&left); err != nil {
			t.Fatal(err)
		}
		return left <= 2000
	})
	page, err := webhooks.Attempts(t.Context(), w.DB, sub.ID, 0, 3)
	if err != nil || len(page) != 3 {
		t.Fatal(page, err)
	}
	next, err := webhooks.Attempts(t.Context(), w.DB, sub.ID, page[1].Number, 2)
	if err != nil || len(next) != 2 || next[0] != page[2] || page[0].Number < page[1].Number {
		t.Error(fmt.Sprintf("pages: %+v, %+v", page, next), err)
	}
}
