package tables_test

import (
	"fmt"
	"io"
	"syscall"
	"testing"
	"time"

	"netsim/events"
	"netsim/infra/facts"
	"netsim/stream/tables"
)

// mixture returns records of the life of simulations and of what they cost.
func mixture(b testing.TB, count int) map[events.Family][]events.Record {
	b.Helper()
	of := map[events.Family][]events.Record{}
	at := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	add := func(family events.Family, stream, key string, n int64, d events.Data) {
		value, err := events.Encode(d)
		if err != nil {
			b.Fatal(err)
		}
		at = at.Add(7 * time.Millisecond)
		f := events.Frame{
			ID: events.DerivedUUID(fmt.Sprint(stream, n)).String(), Type: d.EventType(), Stream: stream, PartitionKey: key, Sequence: n, Time: at,
			Actor: "user-0192e4a0-7c1e", CommandID: events.DerivedUUID(fmt.Sprint("c", stream, n)).String(), CorrelationID: events.DerivedUUID(fmt.Sprint("r", stream, n)).String(), DataVersion: 1,
		}
		if n > 1 {
			f.PreviousHash = events.Hash{1, byte(n)}
		}
		m, _ := f.Message(value)
		of[family] = append(of[family], events.Record{Message: m, Offset: int64(len(of[family])), Time: at})
	}
	workspace, account := events.NewID(events.WorkspacePrefix), events.NewID(events.AccountPrefix)
	for i := int64(0); len(of[events.Simulations])+len(of[events.Billing]) < count; i++ {
		sim := events.NewID(events.SimulationPrefix)
		p := events.Progress{SimulatedTimeNs: 1000 * i, EventsProcessed: 77 * i, DeliveredBytes: 1 << 30, FinishedRanks: 3, TotalBytes: 1 << 31}
		add(events.Simulations, sim, workspace, 1, events.SimulationRequested{Origin: "start", AccountID: account, WorkspaceID: workspace, ConfigurationID: "config_0192e4a0", ConfigurationVersion: 3, Name: fmt.Sprint("run ", i), DurationNs: 1e9, Duration: "1s"})
		add(events.Simulations, sim, workspace, 2, events.SimulationValidated{DocumentHash: "sha256:b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c"})
		add(events.Simulations, sim, workspace, 3, events.SimulationStarted{Engine: "builtin", RunID: events.DerivedUUID(sim).String(), Ranks: 1024})
		add(events.Simulations, sim, workspace, 4, events.SimulationProgressed{Progress: p})
		add(events.Simulations, sim, workspace, 5, events.SimulationResultsPublished{Prefix: "results/" + sim, Manifest: "results/" + sim + "/manifest.json", Files: 7, Bytes: 81723, TotalPackets: 99, AvgLatencyPs: 1234, Reached: p})
		add(events.Simulations, sim, workspace, 6, events.SimulationCompleted{Progress: p})
		usage := events.UsageRecorded{BillingEventID: i, BillingItemID: i, Meter: "cluster", Action: "start", RateName: "cluster", ItemName: sim, CurrentCount: 1024, BillableCount: 2048, WorkspaceID: workspace, UserID: "user-0192e4a0", ResourceType: "simulation", ResourceID: sim, CauseType: "netsim.simulation.started.v1", Ranks: 1024, Engine: "builtin", OccurredAt: at}
		add(events.Billing, account, account, 4*i+2, usage)
		usage.Action, usage.OccurredAt = "stop", at
		add(events.Billing, account, account, 4*i+3, usage)
		add(events.Billing, account, account, 4*i+4, events.DailyCostRated{DailyCostID: i, BillingItemID: i, ItemName: sim, Date: "2026-11-22", RateID: 1, RateName: "cluster", RateAmount: "0.25", Cost: "12.345678901234567", Currency: "USD", Quantity: 1024, WorkspaceID: workspace, Segments: []events.CostSegment{{From: at, To: at, Units: 1024, Fraction: "0.041666666666666667", Count: 2048}}, DayPrice: "6", UnitDays: "42.666666666666667", Period: "hour", EngineVersion: "1", FirstEventID: i, LastEventID: i, Version: 1})
	}
	return of
}

// BenchmarkParquet measures decoding facts and writing them to Parquet, per fact.
func BenchmarkParquet(b *testing.B) {
	of := mixture(b, 200_000)
	for _, decoded := range []bool{true, false} {
		b.Run(fmt.Sprintf("decode=%t", decoded), func(b *testing.B) {
			b.ReportAllocs()
			rows, bytes, used := int64(0), int64(0), cpu(b)
			for b.Loop() {
				for family, records := range of {
					p := tables.NewParquet(io.Discard, tables.For(family))
					for i := range records {
						var f facts.Fact
						if decoded {
							f = facts.Decode(family, &records[i])
						} else {
							f = undecoded(b, family, &records[i])
						}
						if err := p.Append(&f); err != nil {
							b.Fatal(err)
						}
					}
					stats, err := p.Close()
					if err != nil {
						b.Fatal(err)
					}
					rows += stats.Rows
					bytes += stats.Bytes
				}
			}
			b.ReportMetric(float64(cpu(b)-used)/float64(rows), "cpu-ns/fact")
			b.ReportMetric(float64(bytes)/float64(rows), "B/fact")
			b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "facts/s")
		})
	}
}

// undecoded returns a fact without its data decoded.
func undecoded(b testing.TB, family events.Family, record *events.Record) facts.Fact {
	frame, hash, err := events.ReadFrame(&record.Message)
	if err != nil {
		b.Fatal(err)
	}
	return facts.Fact{Record: record, Fact: events.Fact{Family: family, Offset: record.Offset, RecordedAt: record.Time, Event: events.Event{Frame: frame, Hash: hash}}}
}

// cpu returns the CPU time of the process in nanoseconds. Unlike the time that has passed,
// it says what a fact costs while the machine does other work too.
func cpu(b *testing.B) int64 {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// BenchmarkSmallFile measures a file of a hundred facts, such as one commit of the lake
// has.
func BenchmarkSmallFile(b *testing.B) {
	records := mixture(b, 400)[events.Billing][:100]
	b.ReportAllocs()
	used := cpu(b)
	for b.Loop() {
		p := tables.NewParquet(io.Discard, tables.For(events.Billing))
		for i := range records {
			f := undecoded(b, events.Billing, &records[i])
			if err := p.Append(&f); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := p.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cpu(b)-used)/float64(b.N)/1e6, "cpu-ms/file")
}
