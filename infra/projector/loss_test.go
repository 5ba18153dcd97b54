package projector_test

import (
	"context"
	"errors"
	"testing"

	"netsim/events"
	"netsim/infra/projector"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// held is a Witness with the answers that a test gives it.
type held struct {
	seen     []projector.Seen
	accepted []events.LostRecords
	moves    []events.LogMoved
}

func (h *held) Seen(context.Context) ([]projector.Seen, error) { return h.seen, nil }

func (h *held) Moves(context.Context) ([]events.LogMoved, error) { return h.moves, nil }

func (h *held) Accepted(context.Context) ([]events.LostRecords, error) { return h.accepted, nil }

// A log that is not what the live read model has seen is neither replayed nor
// promoted, until each loss is accepted.
func TestALossIsRefusedUntilItIsAccepted(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]string{
		"it lost its tail":             `UPDATE readmodel.offsets SET next = next + 5 WHERE next > 0`,
		"its last record is another":   `UPDATE readmodel.offsets SET last_record = sha256('another') WHERE next > 0`,
		"its topic is another":         `UPDATE readmodel.offsets SET topic_id = 'another' WHERE next > 0`,
		"it is that of another broker": `UPDATE readmodel.log SET cluster_id = 'another'`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stack{testworld.NewServers(t).Connect(t)}
			live, end := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- s.Projector(s.DB, projector.Live).Run(live) }()
			s.Listen(t)
			if _, err := s.createWorkspace(t.Context(), "one"); err != nil {
				t.Fatal(err)
			}
			s.rebuild(t, "next")
			end()
			if err := testwait.Receive(t, ended, "it to end"); err != nil {
				t.Fatal(err)
			}
			if _, err := s.DB.Exec(t.Context(), damage); err != nil {
				t.Fatal(err)
			}
			known := &held{}
			at := func(schema string) *projector.Projector {
				return s.Projector(s.Pool(t, schema), schema, func(c *projector.Config) { c.Witness = known })
			}
			report := func(step projector.Step, detail string) { t.Log(step, detail) }
			if _, err := at("another").Rebuild(t.Context(), false); !errors.Is(err, projector.ErrOtherLog) {
				t.Errorf("rebuild: %v, want ErrOtherLog", err)
			}
			if err := at("next").Promote(t.Context(), report); !errors.Is(err, projector.ErrOtherLog) {
				t.Errorf("promote: %v, want ErrOtherLog", err)
			}
			lost, err := at("next").Losses(t.Context())
			if err != nil || len(lost) != 1 {
				t.Fatalf("lost are %+v, %v, want one partition", lost, err)
			}
			other := lost[0]
			other.Seen++
			known.accepted = []events.LostRecords{other}
			if err := at("next").Promote(t.Context(), report); !errors.Is(err, projector.ErrOtherLog) {
				t.Errorf("promote after another loss was accepted: %v, want ErrOtherLog", err)
			}
			known.accepted = lost
			if err := at("next").Promote(t.Context(), report); err != nil {
				t.Errorf("promote after it was accepted: %v", err)
			}
		})
	}
}

// A read model that begins on an empty database refuses a log that lacks records which
// the witness has seen.
func TestAnEmptyReadModelAsksTheWitness(t *testing.T) {
	t.Parallel()
	s := stack{testworld.NewServers(t).Connect(t)}
	log, err := s.EventLog.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	known := &held{seen: []projector.Seen{{Cluster: log.ClusterID, TopicID: log.Topics[0].ID, Family: log.Topics[0].Family, Next: 3}}}
	p := s.Projector(s.DB, projector.Live, func(c *projector.Config) { c.Witness = known })
	if err := testwait.Call(t, func() error { return p.Run(t.Context()) }, "the projector to refuse the log"); !errors.Is(err, projector.ErrOtherLog) {
		t.Fatalf("it begins with %v, want ErrOtherLog", err)
	}
	if known.accepted, err = p.Losses(t.Context()); err != nil || len(known.accepted) != 1 {
		t.Fatalf("lost are %+v, %v, want one partition", known.accepted, err)
	}
	testworld.Running(t, p.Run)
	s.Listen(t)
	if _, err := s.createWorkspace(t.Context(), "one"); err != nil {
		t.Error(err)
	}
}

// A log with the records that the live read model has seen, in another cluster, is
// adopted once it records that it was moved. A log with another record is not, and one
// that is too short is a loss.
func TestALogThatWasMovedIsAdopted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		damage string
		lost   int
		other  bool
	}{
		"with every record":        {``, 0, false},
		"without its last records": {`UPDATE readmodel.offsets SET next = next + 5 WHERE next > 0`, 1, false},
		"another log":              {`UPDATE readmodel.offsets SET last_record = sha256('another') WHERE next > 0`, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stack{testworld.NewServers(t).Connect(t)}
			live, end := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- s.Projector(s.DB, projector.Live).Run(live) }()
			s.Listen(t)
			if _, err := s.createWorkspace(t.Context(), "one"); err != nil {
				t.Fatal(err)
			}
			end()
			if err := testwait.Receive(t, ended, "it to end"); err != nil {
				t.Fatal(err)
			}
			const elsewhere = `UPDATE readmodel.log SET cluster_id = 'before'; UPDATE readmodel.offsets SET topic_id = 'of ' || family;`
			if _, err := s.DB.Exec(t.Context(), elsewhere+c.damage); err != nil {
				t.Fatal(err)
			}
			known := &held{}
			p := s.Projector(s.DB, projector.Live, func(c *projector.Config) { c.Witness = known })
			move, lost, err := p.Moved(t.Context())
			if c.other {
				if !errors.Is(err, projector.ErrNoMove) {
					t.Errorf("another log: %v, want ErrNoMove", err)
				}
				return
			}
			if err != nil || move == nil || move.FromCluster != "before" || len(move.Topics) != len(events.Families()) || len(lost) != c.lost {
				t.Fatalf("moved: %+v, lost %+v, %v", move, lost, err)
			}
			if err := p.Adopt(t.Context()); !errors.Is(err, projector.ErrOtherLog) {
				t.Errorf("adopted before the move is recorded: %v, want ErrOtherLog", err)
			}
			known.moves = []events.LogMoved{*move}
			if err := p.Adopt(t.Context()); (err == nil) != (c.lost == 0) {
				t.Fatalf("adopted with %d losses: %v", c.lost, err)
			}
			if move, _, err := p.Moved(t.Context()); move != nil || err != nil {
				t.Errorf("after the move is recorded: %+v, %v, want no move", move, err)
			}
			if c.lost > 0 {
				return
			}
			running, stop := context.WithCancel(t.Context())
			go func() { ended <- s.Projector(s.DB, projector.Live).Run(running) }()
			if _, err := s.createWorkspace(t.Context(), "two"); err != nil {
				t.Errorf("the read model does not go on: %v", err)
			}
			stop()
			if err := testwait.Receive(t, ended, "it to end"); err != nil {
				t.Errorf("the projector: %v", err)
			}
		})
	}
}
