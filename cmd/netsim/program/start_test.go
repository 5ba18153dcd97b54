package program_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"netsim/cmd/netsim/program"
	"netsim/cmd/netsim/program/programtest"
	"netsim/infra/teststack"
)

// TestEndedWhileItStarts: a program is not ready before it serves, and one that
// is told to end until then ends in order.
func TestEndedWhileItStarts(t *testing.T) {
	t.Parallel()
	for range 5 { // a busy machine may let it serve before we look
		if endWhileItStarts(t) {
			return
		}
	}
	t.Error("it was never seen to start")
}

// endWhileItStarts ends a program that is seen to start, or returns false.
func endWhileItStarts(t *testing.T) bool {
	t.Helper()
	c := programtest.Config(t)
	c.Ops = teststack.FreeAddress(t)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	ended := make(chan error, 1)
	serving := make(chan program.Started, 1)
	go func() {
		ended <- program.Run(ctx, c, slog.New(slog.DiscardHandler), func(s program.Started) { serving <- s })
	}()
	seen := false
	for served := false; !served && !seen; {
		select {
		case err := <-ended:
			t.Fatalf("it ended by itself: %v", err)
		case <-serving:
			served = true
		default:
			status, said := ready(t, c.Ops)
			seen = status == http.StatusServiceUnavailable && strings.Contains(said, "still starting")
		}
	}
	end()
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
	return seen
}

// ready asks whether the program is ready; 0 while it does not listen.
func ready(t *testing.T, ops string) (status int, said string) {
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
