package main

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"netsim/events"
	"netsim/infra/eventlog"
)

// stream makes the facts of one stream. Each fact extends the hash chain.
type stream struct {
	id, partitionKey string
	head             events.Head
}

// newStream starts a stream with a new id. The partition key is the id by default.
func newStream(prefix, partitionKey string) *stream {
	s := &stream{id: events.NewID(prefix), partitionKey: partitionKey}
	if partitionKey == "" {
		s.partitionKey = s.id
	}
	return s
}

// next returns the record of the stream's next fact.
func (s *stream) next(data events.Data, at time.Time) (events.Message, error) {
	value, err := events.Encode(data)
	if err != nil {
		return events.Message{}, err
	}
	f := events.Frame{
		ID: uuid.Must(uuid.NewV7()).String(), Type: data.EventType(), Stream: s.id, PartitionKey: s.partitionKey,
		Sequence: s.head.Sequence + 1, PreviousHash: s.head.Hash, Time: at, Actor: "developer",
		CorrelationID: uuid.Must(uuid.NewV7()).String(), DataVersion: 1,
	}
	m, hash := f.Message(value)
	s.head = events.Head{Sequence: f.Sequence, Hash: hash}
	family, err := events.FamilyOf(s.id)
	if err != nil {
		return m, err
	}
	return writerKeys().Seal(family, hash, m), nil
}

var writerKeys = sync.OnceValue(func() *events.WriterKeys {
	keys, err := events.ParseWriterKeys(writerKey)
	if err != nil {
		panic(err)
	}
	return keys
})

// writerKey seals the records of the bench and of the services that it starts.
const writerKey = "5ea15ea15ea15ea15ea15ea15ea15ea15ea15ea15ea15ea15ea15ea15ea15ea1"

func createdWorkspace(n int, account string) events.WorkspaceCreated {
	return events.WorkspaceCreated{
		AccountID: account, Owner: "developer",
		Name: fmt.Sprintf("workspace %d", n), Description: "made to be measured",
	}
}

// fact is a record to append.
type fact struct {
	stream  *stream
	message events.Message
}

// history makes the facts of one account.
type history struct {
	account     string
	simulations int
	workspaces  []*stream // facts creates them; the list by workspace filters by one
	from        time.Time // creation of the first simulation
	every       time.Duration
}

// The size of the history: the number of workspaces, and of simulations in progress
// at a time. The facts of these simulations alternate in the log.
const (
	workspaceCount = 20
	atATime        = 256
)

func newHistory(account string, simulations int) *history {
	h := &history{account: account, simulations: simulations, every: 10 * time.Second}
	h.from = time.Now().UTC().Truncate(time.Millisecond).Add(-h.every * time.Duration(simulations))
	for range workspaceCount {
		h.workspaces = append(h.workspaces, newStream(events.WorkspacePrefix, ""))
	}
	return h
}

func (h *history) created(n int) time.Time { return h.from.Add(h.every * time.Duration(n)) }

// facts yields the history: first the workspaces, then all facts of the simulations,
// with a configuration for every tenth simulation.
func (h *history) facts() iter.Seq2[fact, error] {
	return func(yield func(fact, error) bool) {
		emit := func(s *stream, data events.Data, at time.Time) bool {
			m, err := s.next(data, at)
			return yield(fact{s, m}, err) && err == nil
		}
		for n, w := range h.workspaces {
			if !emit(w, createdWorkspace(n, h.account), h.from) {
				return
			}
		}
		random := rand.New(rand.NewPCG(1, 0)) //nolint:gosec // the same history every time
		var configuration *stream
		for first := 0; first < h.simulations; first += atATime {
			count := min(atATime, h.simulations-first)
			lives, streams := make([][]events.Data, count), make([]*stream, count)
			for i := range count {
				n := first + i
				workspace := h.workspaces[random.IntN(len(h.workspaces))]
				if n%10 == 0 {
					configuration = newStream(events.ConfigurationPrefix, workspace.id)
					if !emit(configuration, h.configuration(n, workspace.id), h.created(n)) {
						return
					}
				}
				streams[i] = newStream(events.SimulationPrefix, workspace.id)
				lives[i] = h.simulation(n, workspace.id, configuration.id)
			}
			for step := 0; step < 6; step++ {
				for i, all := range lives {
					at := h.created(first + i).Add(time.Duration(step) * time.Second)
					if step < len(all) && !emit(streams[i], all[step], at) {
						return
					}
				}
			}
		}
	}
}

