package service_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"netsim/cmd/service"
	"netsim/cmd/settings"
	"netsim/internal/servicetest"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// TestEndedWhileItStarts: the service is not ready before it serves. If it is asked to
// end while it starts, it ends without an error.
func TestEndedWhileItStarts(t *testing.T) {
	t.Parallel()
	for range 5 { // on a busy machine the service may already serve at the first check
		if endWhileItStarts(t) {
			return
		}
	}
	t.Error("the service was never observed while it started")
}

// endWhileItStarts starts a service and ends it while it starts. It returns false if the
// service was not observed while it started.
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
			t.Fatalf("the service ended by itself: %v", err)
		case <-serving:
			served = true
		default:
			status, said := servicetest.Ready(t, c.Ops)
			seen = status == http.StatusServiceUnavailable && strings.Contains(said, "still starting")
		}
	}
	end()
	if err := testwait.Receive(t, ended, "the service to end"); err != nil {
		t.Errorf("the service ended with %v, want nil", err)
	}
	return seen
}

// TestRolesWaitForTheReadModel: with an empty database, processes wait for one with the
// role projector, report this in their log and readiness, and then serve. A process
// without the role api does not use the API's port.
func TestRolesWaitForTheReadModel(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	c := servicetest.Config(t)
	servicetest.OnEmptyDatabase(t)(&c)
	start := func(role string) (ops string, log *servicetest.Log) {
		c := c
		c.Roles, c.Ops, c.HTTP = []string{role}, teststack.FreeAddress(t), taken.Addr().String()
		if role == settings.RoleAPI {
			c.HTTP = "127.0.0.1:0"
		}
		log = &servicetest.Log{}
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
			got, said := servicetest.Ready(t, ops)
			last = fmt.Sprint(got, " ", said)
			return got == status && strings.Contains(said, what)
		})
	}
	const waiting = "waiting for a process with the role projector to create "
	var all []string
	for _, role := range []string{settings.RoleAPI, settings.RoleReactor, settings.RoleWorker} {
		ops, log := start(role)
		says(ops, http.StatusServiceUnavailable, waiting+"the read model")
		testworld.Await(t, func() bool { return log.Count(waiting+"it") > 0 })
		all = append(all, ops)
	}
	projector, _ := start(settings.RoleProjector)
	for _, ops := range append(all, projector) {
		says(ops, http.StatusOK, `"name":"serving","required":true,"status":"pass"`)
	}
}

// TestOneBrokerInProduction: the service does not start on a cluster that can lose events.
// The error names the settings that decide this.
func TestOneBrokerInProduction(t *testing.T) {
	t.Parallel()
	c := servicetest.Config(t)
	c.Development, c.Replication = false, 0
	err := service.Run(t.Context(), c, testworld.Silent(), nil)
	if err == nil {
		t.Fatal("the service started, want an error")
	}
	for _, want := range []string{"NETSIM_REPLICATION is 3", "the cluster has 1 brokers", "NETSIM_DATA_DEV=true"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got the error %q, want %q in it", err, want)
		}
	}
}

// TestAPanicEndsTheProcess with its message, although sessions of the database are in use.
func TestAPanicEndsTheProcess(t *testing.T) {
	t.Parallel()
	c := servicetest.Config(t)
	panicked := make(chan any, 1)
	go func() {
		defer func() { panicked <- recover() }()
		service.Run(t.Context(), c, testworld.Silent(), func(service.Started) { panic("a bug") }) //nolint:errcheck // it panics
	}()
	if got := testwait.Receive(t, panicked, "the panic"); got != "a bug" {
		t.Errorf("the service ended with %v, want the panic", got)
	}
}
