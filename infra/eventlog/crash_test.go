package eventlog

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"netsim/events"
	"netsim/infra/teststack"
	"netsim/internal/testwait"
)

// TestBrokerKilledUnderLoad kills the broker with SIGKILL again and again while
// many write. What the event log acknowledged must lie where it said, and be the
// first copy; what it said is not written must not be there.
func TestBrokerKilledUnderLoad(t *testing.T) {
	t.Parallel()
	kind, kills := "broker", 5
	if onApache() {
		kind, kills = "kafka", 2
	}
	broker := teststack.Start(t, kind, t.TempDir())
	k := open(t, Config{Brokers: []string{broker.Addr}, AppendTimeout: time.Minute})
	topic := k.Topic(events.Simulations)

	const writers, betweenKills = 32, 1000
	var acknowledged atomic.Int64
	due := make(chan struct{}, kills+1) // another portion is acknowledged
	stop := make(chan struct{})
	type outcome struct {
		offset int64
		err    error
	}
	outcomes := make([]map[string]outcome, writers)
	var group sync.WaitGroup
	for w := range writers {
		outcomes[w] = map[string]outcome{}
		group.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				name := fmt.Sprintf("%d-%d", w, i)
				offset, err := k.Append(topic, int32(w%2), message(name)).Wait(t.Context())
				outcomes[w][name] = outcome{offset, err}
				if err == nil && acknowledged.Add(1)%betweenKills == 0 {
					select {
					case due <- struct{}{}:
					default: // the test is not killing any more
					}
				}
			}
		})
	}
	for range kills {
		testwait.Receive(t, due, "the append")
		broker.Kill()
		broker.Restart()
	}
	testwait.Receive(t, due, "the append")
	close(stop)
	testwait.Group(t, &group, "the group")

	first := [2]map[string]int64{}
	for p := range first {
		first[p] = firstCopies(readAll(t, k, topic, int32(p), 1))
	}
	unknown := 0
	for w := range writers {
		for name, said := range outcomes[w] {
			at, there := first[w%2][name]
			switch {
			case said.err == nil && (!there || at != said.offset):
				t.Errorf("%s was acknowledged at %d and is first at %d (%t)", name, said.offset, at, there)
			case errors.Is(said.err, ErrNotWritten) && there:
				t.Errorf("%s is said not to be written and is at %d", name, at)
			case errors.Is(said.err, ErrUnknown):
				unknown++
			}
		}
	}
	t.Logf("%d kills, %d acknowledged, %d unknown", kills, acknowledged.Load(), unknown)
}
