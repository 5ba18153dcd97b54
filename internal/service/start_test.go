package service_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"netsim/infra/teststack"
	"netsim/internal/service"
	"netsim/internal/service/servicetest"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// TestEndedWhileItStarts: a program is not ready before it serves, and one that
// is told to end until then ends in order.
func TestEndedWhileItStarts(t *testing.T) {
	t.Parallel()
	for range 5 { // on a busy machine it may serve already
		if endWhileItStarts(t) {
			return
		}
	}
	t.Error("it was never seen to start")
}

// endWhileItStarts ends a program that is seen to start, or returns false.
func endWhileItStarts(t *testing.T) bool {
	t.Helper()
	c := servicetest.Config(t)
	c.Ops = teststack.FreeAddress(t)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	ended := make(chan error, 1)
	serving := make(chan service.Started, 1)
	go func() {
		ended <- service.Run(ctx, c, slog.New(slog.DiscardHandler), func(s service.Started) { serving <- s })
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
	if err := testwait.Receive(t, ended, "it to end"); err != nil {
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

// TestRolesWaitForTheReadModel: processes that meet an empty database wait for
// one that projects, say so in log and readiness, and then serve. Without the
// role api a process leaves the API's port alone.
func TestRolesWaitForTheReadModel(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	c := servicetest.Config(t)
	start := func(role string) (ops string, log *lines) {
		c := c
		c.Roles, c.Ops, c.HTTP = []string{role}, teststack.FreeAddress(t), taken.Addr().String()
		if role == service.RoleAPI {
			c.HTTP = "127.0.0.1:0"
		}
		log = &lines{}
		testworld.Running(t, func(ctx context.Context) error {
			return service.Run(ctx, c, slog.New(slog.NewTextHandler(log, nil)), nil)
		})
		return c.Ops, log
	}
	says := func(ops string, status int, what string) {
		t.Helper()
		last := ""
		defer func() {
			if t.Failed() {
				t.Logf("%s says %s", ops, last)
			}
		}()
		testworld.Await(t, func() bool {
			got, said := ready(t, ops)
			last = fmt.Sprint(got, " ", said)
			return got == status && strings.Contains(said, what)
		})
	}
	const waiting = "waiting for a process with the role projector to create "
	var all []string
	for _, role := range []string{service.RoleAPI, service.RoleReactor, service.RoleWorker} {
		ops, log := start(role)
		says(ops, http.StatusServiceUnavailable, waiting+"the read model")
		testworld.Await(t, func() bool { return log.contain(waiting + "it") })
		all = append(all, ops)
	}
	projector, _ := start(service.RoleProjector)
	for _, ops := range append(all, projector) {
		says(ops, http.StatusOK, `"name":"serving","required":true,"status":"pass"`)
	}
}

// lines is a log that is looked at while it is written.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) contain(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.text.String(), text)
}

// TestOneBrokerInProduction: on a cluster that can lose events the service does
// not start, and says which settings decide that.
func TestOneBrokerInProduction(t *testing.T) {
	t.Parallel()
	c := servicetest.Config(t)
	c.Development, c.Replication = false, 0
	err := service.Run(t.Context(), c, testworld.Silent(), nil)
	if err == nil {
		t.Fatal("it started and ended")
	}
	for _, want := range []string{"NETSIM_REPLICATION is 3", "the cluster has 1 brokers", "NETSIM_DATA_DEV=true"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("it says %q, without %q", err, want)
		}
	}
}
