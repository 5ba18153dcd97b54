package eventlog

import (
	"bytes"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"netsim/events"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
)

// benchMessage returns a typical message: a frame and a body of 400 bytes.
func benchMessage() events.Message {
	m, _ := events.Frame{
		ID: "0192e4a0-7c1e-7b3a-9a55-3f1a52d6c001", Type: "netsim.simulation.started.v1",
		Stream: events.NewID(events.SimulationPrefix), PartitionKey: events.DefaultWorkspace, Sequence: 2,
		PreviousHash: events.Hash{1}, CommandID: "0192e4a0-7c1e-7b3a-9a55-3f1a52d6c002",
		Time: time.Unix(1_790_000_000, 0), Actor: "user", DataVersion: 1,
	}.Message(bytes.Repeat([]byte("x"), 400))
	return m
}

// benchmarkBroker returns the configuration of an embedded broker on disk with
// fsync, or in memory.
func benchmarkBroker(b *testing.B, disk bool) Config {
	if !disk {
		return Config{}
	}
	return Config{Brokers: []string{teststack.Start(b, "broker", b.TempDir()).Addr}}
}

// BenchmarkAppend reports acknowledged appends per second. Each caller waits for
// its append before the next one.
func BenchmarkAppend(b *testing.B) {
	for _, disk := range []bool{false, true} {
		c := benchmarkBroker(b, disk)
		for _, callers := range []int{1, 64, 1024} {
			b.Run(fmt.Sprintf("fsync=%t/callers=%d", disk, callers), func(b *testing.B) {
				k := open(b, c)
				topic, m := k.Topic(events.Simulations), benchMessage()
				var left atomic.Int64
				left.Store(int64(b.N))
				done := make(chan error, callers)
				b.ReportAllocs()
				b.ResetTimer()
				for range callers {
					go func() {
						for left.Add(-1) >= 0 {
							if _, err := k.Append(topic, 0, m).Wait(b.Context()); err != nil {
								done <- err
								return
							}
						}
						done <- nil
					}()
				}
				for range callers {
					if err := testwait.Receive(b, done, "a caller's appends"); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "appends/s")
			})
		}
	}
}

// BenchmarkRead reads a partition of 100,000 records from its start.
func BenchmarkRead(b *testing.B) {
	k := open(b, Config{})
	topic, m := k.Topic(events.Simulations), benchMessage()
	const records = 100_000
	var last *Pending
	for i := range records {
		last = k.Append(topic, 0, m)
		if i%10_000 == 9999 {
			if _, err := last.Wait(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.SetBytes(int64(records * sizeOf(&m)))
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if n := len(readAll(b, k, topic, 0, records)); n != records {
			b.Fatalf("read %d records, want %d", n, records)
		}
	}
	b.ReportMetric(float64(b.N*records)/b.Elapsed().Seconds(), "records/s")
}
