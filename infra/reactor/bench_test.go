package reactor_test

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"netsim/billing"
	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/infra/facts"
	"netsim/infra/reactor"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// BenchmarkBacklog drains a backlog of facts that each open a billing item. It
// reports the rate, the CPU time of the process, which also projects what the
// reactions append, and the memory in use at the end.
func BenchmarkBacklog(b *testing.B) {
	const accounts, writers = 16, 256
	w := testworld.New(b)
	var made errgroup.Group
	made.SetLimit(writers)
	for i := range b.N {
		made.Go(func() error {
			id := events.NewID(events.WorkspacePrefix)
			account := fmt.Sprintf("acct_%026d", i%accounts)
			_, err := handle.Command(b.Context(), w.Commands, handle.Target{Stream: id, PartitionKey: id, Fresh: true},
				handle.Origin{Actor: "tester"}, commands.CreateWorkspace{AccountID: account, Owner: "tester", Name: id})
			return err
		})
	}
	if err := testwait.Call(b, made.Wait, "the backlog"); err != nil {
		b.Fatal(err)
	}
	books := &billing.Books{Commands: w.Commands, DB: w.DB, Now: time.Now}
	metering := billing.New(billing.Config{Commands: w.Commands, DB: w.DB, Books: books})
	var done atomic.Int64
	drained := make(chan struct{})
	r, err := reactor.New(reactor.Config{
		Brokers: w.Log.Brokers, Prefix: w.Log.Prefix, EventLog: w.EventLog, Facts: facts.NewReader(w.EventLog, w.Watcher),
		Leases: testworld.AllShards(w.Log.Partitions), Judge: w.Watcher, Log: w.Logger, Retries: 10,
		Observe: func(o reactor.Observation) {
			if o.Outcome == "done" && done.Add(1) == int64(b.N) {
				close(drained)
			}
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	r.HandleMany("billing", 1024, metering.React, events.Workspaces)
	before := cpu(b)
	b.ResetTimer()
	testworld.Running(b, r.Run)
	testwait.Receive(b, drained, "the reactions")
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "reactions/s")
	b.ReportMetric(float64((cpu(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
	var memory runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&memory)
	b.ReportMetric(float64(memory.HeapAlloc)/1e6, "live-MB")
}

// cpu returns the CPU time of this process.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
