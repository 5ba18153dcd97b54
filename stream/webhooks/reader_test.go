package webhooks_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"netsim/events"
	"netsim/internal/testworld"
	"netsim/stream/feed"
	"netsim/stream/webhooks"
)

// subjects returns the streams of what a receiver got, in order.
func subjects(t testing.TB, r *receiver) (all []string) {
	t.Helper()
	for _, got := range r.all() {
		all = append(all, eventIn(t, got.body).Subject)
	}
	return all
}

// A webhook that was inactive goes on where it was, also in another process.
func TestAPausedWebhookGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r, other := newReceiver(t, nil), newReceiver(t, nil)
	sub := subscription(r.URL)
	w.source.put(sub)
	w.source.put(subscription(other.URL))
	stop := run(t, webhooks.New(w.config()))
	want := []string{w.create(t, 0)}
	r.await(t, 1)
	w.await(t, func() bool { return len(w.attempts(t, sub.ID)) == 1 })
	sub.Active = false
	w.source.put(sub)
	want = append(want, w.create(t, 0))
	other.await(t, 2)
	stop()
	want = append(want, w.create(t, 0))
	sub.Active = true
	w.source.put(sub)
	run(t, webhooks.New(w.config()))
	r.await(t, 3)
	slices.Sort(want)
	if got := slices.Sorted(slices.Values(subjects(t, r))); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A new webhook gets the events from its begin on, whenever it is seen first; one that is
// replayed gets those from the time again, with the same ids, and those that waited once.
func TestReplay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	old := w.create(t, 1)
	var refusing atomic.Bool
	r := newReceiver(t, nil)
	sub := subscription(r.URL)
	w.source.put(sub)
	d := webhooks.New(w.config())
	run(t, d)
	r.await(t, 2)
	w.await(t, func() bool { return d.Report().Messages == 0 })
	first := r.all()
	refusing.Store(true)
	sub.Replay, sub.Since = 1, time.Now().Add(-time.Hour)
	w.source.put(sub)
	again := r.await(t, 4)[2:]
	for i := range again {
		if again[i].header.Get("Webhook-Id") != first[i].header.Get("Webhook-Id") || string(again[i].body) != string(first[i].body) {
			t.Errorf("the replay sent %s, before it was %s", again[i].body, first[i].body)
		}
	}
	if lane := lanesOf(t, r)[old]; !slices.Equal(lane, []int{1, 2, 1, 2}) {
		t.Errorf("the lane is %v", lane)
	}
	// From the position of a feed.
	f, err := w.hub.Open(t.Context(), sub.Query, feed.Start{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	later := w.create(t, 0)
	r.await(t, 5)
	sub.Replay, sub.Position = 2, f.Position()
	w.source.put(sub)
	r.await(t, 6)
	if got := subjects(t, r)[4:]; !slices.Equal(got, []string{later, later}) {
		t.Errorf("the second replay sent %v", got)
	}
	sub.Replay, sub.Position = 3, []byte("no position")
	w.source.put(sub)
	w.await(t, func() bool { return strings.Contains(w.reason(sub.ID), "begin with since") })
}

// A replay drops what waits, because it comes again, also when the webhook is full.
func TestAReplayDropsWhatWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	closed := newReceiver(t, nil)
	closed.Close()
	sub := subscription(closed.URL)
	w.source.put(sub)
	c := w.config()
	c.Limits.Messages = 3
	d := webhooks.New(c)
	run(t, d)
	stream := w.create(t, 4)
	w.await(t, func() bool { return d.Report().Full == 1 })
	r := newReceiver(t, nil)
	sub.URL, sub.Replay = r.URL, 1
	w.source.put(sub)
	w.create(t, 0)
	r.await(t, 6)
	w.await(t, func() bool { return d.Report().Messages == 0 })
	if lane := lanesOf(t, r)[stream]; !slices.Equal(lane, []int{1, 2, 3, 4, 5}) {
		t.Errorf("the lane is %v", lane)
	}
}

// With another filter a webhook goes on with what it has not read, and what the new
// filter adds begins with the next event.
func TestAnotherFilter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := newReceiver(t, nil)
	sub := subscription(r.URL)
	sub.Query.Keys = map[events.Family][]string{events.Tracesets: nil}
	w.source.put(sub)
	run(t, webhooks.New(w.config()))
	w.await(t, func() bool { return w.position(t, sub.ID) != "" })
	w.create(t, 0)
	sub.Query = subscription("").Query
	w.source.put(sub)
	w.await(t, func() bool { return strings.Contains(w.position(t, sub.ID), "workspaces") })
	want := w.create(t, 0)
	r.await(t, 1)
	if got := subjects(t, r); !slices.Equal(got, []string{want}) {
		t.Errorf("got %v, want %s", got, want)
	}
}

// position returns the stored position of a webhook, "" for none.
func (w *world) position(t testing.TB, webhook string) (offsets string) {
	t.Helper()
	if err := w.DB.QueryRow(t.Context(), `SELECT coalesce(max(offsets::text), '') FROM webhooks.positions WHERE webhook = $1`, webhook).Scan(&offsets); err != nil {
		t.Fatal(err)
	}
	return offsets
}

// A position from before a loss of the log is not resumed from.
func TestALossOfTheLogDisables(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := newReceiver(t, nil)
	sub := subscription(r.URL)
	w.source.put(sub)
	var losses atomic.Value
	losses.Store("")
	c := w.config()
	c.Losses = func(context.Context) (string, error) { return losses.Load().(string), nil } //nolint:forcetypeassert // it is one
	run(t, webhooks.New(c))
	w.create(t, 0)
	r.await(t, 1)
	losses.Store("loss 1")
	w.await(t, func() bool { return strings.Contains(w.reason(sub.ID), "the log has lost records") })
	w.create(t, 0)
	sub.Replay = 1 // from its begin
	w.source.put(sub)
	r.await(t, 3)
}

