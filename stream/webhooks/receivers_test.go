package webhooks_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"netsim/internal/testwait"
	"netsim/stream/webhooks"
)

// What receivers may answer, and what the attempt says of it.
func TestReceiversThatMisbehave(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var followed atomic.Bool
	target := newReceiver(t, func(http.ResponseWriter, *http.Request, []byte) { followed.Store(true) })
	ends := make(chan struct{})
	t.Cleanup(func() { close(ends) })
	hang := func(r *http.Request) {
		select {
		case <-ends:
		case <-r.Context().Done():
		}
	}
	for name, test := range map[string]struct {
		answer func(w http.ResponseWriter, r *http.Request, body []byte)
		want   webhooks.Attempt
	}{
		"accepts": {func(w http.ResponseWriter, _ *http.Request, _ []byte) { w.WriteHeader(http.StatusAccepted) }, webhooks.Attempt{Outcome: webhooks.Delivered, Status: 202}},
		"fails": {
			func(w http.ResponseWriter, _ *http.Request, _ []byte) { w.WriteHeader(http.StatusInternalServerError) },
			webhooks.Attempt{Outcome: webhooks.Failed, Status: 500, Error: "the status of the answer is 500"},
		},
		"redirects": {
			func(w http.ResponseWriter, r *http.Request, _ []byte) {
				http.Redirect(w, r, target.URL, http.StatusTemporaryRedirect)
			},
			webhooks.Attempt{Outcome: webhooks.Failed, Status: 307, Error: "the answer is a redirect (307), which is not followed"},
		},
		"hangs": {
			func(_ http.ResponseWriter, r *http.Request, _ []byte) { hang(r) },
			webhooks.Attempt{Outcome: webhooks.Failed, Error: "there was no answer in time"},
		},
		"hangs in the body": { // the status says that it has the event
			func(w http.ResponseWriter, r *http.Request, _ []byte) {
				w.WriteHeader(http.StatusOK)
				w.(http.Flusher).Flush() //nolint:forcetypeassert // it is one
				hang(r)
			},
			webhooks.Attempt{Outcome: webhooks.Delivered, Status: 200},
		},
		"a megabyte": {
			func(w http.ResponseWriter, _ *http.Request, _ []byte) {
				w.Write([]byte(strings.Repeat("x", 1<<20))) //nolint:errcheck // the deliverer reads no more
			},
			webhooks.Attempt{Outcome: webhooks.Delivered, Status: 200},
		},
		"a megabyte of header": {
			func(w http.ResponseWriter, _ *http.Request, _ []byte) {
				w.Header().Set("X", strings.Repeat("x", 1<<20))
			},
			webhooks.Attempt{Outcome: webhooks.Failed, Error: "the connection failed"},
		},
		"cuts the connection": {
			func(http.ResponseWriter, *http.Request, []byte) { panic(http.ErrAbortHandler) },
			webhooks.Attempt{Outcome: webhooks.Failed, Error: "the connection failed"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := w.config()
			if strings.HasPrefix(name, "hangs") {
				c.Limits.Timeout = 200 * time.Millisecond
			}
			d := webhooks.New(c)
			r := newReceiver(t, test.answer)
			sub := subscription(r.URL)
			got, err := d.Test(t.Context(), sub)
			if err != nil {
				t.Fatal(err)
			}
			if got.Outcome != test.want.Outcome || got.Status != test.want.Status || got.Error != test.want.Error || got.Excerpt != "" || got.Count != 0 {
				t.Errorf("the attempt is %+v, want %+v", got, test.want)
			}
			if all := w.attempts(t, sub.ID); len(all) != 1 || all[0].Number != got.Number || all[0].Message != got.Message || all[0].Type != webhooks.TestType {
				t.Errorf("the stored attempts are %+v", all)
			}
			if all := r.all(); len(all) != 1 || eventIn(t, all[0].body).Type != webhooks.TestType || all[0].header.Get("Content-Type") != "application/cloudevents+json" {
				t.Errorf("the receiver got %+v", all)
			}
		})
	}
	t.Run("refuses connections", func(t *testing.T) {
		t.Parallel()
		closed := newReceiver(t, nil)
		closed.Close()
		got, err := webhooks.New(w.config()).Test(t.Context(), subscription(closed.URL))
		if err != nil || got.Error != "the receiver refused the connection" {
			t.Errorf("the attempt is %+v, %v", got, err)
		}
	})
	t.Run("does not speak TLS", func(t *testing.T) {
		t.Parallel()
		plain := newReceiver(t, nil)
		got, err := webhooks.New(w.config()).Test(t.Context(), subscription(strings.Replace(plain.URL, "http:", "https:", 1)))
		if err != nil || got.Error != "the receiver does not speak TLS as it should" || len(plain.all()) > 0 {
			t.Errorf("the attempt is %+v, %v", got, err)
		}
	})
	t.Cleanup(func() {
		if followed.Load() {
			t.Error("a redirect was followed")
		}
	})
}

