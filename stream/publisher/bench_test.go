package publisher

import (
	"context"
	"math"
	"syscall"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/infra/facts"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// accepting accepts every record, also those to come, so that no projector takes part.
type accepting struct{}

func (accepting) Next(events.Family, int32) int64 { return math.MaxInt64 }

func (accepting) Changes(...events.Family) (<-chan struct{}, func()) { return nil, func() {} }

func (accepting) Rejected(context.Context, events.Family, int32, int64, int64) (map[int64]events.Verdict, error) {
	return nil, nil
}

// backlog returns a log with facts of simulations.
func backlog(b *testing.B, brokers []string, count int) *eventlog.Kafka {
	b.Helper()
	const partitions, streams = 4, 256
	log, err := eventlog.Open(b.Context(), eventlog.Config{Brokers: brokers, Prefix: events.NewID("w") + ".", Partitions: partitions, Relaxed: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(log.Close)
	if err := log.Ensure(b.Context()); err != nil {
		b.Fatal(err)
	}
	value, err := events.Encode(events.SimulationProgressed{Progress: events.Progress{SimulatedTimeNs: 2_500_000, EventsProcessed: 126_976, DeliveredBytes: 8_455_716_864, FinishedRanks: 64}})
	if err != nil {
		b.Fatal(err)
	}
	var ids, workspaces [streams]string
	var heads [streams]events.Head
	for i := range ids {
		ids[i], workspaces[i] = events.NewID(events.SimulationPrefix), events.NewID(events.WorkspacePrefix)
	}
	topic := log.Topic(events.Simulations)
	var last [16 << 10]*eventlog.Pending
	for n := range count {
		i := n % streams
		frame := events.Frame{
			ID: events.DerivedUUID(ids[i], time.Now().String()).String(), Type: events.SimulationProgressed{}.EventType(), Stream: ids[i],
			PartitionKey: workspaces[i], Sequence: heads[i].Sequence + 1, PreviousHash: heads[i].Hash, Time: time.Now(), Actor: "tester", DataVersion: 1,
		}
		m, hash := frame.Message(value)
		heads[i] = events.Head{Sequence: frame.Sequence, Hash: hash}
		at := n % len(last)
		if last[at] != nil {
			if _, err := last[at].Wait(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		last[at] = log.Append(topic, events.PartitionOf(workspaces[i], partitions), m)
	}
	for _, p := range last {
		if p != nil {
			if _, err := p.Wait(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	}
	return log
}

// BenchmarkBacklog publishes a backlog, on an embedded broker that writes to disk with
// fsync, and with the same records the limit: an idempotent producer without transactions
// that sends them as fast as the broker takes them.
func BenchmarkBacklog(b *testing.B) {
	brokers := []string{teststack.Start(b, teststack.BrokerPart(), b.TempDir()).Addr}
	log := backlog(b, brokers, b.N)
	c := Config{
		Brokers: brokers, Prefix: log.Prefix, Shards: log.Partitions, Relaxed: true,
		Facts: facts.NewReader(log, accepting{}), Judged: accepting{}.Next, EventLog: log, Leases: allShards(log.Partitions), Log: testworld.Silent(), Every: 100 * time.Millisecond,
	}
	done, total, transactions := make(chan struct{}), 0, 0
	observed := make(chan Observation, 64)
	c.Observe = func(o Observation) { observed <- o }
	go func() {
		for o := range observed {
			transactions++
			if total += o.Facts[events.Simulations]; total >= b.N {
				close(done)
				return
			}
		}
	}()
	before := cpuTime(b)
	b.ResetTimer()
	start(b, c)
	testwait.Receive(b, done, "the backlog")
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "facts/s")
	b.ReportMetric(float64((cpuTime(b)-before).Nanoseconds())/float64(b.N)/1000, "cpu-µs/fact")
	b.ReportMetric(float64(b.N)/float64(transactions), "facts/transaction")
	b.ReportMetric(limitOf(b, &c, log), "limit/s")
}

// limitOf returns how many of the same records a producer without transactions sends in a
// second, when they are made already.
func limitOf(b *testing.B, c *Config, log *eventlog.Kafka) float64 {
	b.Helper()
	client, err := sarama.NewClient(c.Brokers, c.producing(0, false))
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	producer, err := sarama.NewSyncProducerFromClient(client)
	if err != nil {
		b.Fatal(err)
	}
	defer producer.Close()
	names := newHeaderNames()
	var list []*sarama.ProducerMessage
	topic := log.Topic(events.Simulations)
	for partition := range log.Partitions {
		for next := int64(0); len(list) < fullFacts*int(partition+1); {
			records, _, err := log.Read(b.Context(), topic, partition, next, 1<<20, 0)
			if err != nil {
				b.Fatal(err)
			}
			if len(records) == 0 {
				break
			}
			for i := range records {
				f := facts.Decode(events.Simulations, &records[i])
				list = append(list, names.record(&f, Topic(c.Prefix, events.Simulations), topic, partition))
				next = f.Offset + 1
			}
		}
	}
	began := time.Now()
	if err := producer.SendMessages(list); err != nil {
		b.Fatal(err)
	}
	return float64(len(list)) / time.Since(began).Seconds()
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
