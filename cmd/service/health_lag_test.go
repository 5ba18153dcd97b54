package service_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/cmd/settings"
	"netsim/internal/servicetest"
	"netsim/internal/testwait"
)

// TestReadinessReportsTheLag: lagSeconds is the age of the oldest unapplied record. It
// grows while nothing is projected, and is 0 before and after.
func TestReadinessReportsTheLag(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t, func(c *settings.Config) { c.VerdictTimeout = time.Second })
	user := p.Service(t, servicetest.NewAccount())
	// A busy broker may not answer in time: then the reply has no lag.
	lag := func(r servicetest.Reply) (events int64, seconds float64, ok bool) {
		t.Helper()
		var said struct {
			Checks []struct {
				Name       string
				LagEvents  *int64
				LagSeconds *float64
			}
		}
		if err := json.Unmarshal(r.Body, &said); err != nil {
			t.Fatal(err)
		}
		for _, check := range said.Checks {
			if check.Name == "projections" && check.LagEvents != nil && check.LagSeconds != nil {
				return *check.LagEvents, *check.LagSeconds, true
			}
		}
		return 0, 0, false
	}
	const path = "/api/v1/health/ready"
	caughtUp := func(r servicetest.Reply) bool {
		events, seconds, ok := lag(r)
		if (events == 0) != (seconds == 0) {
			t.Errorf("%d records wait, and the oldest is %v seconds old; want both or neither 0", events, seconds)
		}
		return ok && events == 0
	}
	age := func() (seconds float64) {
		t.Helper()
		user.Eventually(path, func(r servicetest.Reply) (ok bool) {
			_, seconds, ok = lag(r)
			return ok
		})
		return seconds
	}
	user.Eventually(path, caughtUp)

	lock, err := pgx.Connect(t.Context(), p.Config.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // the statements have ended
	if _, err := lock.Exec(t.Context(), "BEGIN; LOCK TABLE readmodel.offsets IN EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	began := time.Now().Truncate(time.Millisecond) // as the broker's times are
	// A busy broker may not take a record within a second.
	for waiting := int64(0); waiting == 0; {
		user.Post("/api/v1/workspaces", map[string]any{"name": "late"}).Refused(503, "SERVICE_UNAVAILABLE")
		user.Eventually(path, func(r servicetest.Reply) (ok bool) {
			waiting, _, ok = lag(r)
			return ok
		})
	}
	first, second := age(), age()
	if most := time.Since(began).Seconds(); first <= 0 || second <= first || second > most {
		t.Errorf("the oldest record is %v and then %v seconds old, want it to grow up to at most %v", first, second, most)
	}
	if _, err := lock.Exec(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	user.Eventually(path, caughtUp)
}

// TestOnlyProjectorsRefuseWritesForTheirLag: readiness says that writes are refused in
// the process that refuses them, and not in one that does not.
func TestOnlyProjectorsRefuseWritesForTheirLag(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t, func(c *settings.Config) { c.VerdictTimeout, c.MaxLag = time.Minute, 1 })
	front := servicetest.Start(t, func(c *settings.Config) { *c = p.Config; c.Roles = []string{settings.RoleAPI} })
	account := servicetest.NewAccount()
	lock, err := pgx.Connect(t.Context(), p.Config.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // the statements have ended
	if _, err := lock.Exec(t.Context(), "BEGIN; LOCK TABLE readmodel.offsets IN EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	for i := range 3 {
		writers.Go(func() {
			front.Service(t, account).Post("/api/v1/workspaces", map[string]any{"name": fmt.Sprint("late ", i)})
		})
	}
	const path, behind, refuses = "/api/v1/health/ready", "the projections are too far behind", "writes are refused"
	says := func(at *servicetest.Program, what string) {
		at.Service(t, account).Eventually(path, func(r servicetest.Reply) bool { return strings.Contains(string(r.Body), what) })
	}
	says(front, behind)
	says(p, refuses)
	p.Service(t, account).Post("/api/v1/workspaces", map[string]any{"name": "refused"}).Refused(503, "SERVICE_UNAVAILABLE")
	if r := front.Service(t, account).Get(path); strings.Contains(string(r.Body), refuses) {
		t.Errorf("a process that takes writes says %s", r.Body)
	}
	if _, err := lock.Exec(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	testwait.Group(t, &writers, "the writes")
}
