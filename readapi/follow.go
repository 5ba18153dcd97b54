package readapi

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"netsim/api"
	"netsim/commands"
	"netsim/fault"
	"netsim/projections"
	"netsim/simulator/units"
)

const (
	heartbeat      = 15 * time.Second // interval of a stream's heartbeats
	reconnectAfter = 2 * time.Second  // delay before clients reconnect
	momentsAtOnce  = 100              // most moments of one query
)

// FollowSimulation implements GET /simulations/{sim_id}/events: the history of
// a simulation as server-sent events, after the last event that the client has.
func (a *API) FollowSimulation(ctx context.Context, r api.FollowSimulationRequestObject) (api.FollowSimulationResponseObject, error) {
	h := &history{api: a, id: r.SimID, after: cmp.Or(r.Params.LastEventIDHeader, r.Params.LastEventID)}
	sim, err := a.SimulationRow(ctx, h.id)
	if err != nil {
		return nil, err
	}
	s, err := a.openStream(ctx, a.Followers, h.id, h.after, h.more)
	if err != nil {
		return nil, err
	}
	if commands.Final(sim.Status) && s.waiting.Len() == 0 {
		s.follower.leave()
		return api.FollowSimulation204Response{}, nil
	}
	return api.FollowSimulation200TextEventStreamResponse{Body: s.body()}, nil
}

// stream is an io.Reader of the events for one client. It ends with its context,
// after the final event, when what it follows is deleted, when the service ends, or
// when the read model does not answer. In the last two cases the client reconnects
// and misses nothing.
type stream struct {
	ctx       context.Context
	heartbeat time.Duration
	more      func(*stream) error // adds the new events to waiting
	follower  *follower
	waiting   bytes.Buffer
	ended     bool
}

// openStream returns the stream of a client that has the event with the id seen, with the
// events that there are now. The caller must close it.
func (a *API) openStream(ctx context.Context, all *Followers, id string, seen int64, more func(*stream) error) (*stream, error) {
	s := &stream{ctx: ctx, heartbeat: cmp.Or(a.Heartbeat, heartbeat), more: more}
	var err error
	if s.follower, err = all.follow(id, seen); err != nil {
		return nil, err
	}
	if err := s.more(s); err != nil {
		s.follower.leave()
		return nil, err
	}
	return s, nil
}

// body returns the body of the response.
func (s *stream) body() io.ReadCloser {
	retry := fmt.Appendf(nil, "retry: %d\n\n", reconnectAfter.Milliseconds())
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(retry), s), s}
}

// send adds an event to what is waiting.
func (s *stream) send(id int64, name string, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("encode event %d of %s: %w", id, s.follower.id, err)
	}
	fmt.Fprintf(&s.waiting, "id: %d\nevent: %s\ndata: %s\n\n", id, name, text)
	return nil
}

// Read implements io.Reader. It blocks until there is something to send.
func (s *stream) Read(p []byte) (int, error) {
	for s.waiting.Len() == 0 {
		if s.ended {
			return 0, io.EOF
		}
		s.await()
	}
	return s.waiting.Read(p)
}

// Close implements io.Closer.
func (s *stream) Close() error {
	s.follower.leave()
	return nil
}

// await waits for the next event or heartbeat.
func (s *stream) await() {
	alive := time.NewTimer(s.heartbeat)
	defer alive.Stop()
	select {
	case <-s.ctx.Done():
		s.ended = true
	case <-alive.C:
		s.waiting.WriteString(":\n\n")
	case _, more := <-s.follower.wake:
		if !more || s.more(s) != nil {
			s.ended = true
		}
	}
}

// history is the source of a stream of a simulation.
type history struct {
	api   *API
	id    string
	after int64 // sequence of the last event that was read
}

// more reads the new moments of the history.
func (h *history) more(s *stream) error {
	moments, err := projections.History(s.ctx, h.api.DB, h.id, h.after, momentsAtOnce)
	if err != nil {
		return err
	}
	for i := range moments {
		m := &moments[i]
		name := "status"
		if m.Progressed {
			name = "progress"
		}
		if err := s.send(m.Sequence, name, h.event(m)); err != nil {
			return err
		}
		h.after = m.Sequence
		s.ended = s.ended || commands.Final(m.Status)
	}
	s.follower.saw(h.after, len(moments) == momentsAtOnce)
	return nil
}

func (h *history) event(m *projections.Moment) api.SimulationEvent {
	return api.SimulationEvent{
		SimulationID: h.id, At: timestamp(m.At), Status: api.SimulationStatus(m.Status), FailureReason: m.Reason,
		Progress: progressView(m.Progress),
	}
}

// progressView returns the view of a run's progress, nil for nil.
func progressView(p *projections.RunProgress) *api.SimulationProgress {
	if p == nil {
		return nil
	}
	view := &api.SimulationProgress{
		At:            timestamp(p.At),
		SimulatedTime: units.FormatDuration(p.SimulatedTimeNs * 1000), EventsProcessed: p.EventsProcessed,
		EventsPerSecond: p.EventRate,
		DeliveredBytes:  min(p.DeliveredBytes, maxCount), TotalBytes: min(p.TotalBytes, maxCount),
		FinishedRanks: p.FinishedRanks, TotalRanks: p.Ranks,
		FinishedCollectives: p.FinishedCollectives, TotalCollectives: p.TotalCollectives, LastCollective: p.LastCollective,
		StalledSince: timestampOf(p.StalledSince),
	}
	if p.RemainingNs != nil && *p.RemainingNs < maxEstimate {
		view.EstimatedRemaining = units.FormatDuration(*p.RemainingNs * 1000)
	}
	return view
}

// maxCount is the largest integer that every JSON parser represents exactly.
const maxCount = 1<<53 - 1

// maxEstimate is the remaining time, in nanoseconds, from which an estimate is not
// shown. The first events of a run say little about an end more than a month ahead.
const maxEstimate = int64(30 * 24 * time.Hour)

// errEnding refuses a follower while the service shuts down.
func errEnding() error {
	return &fault.Fault{Code: fault.Unavailable, Message: "the service is shutting down; repeat the request", RetryAfter: time.Second}
}
