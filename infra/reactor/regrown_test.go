package reactor_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/infra/reactor"
	"netsim/internal/testworld"
)

// regrown is the log; when it is another one, every record before a position is another.
type regrown struct {
	*eventlog.Kafka
	other *atomic.Bool
}

func (r regrown) Read(ctx context.Context, topic string, partition int32, from int64, maxBytes int, wait time.Duration) ([]events.Record, int64, error) {
	records, end, err := r.Kafka.Read(ctx, topic, partition, from, maxBytes, wait)
	if r.other.Load() {
		for i := range records {
			records[i].Value = []byte("another")
		}
	}
	return records, end, err
}

// TestALogThatIsReplacedUnderAReactor: when the log becomes another one under a running
// handler, the handler begins again with the first fact, so that it misses none.
func TestALogThatIsReplacedUnderAReactor(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	ids := workspaces(t, w, 3, 1)
	var other atomic.Bool
	r, _ := newReactor(t, w, func(c *reactor.Config) { c.EventLog = regrown{w.EventLog, &other} })
	got := &seen{}
	r.Handle("again", func(_ context.Context, f events.Fact) error {
		got.add(f)
		return nil
	}, events.Workspaces)
	testworld.Running(t, r.Run)
	topic, group := w.Log.Topic(events.Workspaces), w.Log.Prefix+"netsim-reactor.again.workspaces"
	committed := func(n int64) {
		testworld.Await(t, func() bool {
			at, err := w.EventLog.GroupOffsets(t.Context(), group, topic, 2)
			return err == nil && at[1].Next == n
		})
	}
	committed(3)
	other.Store(true)
	next := workspaces(t, w, 1, 1)
	testworld.Await(t, func() bool { return got.count() >= 7 }) // the three, the next, and all four again
	other.Store(false)
	committed(4)
	all := got.all()
	for _, id := range slices.Concat(ids, next) {
		if n := len(all[id]); n == 0 {
			t.Errorf("the handler has not got %s: %v", id, all)
		}
	}
}
