package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/segmentio/kafka-go"

	"netsim/audit"
	"netsim/events"
	"netsim/infra/broker"
	"netsim/infra/eventlog"
	"netsim/rating"
)

// audits measures the CPU time of the auditor's commands on one core. The log
// contains only billing events.
func (b *bench) audits(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp(b.dir, "audit-")
	if err != nil {
		return err
	}
	broker, err := b.binaries.startPart(ctx, dir, "broker", "--no-sync")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, broker.Stop(context.Background())) }()
	j, err := eventlog.Open(ctx, eventlog.Config{Brokers: []string{broker.Addr}, Partitions: partitions, Relaxed: true})
	if err != nil {
		return err
	}
	defer j.Close()
	if err := j.Ensure(ctx); err != nil {
		return err
	}
	days := 5 * b.burst / 4000 // a day of 100 accounts has about 4,000 facts
	say("appending the billing events of %d days", days)
	count, err := appendAll(ctx, j, billingDays(100, days))
	if err != nil {
		return err
	}
	limits, err := b.auditLimits(ctx, j, broker.Addr, count)
	if err != nil {
		return err
	}
	key, err := audit.NewKey("bench")
	if err != nil {
		return err
	}
	keyFile := filepath.Join(dir, "audit.key")
	if err := os.WriteFile(keyFile, []byte(key), 0o600); err != nil {
		return err
	}
	for _, tool := range []string{"verify", "replay"} {
		cmd := exec.CommandContext(ctx, b.binaries.service, "audit", tool, "--log-only")
		cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "NETSIM_KAFKA="+broker.Addr, "NETSIM_AUDIT_KEY="+keyFile)
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("netsim audit %s: %w\n%s", tool, err, out)
		}
		used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		memory := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
		name := fmt.Sprintf("audit %s, %s of billing, one core", tool, plural(count, "event"))
		b.report.add(figure{Name: name, Value: float64(count) / used.Seconds(), Unit: "/s", Reach: "≥ 150,000/s"}, slices.Clone(limits)...)
		b.report.add(figure{Name: "memory of it", Value: float64(memory) / 1024, Unit: " MB"})
	}
	return nil
}

// auditLimits measures three limits by CPU time on one core: reading the log, hashing
// its content, and a plain reader with kafka-go and encoding/json that only decodes
// records and checks hashes.
func (b *bench) auditLimits(ctx context.Context, j *eventlog.Kafka, address string, count int) ([]limit, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	topic, sample := j.Topic(events.Billing), []events.Record(nil)
	d, err := j.Describe(ctx)
	if err != nil {
		return nil, err
	}
	ends := map[int]int64{}
	for _, t := range d.Topics {
		for i, p := range t.Partitions {
			if t.Family == events.Billing {
				ends[i] = p.End
			}
		}
	}
	began := cpuSelf()
	for partition, end := range ends {
		for next := int64(0); next < end; {
			records, _, err := j.Read(ctx, topic, int32(partition), next, readBytes, time.Second)
			if err != nil || len(records) == 0 {
				return nil, errors.Join(err, fmt.Errorf("read %d of %d records", next, end))
			}
			next, sample = records[len(records)-1].Offset+1, records
		}
	}
	fetched := cpuSelf() - began

	began, hashed := cpuSelf(), 0
	for hashed < count {
		for i := range sample {
			size := 0
			for _, h := range sample[i].Headers {
				size += len(h.Value) + 4
			}
			sha256.Sum256(sample[i].Value)
			sha256.Sum256(make([]byte, size))
			hashed++
		}
	}
	hashing := cpuSelf() - began

	began = cpuSelf()
	for partition, end := range ends {
		if err := plainReader(ctx, address, topic, partition, end); err != nil {
			return nil, err
		}
	}
	plain := cpuSelf() - began
	per := func(d time.Duration) float64 { return float64(count) / d.Seconds() }
	return []limit{
		{Name: "the log read alone", Value: per(fetched)}, {Name: "SHA-256 of the same bytes alone", Value: per(hashing)},
		{Name: "kafka-go reader with encoding/json", Value: per(plain)},
	}, nil
}

// plainReader reads a partition without any optimization, and checks its hash chains.
func plainReader(ctx context.Context, address, topic string, partition int, end int64) (err error) {
	if end == 0 {
		return nil
	}
	r := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{address}, Dialer: (&broker.Connector{}).Dialer(), Topic: topic, Partition: partition, MaxBytes: readBytes})
	defer func() { err = errors.Join(err, r.Close()) }()
	heads := map[string]events.Head{}
	for {
		m, err := r.ReadMessage(ctx)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		message := events.Message{Key: m.Key, Value: m.Value}
		for _, h := range m.Headers {
			message.Headers = append(message.Headers, events.Header{Key: h.Key, Value: h.Value})
		}
		f, hash, err := events.ReadFrame(&message)
		if err != nil {
			return err
		}
		if verdict := events.Judge(heads[f.Stream], &f, hash, true, int32(partition), partitions); verdict != events.Accepted {
			return fmt.Errorf("offset %d of %s/%d: %s", m.Offset, topic, partition, verdict)
		}
		heads[f.Stream] = events.Head{Sequence: f.Sequence, Hash: hash}
		if _, err := events.Decode(f.Type, m.Value); err != nil {
			return err
		}
		if m.Offset >= end-1 {
			return nil
		}
	}
}

