package reactor_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/infra/reactor"
)

// silentLog is a log whose broker does not answer.
type silentLog struct{ asked atomic.Int32 }

func (l *silentLog) GroupOffsets(ctx context.Context, _, _ string, _ int32) ([]eventlog.GroupOffset, error) {
	l.asked.Add(1)
	<-ctx.Done()
	return nil, ctx.Err()
}

func (l *silentLog) Read(context.Context, string, int32, int64, int, time.Duration) ([]events.Record, int64, error) {
	panic("nothing is read before it is known what is committed")
}

// TestASilentBrokerDelaysNoRead: concurrent callers share one measurement, and none
// waits until it times out.
func TestASilentBrokerDelaysNoRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := &silentLog{}
		lag := &reactor.Lag{
			Log: log, Handler: "billing", Families: map[events.Family]int32{events.Workspaces: 2},
			Next: func(events.Family, int32) int64 { return 7 }, Now: time.Now,
		}
		var callers sync.WaitGroup
		began := time.Now()
		for range 50 {
			callers.Go(func() {
				if behind, err := lag.Behind(t.Context()); err == nil {
					t.Errorf("a lag of %s without an answer", behind)
				}
				if took := time.Since(began); took > 200*time.Millisecond {
					t.Errorf("a caller waited %s", took)
				}
			})
		}
		callers.Wait()
		if n := log.asked.Load(); n != 1 {
			t.Errorf("the broker was asked %d times", n)
		}
		<-time.After(time.Minute) // of the bubble: the measurement times out, and the next caller starts another
		if _, err := lag.Behind(t.Context()); err == nil || log.asked.Load() != 2 {
			t.Errorf("a minute later: %v, asked %d times", err, log.asked.Load())
		}
		<-time.After(time.Second)
	})
}
