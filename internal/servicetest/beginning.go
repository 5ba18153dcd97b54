package servicetest

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"netsim/cmd/service"
	"netsim/cmd/settings"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// Beginning is a service that starts.
type Beginning struct {
	Log     *Log
	Outcome chan error // nil when it serves, and then the result of Run

	t   testing.TB
	ops string
	end context.CancelFunc
}

// Begin starts a service and does not wait for it.
func Begin(t testing.TB, c settings.Config) *Beginning {
	t.Helper()
	c.Ops = teststack.FreeAddress(t)
	ctx, end := context.WithCancel(t.Context())
	b := &Beginning{t: t, ops: c.Ops, Log: &Log{}, Outcome: make(chan error, 2), end: end}
	go func() {
		b.Outcome <- service.Run(ctx, c, slog.New(slog.NewTextHandler(b.Log, nil)), func(service.Started) { b.Outcome <- nil })
	}()
	return b
}

// Waits returns when /readyz says that the start waits for a server, and why.
func (b *Beginning) Waits(why string) {
	b.t.Helper()
	testworld.Await(b.t, func() bool {
		select {
		case err := <-b.Outcome:
			b.t.Fatalf("the service ended, or served, while a server did not answer: %v", err)
		default:
		}
		status, said := Ready(b.t, b.ops)
		return status == http.StatusServiceUnavailable && strings.Contains(said, "the start waits for a server: ") && strings.Contains(said, why)
	})
	reply, err := http.Get("http://" + b.ops + "/livez")
	if err != nil {
		b.t.Fatal(err)
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		b.t.Errorf("/livez answers %s while the start waits, want 200", reply.Status)
	}
}

// Serves waits until the service serves, and ends it. Its log names one outage.
func (b *Beginning) Serves() {
	b.t.Helper()
	if err := testwait.Receive(b.t, b.Outcome, "the service to serve"); err != nil {
		b.t.Fatalf("the service ended while it started: %v", err)
	}
	for _, line := range []string{"a server does not answer; the start waits for it", "the server answers; the start goes on"} {
		if n := b.Log.Count(line); n != 1 {
			b.t.Errorf("the log has the line %q %d times, want once", line, n)
		}
	}
	b.Ends()
}

// Ends asks the service to end, which is not an error.
func (b *Beginning) Ends() {
	b.t.Helper()
	b.end()
	if err := testwait.Receive(b.t, b.Outcome, "the service to end"); err != nil {
		b.t.Errorf("the service ended with %v, want nil", err)
	}
}

// Ready returns the status and body of /readyz. The status is 0 while nothing listens.
func Ready(t testing.TB, ops string) (status int, said string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+ops+"/readyz", nil)
	if err != nil {
		t.Fatal(err)
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, ""
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply.StatusCode, string(body)
}

// Log collects what is written to it.
type Log struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// Count returns how often the log has the text.
func (l *Log) Count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), text)
}
