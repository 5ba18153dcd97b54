package web

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"netsim/internal/testwait"
)

// endless writes a line for each value of parts, until its context ends.
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

// TestStreams: a streamed response outlives the server's timeouts and ends when
// its client has gone.
func TestStreams(t *testing.T) {
	t.Parallel()
	parts, ended := make(chan string), make(chan error, 10)
	server := httptest.NewUnstartedServer(Streams(time.Minute, time.Hour)(endless(parts, ended)))
	server.Config.ReadTimeout, server.Config.WriteTimeout = 50*time.Millisecond, 50*time.Millisecond
	server.Start()
	t.Cleanup(server.Close)

	first, leave := open(t, "GET", server.URL)
	lines := bufio.NewReader(first.Body)
	for began := time.Now(); time.Since(began) < 200*time.Millisecond; {
		parts <- "more\n"
		if line, err := lines.ReadString('\n'); line != "more\n" {
			t.Fatalf("after %s: %q, %v", time.Since(began), line, err)
		}
	}
	leave()
	if err := testwait.Receive(t, ended, "it to end"); err != context.Canceled {
		t.Errorf("the stream of a client that is gone ended with %v", err)
	}
	if third, _ := open(t, "HEAD", server.URL); third.StatusCode != 200 {
		t.Errorf("the head of a stream: %d", third.StatusCode)
	}
	if err := testwait.Receive(t, ended, "it to end"); err != context.Canceled {
		t.Errorf("a stream of which only the head is wanted ended with %v", err)
	}
}

// TestStreamsEnd: a stream ends after its lifetime, and one that does not begin
// after its budget.
func TestStreamsEnd(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	long := httptest.NewServer(Streams(time.Minute, 20*time.Millisecond)(endless(nil, ended)))
	t.Cleanup(long.Close)
	got, _ := open(t, "GET", long.URL)
	if _, err := io.ReadAll(got.Body); err != nil {
		t.Errorf("the end of a stream is %v", err)
	}
	if err := testwait.Receive(t, ended, "it to end"); err != context.DeadlineExceeded {
		t.Errorf("a stream ended with %v", err)
	}
	late := httptest.NewServer(Streams(20*time.Millisecond, time.Minute)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		fail503(w, r, r.Context().Err())
	})))
	t.Cleanup(late.Close)
	if got, _ := open(t, "GET", late.URL); got.StatusCode != 503 {
		t.Errorf("a stream that does not begin answers %d", got.StatusCode)
	}
}
