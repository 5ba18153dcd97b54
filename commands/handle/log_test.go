package handle_test

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/infra/wait"
)

// memory is a log of one partition with its projector, in memory. It judges by
// the rule, so a Handler gets the verdicts of a real log. Load sees only judged
// records; a record is judged when its verdict, or a later one, is requested.
type memory struct {
	mu      sync.Mutex
	records []stored
	judged  int // how many records have their verdict
	streams map[string]*folded

	gate chan struct{} // when not nil, no verdict is given until it is closed

	// beforeAppend, when set, is called before a record of a Handler is stored.
	beforeAppend func()
	// losing, when set, may return an error for the record at an offset. Append's wait
	// then returns the error, and the record is lost.
	losing func(offset int64) error
	// delay, when set, returns how long the log takes to respond.
	delay func() time.Duration
	// loading, when set, is called with the command id of every Load.
	loading func(commandID string)
}

type stored struct {
	message events.Message
	verdict events.Verdict
	lost    bool
}

type folded struct {
	head  events.Head
	state commands.State
	prior map[string]events.Prior
}

func (m *memory) Load(_ context.Context, stream, commandID string) (events.Snapshot, error) {
	if m.loading != nil {
		m.loading(commandID)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.streams[stream]
	if s == nil {
		return events.Snapshot{}, nil
	}
	state, err := json.Marshal(s.state)
	snapshot := events.Snapshot{Head: s.head, State: state}
	if prior, ok := s.prior[commandID]; ok && commandID != "" {
		snapshot.Prior = &prior
	}
	return snapshot, err
}

func (m *memory) Append(_ context.Context, _ events.Family, _ string, message events.Message) (handle.Wait, error) {
	if m.beforeAppend != nil {
		m.beforeAppend()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	offset := int64(len(m.records))
	if m.losing != nil {
		if err := m.losing(offset); err != nil {
			m.records = append(m.records, stored{lost: true})
			return func(context.Context) (events.Position, error) { return events.Position{}, err }, nil
		}
	}
	m.records = append(m.records, stored{message: message})
	return func(ctx context.Context) (events.Position, error) {
		return events.Position{Offset: offset}, m.pause(ctx)
	}, nil
}

func (m *memory) Verdict(ctx context.Context, at events.Position) (events.Verdict, error) {
	m.mu.Lock()
	gate := m.gate
	m.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	if err := m.pause(ctx); err != nil {
		return "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.project(int(at.Offset) + 1)
	return m.records[at.Offset].verdict, nil
}

// pause waits for delay, if it is set.
func (m *memory) pause(ctx context.Context) error {
	if m.delay == nil {
		return nil
	}
	return wait.For(ctx, m.delay())
}

// project judges the records before the offset, unless the gate is shut.
func (m *memory) project(offset int) {
	if m.gate != nil {
		select {
		case <-m.gate:
		default:
			return
		}
	}
	for ; m.judged < offset; m.judged++ {
		if r := &m.records[m.judged]; !r.lost {
			r.verdict = m.judge(&r.message)
		}
	}
}

func (m *memory) judge(message *events.Message) events.Verdict {
	frame, hash, err := events.ReadFrame(message)
	if err != nil {
		return events.BadFrame
	}
	s := m.streams[frame.Stream]
	if s == nil {
		state, err := commands.ReadState(frame.Stream, nil)
		if err != nil {
			return events.BadFrame
		}
		s = &folded{state: state, prior: map[string]events.Prior{}}
		if m.streams == nil {
			m.streams = map[string]*folded{}
		}
		m.streams[frame.Stream] = s
	}
	verdict := events.Judge(s.head, &frame, hash, true, 0, 1)
	if verdict != events.Accepted {
		return verdict
	}
	data, err := events.Decode(frame.Type, message.Value)
	if err != nil {
		return events.BadFrame
	}
	s.head = events.Head{Sequence: frame.Sequence, Hash: hash}
	s.state.Evolve(events.Event{Frame: frame, Hash: hash, Data: data})
	if frame.CommandID != "" {
		s.prior[frame.CommandID] = events.Prior{Sequence: frame.Sequence, Digest: frame.CommandDigest}
	}
	return verdict
}

// shut delays verdicts, and hides newer records from Load, until the returned
// function is called.
func (m *memory) shut() (open func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.project(len(m.records))
	gate := make(chan struct{})
	m.gate = gate
	return func() { close(gate) }
}

// foreign appends an event on top of the stream's last fact, as another process
// would.
func (m *memory) foreign(t testing.TB, stream string, data events.Data) {
	t.Helper()
	value, err := events.Encode(data)
	if err != nil {
		t.Fatal(err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.project(len(m.records))
	frame := events.Frame{
		ID: uuid.NewString(), Type: data.EventType(), Stream: stream, PartitionKey: stream,
		Sequence: 1, Time: time.UnixMilli(0), Actor: "another", DataVersion: 1,
	}
	if s := m.streams[stream]; s != nil {
		frame.Sequence, frame.PreviousHash = s.head.Sequence+1, s.head.Hash
	}
	message, _ := frame.Message(value)
	m.records = append(m.records, stored{message: message})
}

// verdicts returns the verdict on every record, in the log's order.
func (m *memory) verdicts() []events.Verdict {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.project(len(m.records))
	var all []events.Verdict
	for _, r := range m.records {
		all = append(all, r.verdict)
	}
	return all
}

// facts returns how many records are facts.
func (m *memory) facts() int {
	return len(slices.DeleteFunc(m.verdicts(), func(v events.Verdict) bool { return v != events.Accepted }))
}

// workspace returns the state of a workspace.
func (m *memory) workspace(stream string) commands.Workspace {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.project(len(m.records))
	return *m.streams[stream].state.(*commands.Workspace)
}
