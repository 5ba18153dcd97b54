package jobs_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"netsim/internal/teststack"
	"netsim/internal/testwait"
)

// A run whose attempts all fail is abandoned after the 50th, not before.
func TestARunIsAbandoned(t *testing.T) {
	t.Parallel()
	url := teststack.Postgres(t)
	ran, abandoned := make(chan struct{}, 1), make(chan string, 1)
	w := start(t, url, func(c *work) {
		c.Run = func(context.Context, string) error {
			ran <- struct{}{}
			return errors.New("the read model does not answer")
		}
		c.Abandon = func(_ context.Context, simulation string) error {
			abandoned <- simulation
			return nil
		}
	})
	if err := w.run(t.Context(), "sim_a"); err != nil {
		t.Fatal(err)
	}
	deadline := time.After(testwait.Limit(t))
	awaitAttempt := func() {
		t.Helper()
		select {
		case <-ran:
		case <-deadline:
			t.Fatal("the run was not tried again")
		}
	}
	conn := connect(t, url)
	// setAttempts sets the number of past attempts and makes the run available.
	setAttempts := func(attempts int) {
		t.Helper()
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			tag, err := conn.Exec(t.Context(), `UPDATE jobs.river_job SET attempt = $1, state = 'available', scheduled_at = now()
				WHERE kind = 'run_simulation' AND state IN ('retryable', 'available')`, attempts)
			if err != nil {
				t.Fatal(err)
			}
			if tag.RowsAffected() == 1 {
				return
			}
			select {
			case <-tick.C:
			case <-deadline:
				t.Fatal("the attempt did not end")
			}
		}
	}
	awaitAttempt()
	setAttempts(48)
	awaitAttempt()
	setAttempts(49)
	if len(abandoned) != 0 {
		t.Error("the run was abandoned after 49 attempts, want 50")
	}
	awaitAttempt()
	select {
	case id := <-abandoned:
		if id != "sim_a" {
			t.Errorf("%s was abandoned, want sim_a", id)
		}
	case <-deadline:
		t.Error("the run was not abandoned")
	}
}
