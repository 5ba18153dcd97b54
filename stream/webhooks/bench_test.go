package webhooks_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"netsim/commands"
	"netsim/events"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
	"netsim/stream/webhooks"
)

// BenchmarkDeliver delivers b.N times to a receiver on this machine, for one webhook and for
// a hundred of which each gets every event: from the log to the record of each attempt. It
// reports deliveries a second, and the CPU time of this process for each: with the receiver,
// without PostgreSQL.
func BenchmarkDeliver(b *testing.B) {
	for _, count := range []int{1, 100} {
		b.Run(fmt.Sprintf("webhooks=%d", count), func(b *testing.B) { deliver(b, count) })
	}
}

func deliver(b *testing.B, count int) {
	w := newWorld(b)
	var got atomic.Int64
	made := (b.N + count - 1) / count
	arrived := make(chan struct{}, 1)
	r := newReceiver(b, nil)
	r.Server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
		if got.Add(1) == int64(made*count) {
			arrived <- struct{}{}
		}
	})
	w.createMany(b, made)
	for range count {
		w.source.put(subscription(r.URL))
	}
	d := webhooks.New(w.config())
	before := cpu(b)
	b.ResetTimer()
	stop := run(b, d)
	testwait.Receive(b, arrived, "the last delivery")
	b.StopTimer()
	used := cpu(b) - before
	w.await(b, func() bool { return d.Report().Messages == 0 })
	stop()
	b.ReportMetric(float64(made*count)/b.Elapsed().Seconds(), "deliveries/s")
	b.ReportMetric(float64(used.Microseconds())/float64(made*count), "CPU-µs/delivery")
}

// BenchmarkLag sends 1,000 events a second for b.N events, and reports the times from the
// recording to the receiver.
func BenchmarkLag(b *testing.B) {
	w := newWorld(b)
	var mu sync.Mutex
	var lags []time.Duration
	r := newReceiver(b, nil)
	r.Server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		var e struct{ RecordedTime time.Time }
		if err := json.NewDecoder(request.Body).Decode(&e); err != nil {
			b.Error(err)
		}
		mu.Lock()
		lags = append(lags, time.Since(e.RecordedTime))
		mu.Unlock()
	})
	w.source.put(subscription(r.URL))
	d := webhooks.New(w.config())
	stop := run(b, d)
	w.await(b, func() bool { return d.Report().Webhooks == 1 })
	const rate = 1000
	b.ResetTimer()
	var creating sync.WaitGroup
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for made := 0; made < b.N; {
		testwait.Receive(b, tick.C, "the tick")
		n := min(rate/100, b.N-made)
		for range n {
			creating.Go(func() { w.create(b, 0) })
		}
		made += n
	}
	testwait.Group(b, &creating, "the workspaces")
	b.StopTimer()
	w.await(b, func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(lags) >= b.N
	})
	stop()
	slices.Sort(lags)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "creates/s")
	b.ReportMetric(float64(lags[len(lags)/2].Milliseconds()), "lag-p50-ms")
	b.ReportMetric(float64(lags[len(lags)*99/100].Milliseconds()), "lag-p99-ms")
}

// createMany creates so many workspaces, many at a time.
func (w *world) createMany(b *testing.B, count int) {
	b.Helper()
	var creating sync.WaitGroup
	next := atomic.Int64{}
	for range 64 {
		creating.Go(func() {
			for next.Add(1) <= int64(count) {
				id := events.NewID(events.WorkspacePrefix)
				testworld.In(b, w.World, id, id, commands.CreateWorkspace{AccountID: testworld.Account, Name: "w"})
			}
		})
	}
	testwait.Group(b, &creating, "the workspaces")
}

// cpu returns the CPU time that this process has used.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
