package export_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/infra/facts"
	"netsim/internal/testworld"
	"netsim/stream/export"
)

// world is a log with facts and records that are none, and a read model that has judged
// them.
type world struct {
	*testworld.World
	log     export.Log
	want    []wanted // in the order of families, partitions and offsets
	account string   // owns the first workspace
	spaces  []string // workspaces
	began   time.Time
}

// wanted is a fact that was appended.
type wanted struct {
	family    events.Family
	partition int32
	offset    int64
	frame     events.Frame
	value     string
	hash      string
}

func newWorld(t *testing.T, simulations int) *world {
	t.Helper()
	w := &world{World: testworld.New(t), began: time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)}
	w.account = events.NewID(events.AccountPrefix)
	heads := map[string]events.Head{}
	pending := map[*eventlog.Pending]wanted{}
	var order []*eventlog.Pending
	n := 0
	add := func(family events.Family, stream, key string, d events.Data) {
		t.Helper()
		value, err := events.Encode(d)
		if err != nil {
			t.Fatal(err)
		}
		n++
		f := events.Frame{
			ID: events.DerivedUUID(fmt.Sprint(stream, heads[stream].Sequence)).String(), Type: d.EventType(), Stream: stream, PartitionKey: key,
			Sequence: heads[stream].Sequence + 1, PreviousHash: heads[stream].Hash, Time: w.began.Add(time.Duration(n) * time.Second), Actor: "tester", DataVersion: 1,
		}
		m, hash := f.Message(value)
		heads[stream] = events.Head{Sequence: f.Sequence, Hash: hash}
		partition := events.PartitionOf(key, 2)
		topic := w.EventLog.Topic(family)
		p := w.EventLog.Append(topic, partition, m)
		order = append(order, p)
		pending[p] = wanted{family: family, partition: partition, frame: f, value: string(value), hash: hash.String()}
		if n%7 == 0 { // a repeated record is not a fact
			order = append(order, w.EventLog.Append(topic, partition, m))
		}
	}
	other := events.NewID(events.AccountPrefix)
	for i := range 4 {
		space := events.NewID(events.WorkspacePrefix)
		w.spaces = append(w.spaces, space)
		owner := w.account
		if i > 0 {
			owner = other
		}
		add(events.Workspaces, space, space, events.WorkspaceCreated{AccountID: owner, Name: `=1+1,"quoted"` + "\n", Owner: "tester"})
	}
	for i := range int64(simulations) {
		sim, space := events.NewID(events.SimulationPrefix), w.spaces[i%4]
		owner := []string{w.account, other}[min(i%4, 1)]
		if i%11 == 0 { // a stream of the account in a workspace of nobody
			space, owner = events.DefaultWorkspace, w.account
		}
		add(events.Simulations, sim, space, events.SimulationRequested{Origin: "start", AccountID: owner, WorkspaceID: space, ConfigurationID: "config_1", Name: fmt.Sprint("run ", i), DurationNs: 1e9, Duration: "1s"})
		add(events.Simulations, sim, space, events.SimulationValidated{DocumentHash: "sha256:1"})
		add(events.Simulations, sim, space, events.SimulationStarted{Engine: "builtin", RunID: "run", Ranks: i, Capabilities: []string{"terminate"}})
		add(events.Billing, owner, owner, events.UsageRecorded{BillingEventID: i + 1, BillingItemID: i + 1, Meter: "cluster", Action: "start", RateName: "cluster", ItemName: "-run", CurrentCount: 8, BillableCount: 8, WorkspaceID: space, ResourceType: "simulation", ResourceID: sim, OccurredAt: w.began})
		add(events.Billing, owner, owner, events.CreditHeld{SimulationID: sim, Amount: fmt.Sprintf("%d.000000000000000001", i), Currency: "CREDIT", ExpiresAt: w.began})
	}
	for _, p := range order {
		offset, err := p.Wait(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if one, is := pending[p]; is {
			one.offset = offset
			w.want = append(w.want, one)
		}
	}
	slices.SortFunc(w.want, func(a, b wanted) int { return slices.Compare(a.key(), b.key()) })
	w.describe(t)
	for _, topic := range w.log.Topics {
		for i, end := range topic.Ends {
			testworld.Await(t, func() bool { return w.Watcher.Next(topic.Family, int32(i)) >= end })
		}
	}
	return w
}

func (w wanted) key() []int64 {
	return []int64{int64(slices.Index(events.Families(), w.family)), int64(w.partition), w.offset}
}

// describe reads the ends of the log.
func (w *world) describe(t *testing.T) {
	t.Helper()
	d, err := w.EventLog.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.log = export.Log{Cluster: d.ClusterID}
	for _, topic := range d.Topics {
		one := export.Topic{Family: topic.Family, Name: topic.Name, ID: topic.ID}
		for _, p := range topic.Partitions {
			one.Ends = append(one.Ends, p.End)
		}
		w.log.Topics = append(w.log.Topics, one)
	}
}

// export returns an export of the log with small files.
func (w *world) export(format string, target export.Target) *export.Export {
	return &export.Export{
		Request: export.Request{Format: format, FileBytes: 9000},
		Log:     w.log, Target: target, Facts: facts.NewFrameReader(w.EventLog, w.Watcher), Records: w.EventLog,
	}
}

func run(t *testing.T, x *export.Export) *export.Manifest {
	t.Helper()
	m, err := x.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !m.Complete {
		t.Error("the manifest says that the export is not complete")
	}
	return m
}

// bucket returns a target in the world's object store.
func (w *world) bucket(prefix string) *export.Bucket {
	return &export.Bucket{Store: w.Objects, Prefix: prefix, Pause: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}
}
