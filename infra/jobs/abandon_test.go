package jobs_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"netsim/infra/teststack"
)

// TestARunIsAbandoned: a run whose attempts all end with an error is abandoned
// at the 50th, and not before.
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
	deadline := time.After(time.Minute)
	wait := func() {
		t.Helper()
		select {
		case <-ran:
		case <-deadline:
			t.Fatal("after a minute the run is not tried again")
		}
	}
	conn := connect(t, url)
	// after has the next attempt follow so many others, at once.
	after := func(attempts int) {
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
				t.Fatal("after a minute the attempt has not ended")
			}
		}
	}
	wait()
	after(48)
	wait()
	after(49)
	if len(abandoned) != 0 {
		t.Error("it was abandoned after 49 attempts")
	}
	wait()
	select {
	case id := <-abandoned:
		if id != "sim_a" {
			t.Errorf("%s was abandoned", id)
		}
	case <-deadline:
		t.Error("after a minute it is not abandoned")
	}
}
