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
	s := &stream{ctx: ctx, api: a, id: r.SimID, after: cmp.Or(r.Params.LastEventIDHeader, r.Params.LastEventID)}
	sim, err := a.SimulationRow(ctx, s.id)
	if err != nil {
		return nil, err
	}
	if s.follower, err = a.Feed.follow(s.id, s.after); err != nil {
		return nil, err
	}
	if err := s.more(); err != nil {
		s.follower.leave()
		return nil, err
	}
	if commands.Final(sim.Status) && s.waiting.Len() == 0 {
		s.follower.leave()
		return api.FollowSimulation204Response{}, nil
	}
	return api.FollowSimulation200TextEventStreamResponse{
		Body: struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(fmt.Appendf(nil, "retry: %d\n\n", reconnectAfter.Milliseconds())), s), s},
	}, nil
}

// stream is an io.Reader of the events for one client. It ends with its context,
// after the final event, when the simulation is deleted, when the service ends, or
// when the read model does not answer. In the last two cases the client reconnects
// and misses nothing.
type stream struct {
	ctx      context.Context
	api      *API
	id       string
	after    int64 // sequence of the last event that was read
	follower *follower
	waiting  bytes.Buffer
	ended    bool
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
	alive := time.NewTimer(cmp.Or(s.api.Heartbeat, heartbeat))
	defer alive.Stop()
	select {
	case <-s.ctx.Done():
		s.ended = true
	case <-alive.C:
		s.waiting.WriteString(":\n\n")
	case _, more := <-s.follower.wake:
		if !more || s.more() != nil {
			s.ended = true
		}
	}
}

// more reads the new moments of the history.
func (s *stream) more() error {
	moments, err := projections.History(s.ctx, s.api.DB, s.id, s.after, momentsAtOnce)
	if err != nil {
		return err
	}
	for i := range moments {
		m := &moments[i]
		text, err := json.Marshal(s.event(m))
		if err != nil {
			return fmt.Errorf("encode event %d of %s: %w", m.Sequence, s.id, err)
		}
		name := "status"
		if m.Progressed {
			name = "progress"
		}
		fmt.Fprintf(&s.waiting, "id: %d\nevent: %s\ndata: %s\n\n", m.Sequence, name, text)
		s.after = m.Sequence
		s.ended = s.ended || commands.Final(m.Status)
	}
	s.follower.saw(s.after, len(moments) == momentsAtOnce)
	return nil
}

func (s *stream) event(m *projections.Moment) api.SimulationEvent {
	return api.SimulationEvent{
		SimulationID: s.id, At: timestamp(m.At), Status: api.SimulationStatus(m.Status), FailureReason: m.Reason,
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
