package netsim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"netsim/sdk/go/api"
)

// events answers with a stream that ends with end; nil is its regular end.
func events(text string, end error) func(*http.Request) (*http.Response, error) {
	return func(r *http.Request) (*http.Response, error) {
		response, err := answer(200, "", "Content-Type", "text/event-stream")(r)
		var last io.Reader = strings.NewReader("")
		if end != nil {
			last = &failing{end}
		}
		response.Body = io.NopCloser(&canceled{io.MultiReader(strings.NewReader(text), last), r.Context()})
		return response, err
	}
}

// canceled is a body that ends with its request.
type canceled struct {
	io.Reader
	ctx context.Context
}

func (c *canceled) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.Reader.Read(p[:min(len(p), 10)])
}

// silent answers with a stream that says nothing more until the request is canceled.
func silent(text string) func(*http.Request) (*http.Response, error) {
	return func(r *http.Request) (*http.Response, error) {
		response, err := answer(200, "", "Content-Type", "text/event-stream")(r)
		response.Body = io.NopCloser(io.MultiReader(strings.NewReader(text), &hanging{r.Context()}))
		return response, err
	}
}

type hanging struct{ ctx context.Context }

func (h *hanging) Read([]byte) (int, error) { <-h.ctx.Done(); return 0, h.ctx.Err() }

func event(id, subject string) string {
	return fmt.Sprintf("id: %s\nevent: x\ndata: {\"id\":%q,\"subject\":%q}\n\n", id, subject, subject)
}

func TestMessages(t *testing.T) {
	t.Parallel()
	text := ": hello\nid: 1\nevent: status\ndata: {\"a\":\ndata: 1}\n\nid: 2\n\n\r\nid:3\r\ndata:x\r\n\r\nid: 4\ndata: cut"
	var got []message
	lines := 0
	for m, err := range messages(strings.NewReader(text), func() { lines++ }) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, m)
	}
	want := []message{{"1", "status", "{\"a\":\n1}"}, {id: "2"}, {id: "3", data: "x"}}
	if !slices.Equal(got, want) || lines != 13 {
		t.Errorf("got %+v of %d lines", got, lines)
	}
}

func TestFollowResumesAndSavesAfterTheHandler(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, s := client(t, Config{},
			events("id: p0\n\n"+event("p1", "a")+event("p2", "b")+"id: p3\nevent: x\ndata: {\"id\":\"c\"", io.ErrUnexpectedEOF),
			noAnswer,
			refused(503, "X", "busy", "Retry-After", "1"),
			events(event("p3", "c")+"id: p4\nevent: end\ndata: {\"reason\":\"lifetime\"}\n\n", nil),
			silent("id: p5\n\n"),
			events(event("p6", "d"), nil))
		var store MemoryStore
		var got, saved []string
		stop := errors.New("stop")
		err := c.Follow(t.Context(), api.FollowEventsParams{Type: []string{"x"}}, &store, func(_ context.Context, e Event) error {
			got = append(got, e.Subject)
			saved = append(saved, store.text)
			if e.Subject == "d" {
				return stop
			}
			return nil
		})
		if !errors.Is(err, stop) || fmt.Sprint(got) != "[a b c d]" || fmt.Sprint(saved) != "[p0 p1 p2 p5]" || store.text != "p5" {
			t.Errorf("%v; got %v, saved %v before each, then %s", err, got, saved, store.text)
		}
		var from []string
		for _, r := range s.asked {
			from = append(from, r.Header.Get("Last-Event-ID"))
		}
		if fmt.Sprintf("%q", from) != `["" "p2" "p2" "p2" "p4" "p5"]` {
			t.Errorf("it asked after %q", from)
		}
		if waited := s.at[5].Sub(s.at[4]); waited < 45*time.Second || waited > time.Minute {
			t.Errorf("a silent stream was left after %s", waited)
		}
	})
}

func TestFollowEndsWithARefusal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, s := client(t, Config{}, refused(400, "VALIDATION_ERROR", "the position is not valid"))
		err := c.Follow(t.Context(), api.FollowEventsParams{}, &MemoryStore{text: "old"}, func(context.Context, Event) error { return nil })
		if !errors.Is(err, ErrInvalid) || len(s.asked) != 1 {
			t.Errorf("%d requests and %v", len(s.asked), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		c, s = client(t, Config{}, noAnswer)
		err = c.Follow(ctx, api.FollowEventsParams{}, &MemoryStore{}, func(context.Context, Event) error { return nil })
		if !errors.Is(err, context.DeadlineExceeded) || len(s.asked) < 700 || len(s.asked) > 3000 {
			t.Errorf("in an hour without the service %d requests and %v", len(s.asked), err)
		}
	})
}

func TestTheFeedTakesAnotherToken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		given := 0
		c, s := client(t, Config{Tokens: func(context.Context) (string, error) { given++; return fmt.Sprint(given), nil }},
			events("id: p1\nevent: end\ndata: {\"reason\":\"unauthorized\"}\n\n", nil), refused(403, "FORBIDDEN", "no"))
		err := c.Follow(t.Context(), api.FollowEventsParams{}, &MemoryStore{}, func(context.Context, Event) error { return nil })
		if !errors.Is(err, ErrForbidden) || s.asked[1].Header.Get("Authorization") != "Bearer 2" {
			t.Errorf("%v, with %q", err, s.asked[1].Header.Get("Authorization"))
		}
	})
}

func TestASlowHandlerIsNotSilence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, s := client(t, Config{}, events(event("p1", "a")+event("p2", "b"), nil), refused(403, "FORBIDDEN", "no"))
		n := 0
		err := c.Follow(t.Context(), api.FollowEventsParams{}, &MemoryStore{}, func(ctx context.Context, _ Event) error {
			n++
			return sleep(ctx, time.Hour)
		})
		if !errors.Is(err, ErrForbidden) || n != 2 || len(s.asked) != 2 {
			t.Errorf("%d events, %d requests, %v", n, len(s.asked), err)
		}
	})
}

func TestWaitPollsWhereThereAreNoEvents(t *testing.T) {
	t.Parallel()
	status := func(s string) func(*http.Request) (*http.Response, error) {
		return answer(200, fmt.Sprintf(`{"id":"sim_01","simulationId":"sim_01","status":%q,"failureReason":"no link"}`, s))
	}
	synctest.Test(t, func(t *testing.T) {
		c, s := client(t, Config{},
			events("id: 5\nevent: status\ndata: {\"status\":\"running\"}\n\n", io.ErrUnexpectedEOF), status("running"),
			refused(502, "", ""), status("running"),
			answer(204, ""), status("failed"), status("failed"))
		run, err := c.Wait(t.Context(), "sim_01")
		if err != nil || run.Status != api.SimulationStatusFailed || len(s.asked) != 7 || s.asked[2].Header.Get("Last-Event-ID") != "5" {
			t.Errorf("%+v, %v after %d requests", run, err, len(s.asked))
		}
		failed, ok := errors.AsType[*RunError](Failed(run))
		if !ok || failed.Error() != "simulation sim_01 ended as failed: no link" {
			t.Errorf("got %v", failed)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		c, _ := client(t, Config{}, refused(404, "NOT_FOUND", "no simulation"))
		if _, err := c.Wait(t.Context(), "sim_01"); !errors.Is(err, ErrNotFound) {
			t.Errorf("of a missing simulation: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		c, _ = client(t, Config{}, status("running"))
		if _, err := c.Wait(ctx, "sim_01"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after a minute: %v", err)
		}
	})
}