// billingDays yields the billing events of accounts for a number of days that ends
// yesterday. On each day every account runs four simulations, opens the storage of
// one result, and is charged for all open storage. Storage is charged on 21 days. From
// the 21st day on, an account has 43 facts a day: 25 are daily costs, 10 are starts and
// stops, and 8 hold and release credit.
func billingDays(accounts, days int) iter.Seq2[fact, error] {
	return func(yield func(fact, error) bool) {
		history := billingHistory{yield: yield, from: time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -days)}
		platform := &stream{id: "platform_netsim", partitionKey: "platform_netsim"}
		for i, r := range []events.RateSet{
			{RateName: "cluster", Amount: "10.00", Period: "hour"}, {RateName: "storage", Amount: "0.03", Period: "month"},
		} {
			r.RateID, r.Platform, r.RateType, r.RateTypeRaw, r.Currency, r.StartDate = int64(i+1), "netsim", "unit", "unit", "CREDIT", "2020-01-01"
			history.rates = append(history.rates, r)
			history.emit(platform, r, history.from)
		}
		all := make([]*billedAccount, accounts)
		for i := range all {
			all[i] = &billedAccount{stream: newStream(events.AccountPrefix, "")}
		}
		for day := range days {
			for _, a := range all {
				history.day(a, history.from.AddDate(0, 0, day))
			}
		}
	}
}

type billingHistory struct {
	yield func(fact, error) bool
	from  time.Time
	rates []events.RateSet
	id    int64
	ended bool
}

// billedAccount is an account and its open storage.
type billedAccount struct {
	stream *stream
	stored []events.UsageRecorded
}

func (b *billingHistory) next() int64 { b.id++; return b.id }

func (b *billingHistory) emit(s *stream, data events.Data, at time.Time) {
	if b.ended {
		return
	}
	m, err := s.next(data, at)
	b.ended = !b.yield(fact{s, m}, err) || err != nil
}

func (b *billingHistory) day(a *billedAccount, day time.Time) {
	for n := range 4 {
		at := day.Add(time.Duration(5*n+1)*time.Hour + time.Duration(b.id%3_600_000)*time.Millisecond)
		sim := events.NewID(events.SimulationPrefix)
		b.emit(a.stream, events.CreditHeld{SimulationID: sim, Amount: "10", Currency: "CREDIT", ExpiresAt: at.Add(time.Hour)}, at)
		run := usageOf(b.next(), b.next(), "cluster", "start", "simulation", sim, at)
		run.CurrentCount, run.BillableCount, run.Ranks, run.Engine = 1, 1, 1024, "builtin"
		b.emit(a.stream, run, at)
		stop := run
		stop.BillingEventID, stop.Action, stop.PreviousCount, stop.CurrentCount, stop.BillableCount = b.next(), "stop", 1, 0, 0
		stop.OccurredAt = at.Add(17 * time.Minute)
		b.emit(a.stream, stop, stop.OccurredAt)
		b.rate(a, day, "cluster", []events.UsageRecorded{run, stop}, stop.OccurredAt)
		b.emit(a.stream, events.CreditReleased{SimulationID: sim, Amount: "10", Currency: "CREDIT", Reason: "ended"}, stop.OccurredAt)
	}
	at := day.Add(22 * time.Hour)
	kept := usageOf(b.next(), b.next(), "storage", "start", "results", events.NewID(events.SimulationPrefix), at)
	kept.CurrentCount, kept.BillableCount, kept.SizeBytes = 3, int64(3*len(a.stored)+3), 2_900_000_000
	b.emit(a.stream, kept, at)
	a.stored = append(a.stored, kept)
	midnight := day.AddDate(0, 0, 1)
	for _, u := range a.stored {
		b.rate(a, day, "storage", []events.UsageRecorded{u}, midnight.Add(30*time.Second))
	}
	if len(a.stored) > 20 {
		stop := a.stored[0]
		stop.BillingEventID, stop.Action, stop.PreviousCount, stop.CurrentCount = b.next(), "stop", 3, 0
		stop.BillableCount, stop.OccurredAt = int64(3*len(a.stored)-3), midnight
		b.emit(a.stream, stop, midnight.Add(time.Minute))
		a.stored = a.stored[1:]
	}
}

func (b *billingHistory) rate(a *billedAccount, day time.Time, name string, usage []events.UsageRecorded, at time.Time) {
	price, err := rating.PriceOn(day, a.stream.id, name, b.rates)
	if err != nil {
		b.ended = true
		b.yield(fact{}, err)
		return
	}
	for _, row := range rating.Day(day, price, usage, rating.Newest) {
		row.DailyCostID, row.Version = b.next(), 1
		b.emit(a.stream, row, at)
	}
}

func usageOf(event, item int64, name, action, kind, resource string, at time.Time) events.UsageRecorded {
	return events.UsageRecorded{
		BillingEventID: event, BillingItemID: item, Meter: name, Action: action, RateName: name, ItemName: "ring allreduce sweep",
		WorkspaceID: events.DefaultWorkspace, UserID: "developer", ResourceType: kind, ResourceID: resource,
		CauseType: "netsim.simulation.started.v1", OccurredAt: at,
	}
}
