package eventlog

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"netsim/events"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
)

// TestBrokerKilledUnderLoad kills the broker with SIGKILL several times under
// concurrent writers. The first copy of an acknowledged record must be at the
// returned offset. A record that was reported as not written must not be there.
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
	due := make(chan struct{}, kills+1) // receives after every betweenKills acknowledged appends
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
					default: // the test has made its last kill
					}
				}
			}
		})
	}
	for range kills {
		testwait.Receive(t, due, "the appends before the next kill")
		broker.Kill()
		broker.Restart()
	}
	testwait.Receive(t, due, "the appends before the next kill")
	close(stop)
	testwait.Group(t, &group, "the writers")

	first := [2]map[string]int64{}
	for p := range first {
		first[p] = firstCopies(readAll(t, k, topic, int32(p), 1))
	}
	unknown := 0
	for w := range writers {
		for name, returned := range outcomes[w] {
			offset, found := first[w%2][name]
			switch {
			case returned.err == nil && (!found || offset != returned.offset):
				t.Errorf("%s was acknowledged at %d, and its first copy is at %d (found: %t)", name, returned.offset, offset, found)
			case errors.Is(returned.err, ErrNotWritten) && found:
				t.Errorf("%s was reported as not written and is at %d", name, offset)
			case errors.Is(returned.err, ErrUnknown):
				unknown++
			}
		}
	}
	t.Logf("%d kills, %d acknowledged, %d unknown", kills, acknowledged.Load(), unknown)
}