// While a secret is rotated both sign, until the old one ends.
func TestBothSecretsSignDuringARotation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := newReceiver(t, nil)
	c := w.config()
	d := webhooks.New(c)
	sub := subscription(r.URL)
	verifies := func(generation, at int) bool {
		secret, err := c.Keys.Secret("k1", sub.ID, generation)
		if err != nil {
			t.Fatal(err)
		}
		verifier, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			t.Fatal(err)
		}
		return verifier.Verify(r.all()[at].body, r.all()[at].header) == nil
	}
	for _, secrets := range [][]webhooks.Secret{
		{{Key: "k1", Generation: 2}, {Key: "k1", Generation: 1, Until: time.Now().Add(time.Hour)}},
		{{Key: "k1", Generation: 2}, {Key: "k1", Generation: 1, Until: time.Now().Add(-time.Second)}},
	} {
		sub.Secrets = secrets
		if _, err := d.Test(t.Context(), sub); err != nil {
			t.Fatal(err)
		}
	}
	if !verifies(2, 0) || !verifies(1, 0) || !verifies(2, 1) || verifies(1, 1) || verifies(3, 0) {
		t.Errorf("the signatures are %q and %q", r.all()[0].header, r.all()[1].header)
	}
}

// A webhook whose master key is missing waits, and loses nothing.
func TestAMissingMasterKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := newReceiver(t, nil)
	sub := subscription(r.URL)
	sub.Secrets[0].Key = "k2"
	w.source.put(sub)
	c := w.config()
	d := webhooks.New(c)
	stop := run(t, d)
	w.create(t, 0)
	w.await(t, func() bool { return d.Report().Unsigned == 1 })
	if _, err := d.Test(t.Context(), sub); err == nil {
		t.Error("a test was sent without a key")
	}
	stop()
	var err error
	if c.Keys, err = webhooks.ParseKeys(masterKey + "," + strings.Replace(masterKey, "k1", "k2", 1)); err != nil {
		t.Fatal(err)
	}
	run(t, webhooks.New(c))
	r.await(t, 1)
}

// Two processes: one delivers, and the other one goes on at its end.
func TestAnotherProcessGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := newReceiver(t, nil)
	w.source.put(subscription(r.URL))
	one := webhooks.New(w.config())
	stop := run(t, one)
	w.await(t, func() bool { return one.Report().Holding })
	other := w.config()
	theirs := &source{changed: make(chan struct{}, 1), all: w.source.all}
	other.Source = theirs
	two := webhooks.New(other)
	run(t, two)
	w.create(t, 0)
	r.await(t, 1)
	w.await(t, func() bool { return one.Report().Attempts[webhooks.Delivered] == 1 })
	if two.Report().Holding {
		t.Error("two processes deliver")
	}
	stop()
	w.create(t, 1)
	r.await(t, 3)
	w.await(t, func() bool { return two.Report().Attempts[webhooks.Delivered] == 2 })
}

// What is kept of a webhook is removed a week after it was deleted.
func TestDeletedWebhooks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	closed := newReceiver(t, nil)
	closed.Close()
	sub := subscription(closed.URL)
	w.source.put(sub)
	var now atomic.Int64
	c := w.config()
	c.Now = func() time.Time { return time.Now().Add(time.Duration(now.Load())) }
	d := webhooks.New(c)
	stop := run(t, d)
	w.create(t, 3)
	w.await(t, func() bool { return len(w.attempts(t, sub.ID)) > 0 })
	kept := func() (count int) {
		err := w.DB.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM webhooks.positions) + (SELECT count(*) FROM webhooks.messages) + (SELECT count(*) FROM webhooks.attempts)`).Scan(&count)
		if err != nil {
			t.Fatal(err)
		}
		return count
	}
	stop()
	w.source.mu.Lock()
	w.source.all = nil
	w.source.mu.Unlock()
	for _, days := range []int{6, 8} {
		now.Store(int64(days) * int64(24*time.Hour))
		before := kept()
		again := webhooks.New(c)
		stop := run(t, again)
		if days == 8 {
			w.await(t, func() bool { return kept() == 0 })
		} else {
			testworld.Await(t, func() bool { return again.Report().Holding })
			if after := kept(); after != before {
				t.Errorf("after %d days %d rows are kept of %d", days, after, before)
			}
		}
		stop()
	}
}

// A process that was suspended and replaced commits nothing, so it sends nothing new.
func TestAFormerHolderIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := newReceiver(t, nil)
	w.source.put(subscription(r.URL))
	d := webhooks.New(w.config())
	run(t, d)
	w.create(t, 0)
	r.await(t, 1)
	w.await(t, func() bool { return d.Report().Messages == 0 })
	begin := func(difference int64) {
		if _, err := w.DB.Exec(t.Context(), `UPDATE webhooks.holder SET epoch = epoch + $1`, difference); err != nil {
			t.Fatal(err)
		}
	}
	begin(1)
	w.create(t, 0)
	w.await(t, func() bool { return d.Report().Failures >= 2 && d.Report().Error != nil }) // at the commit, and at the next begin
	if n := len(r.all()); n != 1 {
		t.Errorf("the receiver got %d", n)
	}
	begin(-1)
	r.await(t, 2)
	w.await(t, func() bool { return d.Report().Error == nil })
}
