package publisher

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"netsim/internal/teststack"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// A publisher that is killed, or suspended and replaced, at any step of a session, before
// the broker has done it and after: every fact is published once and in order.
func TestEveryStep(t *testing.T) {
	t.Parallel()
	steps := map[string]int16{
		"fence": keyInitProducerID, "add the partitions": keyAddPartitionsTxn, "send": keyProduce,
		"add the group": keyAddOffsetsTxn, "add the positions": keyTxnOffsetCommit, "commit": keyEndTxn,
	}
	for _, suspend := range []bool{false, true} {
		t.Run(map[bool]string{false: "killed", true: "suspended"}[suspend], func(t *testing.T) {
			t.Parallel()
			w := testworld.New(t)
			for name, key := range steps {
				for _, answer := range []bool{false, true} {
					for _, nth := range []int{1, 3} {
						if nth > 1 && key == keyInitProducerID {
							continue // a session has one, and the world two shards
						}
						what := fmt.Sprintf("%s, request %d, answered: %t", name, nth, answer)
						interrupt(t, w, what, newFaulty(t, key, nth, answer, suspend))
					}
				}
			}
			equalToLog(t, w)
		})
	}
}

// interrupt runs a publisher until the fault happens, and then another one beside it.
func interrupt(t *testing.T, w *testworld.World, what string, fault *faulty) {
	t.Helper()
	c := configOf(w)
	c.dial = fault.dial
	_, stop := start(t, c)
	testworld.Await(t, func() bool {
		makeFacts(t, w, 1, 1)
		return fault.happened()
	})
	makeFacts(t, w, 1, 1)
	began := time.Now()
	_, stopNext := start(t, configOf(w))
	awaitPublished(t, w)
	t.Logf("%s: published again after %v", what, time.Since(began).Round(time.Millisecond))
	stopNext()
	if fault.suspend {
		fault.release() // it fails, resumes and goes on
		makeFacts(t, w, 1, 1)
		awaitPublished(t, w)
		stop()
	}
}

// A session whose time is up is closed from two sides: by its own end, and by the limit of
// it. sarama panics if a client is closed twice at the same moment.
func TestASessionIsClosedFromTwoSides(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	p, err := New(configOf(w))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.config.ensure(); err != nil {
		t.Fatal(err)
	}
	for range 50 {
		s, err := p.open(t.Context(), 0, true)
		if err != nil {
			t.Fatal(err)
		}
		s.producer.Close() //nolint:errcheck // only the client is in question
		s.producer = nil
		var sides sync.WaitGroup
		begin := make(chan struct{})
		for _, closing := range []func(){s.close, s.disconnect} {
			sides.Go(func() { testwait.Gate(t, begin); closing() })
		}
		close(begin)
		testwait.Group(t, &sides, "the session to close")
	}
}

// Two publishers that both believe to have every shard fence each other again and again.
func TestTwoPublishersFight(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	fights := make(chan struct{}, 1)
	for range 2 {
		c := configOf(w)
		c.Observe = func(o Observation) {
			if o.Outcome == outcomeFailed {
				select {
				case fights <- struct{}{}:
				default:
				}
			}
		}
		start(t, c)
	}
	for fought := 0; fought < 6; {
		makeFacts(t, w, 1, 2)
		select {
		case <-fights:
			fought++
		default:
		}
	}
	awaitPublished(t, w)
	equalToLog(t, w)
}

// Without transactions, a publisher that is killed while it sends, and one that is killed
// before it commits its position, are continued without a loss or a repeat.
func TestKilledWithoutTransactions(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	for _, answer := range []bool{false, true} {
		for _, nth := range []int{1, 3} {
			killUntransacted(t, w, newFaulty(t, keyProduce, nth, answer, false), nil)
		}
	}
	for _, step := range []string{"begun", "sent"} {
		fault := newFaulty(t, keyProduce, 0, false, false)
		killUntransacted(t, w, fault, func(ctx context.Context, name string) error {
			if name == step {
				fault.trip()
				<-ctx.Done()
			}
			return ctx.Err()
		})
	}
	equalToLog(t, w)
}

func killUntransacted(t *testing.T, w *testworld.World, fault *faulty, step func(context.Context, string) error) {
	t.Helper()
	c := configOf(w)
	c.dial, c.step, c.Untransacted = fault.dial, step, true
	_, stop := start(t, c)
	testworld.Await(t, func() bool {
		makeFacts(t, w, 1, 1)
		return fault.happened()
	})
	stop()
	c = configOf(w)
	c.Untransacted = true
	_, stop = start(t, c)
	awaitPublished(t, w)
	stop()
}

// A broker that hangs delays neither the end of a publisher for long, nor, once it
// answers again, any fact.
func TestBrokerHangs(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	makeFacts(t, w, 2, 1)
	proxy := teststack.NewProxy(t, w.Log.Brokers[0])
	through := configOf(w)
	through.dial = func(network, _ string) (net.Conn, error) { return net.DialTimeout(network, proxy.Addr, 5*time.Second) }
	p, stop := start(t, through)
	awaitPublished(t, w)
	proxy.Hang()
	makeFacts(t, w, 2, 1)
	testworld.Await(t, func() bool { return p.Report().LagRecords > 0 })
	stop()
	proxy.Heal()
	start(t, through)
	awaitPublished(t, w)
	equalToLog(t, w)
}