// 410 disables the webhook. Its message waits.
func TestGoneDisables(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, _ []byte) { w.WriteHeader(http.StatusGone) })
	sub := subscription(r.URL)
	w.source.put(sub)
	d := webhooks.New(w.config())
	run(t, d)
	w.create(t, 0)
	r.await(t, 1)
	w.await(t, func() bool { return d.Report().Disabled == 1 })
	if reason := w.reason(sub.ID); reason != "the receiver answered 410 Gone" {
		t.Errorf("the reason is %q", reason)
	}
	w.create(t, 0)
	fresh := newReceiver(t, nil)
	sub.URL = fresh.URL // enabled again with another address
	w.source.put(sub)
	fresh.await(t, 2)
	if n := len(r.all()); n != 1 {
		t.Errorf("the disabled webhook got %d requests", n)
	}
}

// 429 and 503 slow the whole webhook for as long as the receiver asks, and not others.
func TestRetryAfterSlowsTheWebhook(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
		w := newWorld(t)
		var first atomic.Int64
		var early atomic.Int32
		r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, _ []byte) {
			now := time.Now().UnixNano()
			if first.CompareAndSwap(0, now) {
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(status)
			} else if now-first.Load() < int64(time.Second) {
				early.Add(1)
			}
		})
		other := newReceiver(t, nil)
		slowed := subscription(r.URL)
		w.source.put(slowed)
		w.source.put(subscription(other.URL))
		run(t, webhooks.New(w.config()))
		w.create(t, 0)
		r.await(t, 1)
		w.await(t, func() bool { return len(w.attempts(t, slowed.ID)) == 1 })
		for range 3 {
			w.create(t, 0)
		}
		other.await(t, 4)
		r.await(t, 5)
		if early.Load() > 0 {
			t.Errorf("%d: %d requests before the time", status, early.Load())
		}
	}
}

// While the receiver hangs, the end of the process waits for a bounded time, and what was
// cut off is sent again.
func TestAnAttemptIsCutOffAtTheEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	entered, ends := make(chan struct{}, 10), make(chan struct{})
	t.Cleanup(func() { close(ends) })
	r := newReceiver(t, func(_ http.ResponseWriter, r *http.Request, _ []byte) {
		entered <- struct{}{}
		select {
		case <-ends:
		case <-r.Context().Done():
		}
	})
	sub := subscription(r.URL)
	w.source.put(sub)
	c := w.config()
	c.Limits.Timeout = time.Hour
	stop := run(t, webhooks.New(c))
	w.create(t, 0)
	testwait.Receive(t, entered, "the request")
	stop()
	if all := w.attempts(t, sub.ID); len(all) > 0 {
		t.Errorf("the attempts are %+v", all)
	}
	run(t, webhooks.New(c))
	testwait.Receive(t, entered, "the request to come again")
	if all := r.all(); all[0].header.Get("Webhook-Id") != all[1].header.Get("Webhook-Id") {
		t.Errorf("another id: %v", all)
	}
}

// Receivers that hang take one attempt each, and leave the others to the rest.
func TestReceiversThatHangDelayNoOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ends := make(chan struct{})
	t.Cleanup(func() { close(ends) })
	for range 3 {
		hanging := newReceiver(t, func(_ http.ResponseWriter, r *http.Request, _ []byte) {
			select {
			case <-ends:
			case <-r.Context().Done():
			}
		})
		w.source.put(subscription(hanging.URL))
	}
	c := w.config()
	c.Limits.Timeout, c.Limits.PerProcess = time.Hour, 4
	d := webhooks.New(c)
	run(t, d)
	for range 10 {
		w.create(t, 0)
	}
	w.await(t, func() bool { return d.Report().Sending == 3 })
	well := newReceiver(t, nil)
	w.source.put(subscription(well.URL))
	w.create(t, 3)
	well.await(t, 14)
}
