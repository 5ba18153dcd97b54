package web

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"netsim/internal/testwait"
)

// endless returns a handler that writes each value of parts until the request's
// context ends.
func endless(parts <-chan string, ended chan<- error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		for {
			select {
			case part := <-parts:
				io.WriteString(w, part)
				w.(http.Flusher).Flush()
			case <-r.Context().Done():
				ended <- r.Context().Err()
				return
			}
		}
	}
}

func fail503(w http.ResponseWriter, _ *http.Request, err error) {
	w.Header().Set("Retry-After", "5")
	http.Error(w, err.Error(), http.StatusServiceUnavailable)
}

func open(t *testing.T, method, url string) (*http.Response, context.CancelFunc) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp, cancel
}

// A streamed response outlives the server's timeouts, which are of one and two minutes,
// and ends when its client disconnects.
func TestStreams(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		parts, ended := make(chan string), make(chan error, 10)
		dial := serve(t, Streams(time.Minute, time.Hour)(endless(parts, ended)))
		first := dial()
		first.send("GET / HTTP/1.1\r\nHost: test\r\n\r\n")
		resp, err := http.ReadResponse(first.from, nil)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(resp.Body)
		for minute := range 5 {
			<-time.After(time.Minute)
			parts <- "more\n"
			if line, err := lines.ReadString('\n'); line != "more\n" {
				t.Fatalf("minute %d: read %q, %v; want another line", minute, line, err)
			}
		}
		first.conn.Close()
		if err := <-ended; err != context.Canceled {
			t.Errorf("the stream of a disconnected client ended with %v, want %v", err, context.Canceled)
		}
		second := dial()
		second.send("HEAD / HTTP/1.1\r\nHost: test\r\n\r\n")
		if resp, err := http.ReadResponse(second.from, &http.Request{Method: http.MethodHead}); err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("HEAD of a stream: %v, %v; want status 200", resp, err)
		}
		if err := <-ended; err != context.Canceled {
			t.Errorf("the response to HEAD ended with %v, want %v", err, context.Canceled)
		}
	})
}

// A stream ends after its lifetime. A stream that does not begin ends after its
// budget.
func TestStreamsEnd(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	long := httptest.NewServer(Streams(time.Minute, 20*time.Millisecond)(endless(nil, ended)))
	t.Cleanup(long.Close)
	got, _ := open(t, "GET", long.URL)
	if _, err := io.ReadAll(got.Body); err != nil {
		t.Errorf("read to the end of the stream: %v", err)
	}
	if err := testwait.Receive(t, ended, "the stream to end"); err != context.DeadlineExceeded {
		t.Errorf("the stream ended with %v, want %v", err, context.DeadlineExceeded)
	}
	late := httptest.NewServer(Streams(20*time.Millisecond, time.Minute)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		fail503(w, r, r.Context().Err())
	})))
	t.Cleanup(late.Close)
	if got, _ := open(t, "GET", late.URL); got.StatusCode != 503 {
		t.Errorf("a stream that does not begin: status %d, want 503", got.StatusCode)
	}
}
