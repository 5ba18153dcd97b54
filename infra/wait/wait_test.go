package wait_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"netsim/infra/wait"
)

func TestForWaitsForTheWholeTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if err := wait.For(t.Context(), time.Hour); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(start); waited != time.Hour {
			t.Errorf("waited %s, want 1h", waited)
		}
	})
}

func TestForEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		if err := wait.For(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want the context's", err)
		}
		if waited := time.Since(start); waited != time.Minute {
			t.Errorf("waited %s, want 1m", waited)
		}
	})
}