// simulation returns the facts of the nth simulation. Of ten simulations, one
// completes, one fails, one is terminated, two are invalid, and five wait.
func (h *history) simulation(n int, workspace, configuration string) []events.Data {
	requested := events.SimulationRequested{
		Origin: "start", AccountID: h.account, WorkspaceID: workspace,
		ConfigurationID: configuration, ConfigurationVersion: 1,
		Name: simulationName(n), DurationNs: 1_000_000_000, Duration: "1s",
	}
	progress := events.Progress{SimulatedTimeNs: 2_500_000, EventsProcessed: 126_976, DeliveredBytes: 8_455_716_864, FinishedRanks: 64}
	valid := events.SimulationValidated{DocumentHash: "sha256:" + strings.Repeat("5e", 32)}
	started := events.SimulationStarted{Engine: "builtin", RunID: uuid.Must(uuid.NewV7()).String(), Ranks: 64}
	switch n % 10 {
	case 0:
		return []events.Data{requested, valid, started, events.SimulationProgressed{Progress: progress},
			events.SimulationResultsPublished{
				Prefix: "results/" + configuration + "/", Manifest: "results/" + configuration + "/manifest.json",
				Files: 7, Bytes: 48_213, TotalPackets: 2_064_384, AvgLatencyPs: 1_250_000,
			},
			events.SimulationCompleted{Progress: progress}}
	case 1:
		return []events.Data{requested, valid, started, events.SimulationFailed{Progress: progress, Reason: "the engine ran out of memory"}}
	case 6:
		return []events.Data{requested, valid, started, events.SimulationTerminated{Progress: progress, By: "developer"}}
	case 2, 7:
		return []events.Data{requested, events.SimulationInvalidated{Reason: "the fabric has fewer ranks than the workload"}}
	}
	return []events.Data{requested}
}

// simulationName returns a name with one of 100 words, or with a rare word for one in
// 10,000 simulations.
func simulationName(n int) string {
	if n%10_000 == 77 {
		return fmt.Sprintf("needle %d", n)
	}
	return fmt.Sprintf("ring allreduce sweep%02d run %d", n%100, n)
}

func (h *history) configuration(n int, workspace string) events.ConfigurationCreated {
	return events.ConfigurationCreated{
		AccountID: h.account, WorkspaceID: workspace, Name: fmt.Sprintf("fabric %d", n),
		Document:       `{"components":[` + strings.TrimSuffix(strings.Repeat(`{"name":"leaf","type":"switch","radix":64},`, 12), ",") + `]}`,
		ComponentCount: 12, Status: "validated",
	}
}

// appendAll appends the facts in order, as fast as the log accepts them, and returns
// their number. The projector judges them later.
func appendAll(ctx context.Context, j *eventlog.Kafka, facts iter.Seq2[fact, error]) (int, error) {
	const window = 16_384 // appends in flight
	count := 0
	pending := make([]*eventlog.Pending, window)
	for f, err := range facts {
		if err != nil {
			return count, err
		}
		family, err := events.FamilyOf(f.stream.id)
		if err != nil {
			return count, err
		}
		if p := pending[count%window]; p != nil {
			if _, err := p.Wait(ctx); err != nil {
				return count, err
			}
		}
		pending[count%window] = j.Append(j.Topic(family), events.PartitionOf(f.stream.partitionKey, partitions), f.message)
		count++
	}
	for _, p := range pending {
		if p == nil {
			continue
		}
		if _, err := p.Wait(ctx); err != nil {
			return count, err
		}
	}
	return count, nil
}
