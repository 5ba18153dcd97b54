package engines

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// Run is a run at an engine.
type Run struct {
	BaseURL      string
	ID           string
	Capabilities []string // such as terminate; only Order sets them
}

// About describes an engine.
type About struct {
	Engine  string // its name
	Version string
}

// Describe asks an engine for its description.
func (c *Client) Describe(ctx context.Context, base string) (About, error) {
	var body struct{ Protocol, Engine, Version string }
	if err := c.call(ctx, http.MethodGet, base, []string{"capabilities"}, nil, nil, &body); err != nil {
		return About{}, err
	}
	if body.Protocol != "1" {
		return About{}, garbled("protocol %q is not known", oneLine(body.Protocol, 20))
	}
	return About{Engine: oneLine(body.Engine, 100), Version: oneLine(body.Version, 100)}, nil
}

// Order orders a run of the simulation from the first engine that accepts it; order
// is JSON. The simulation's id decides which engine is asked first. This spreads the
// runs, and a repeated call asks the same engine, which answers with the same run.
// If an engine answers that it can never run the order, Order returns Refused and
// asks no other engine.
func (c *Client) Order(ctx context.Context, simulation string, order []byte) (Run, error) {
	if len(c.urls) == 0 {
		return Run{}, errors.New("no engine is configured")
	}
	h := fnv.New32a()
	h.Write([]byte(simulation))
	first := int(h.Sum32() % uint32(len(c.urls)))
	var all error
	for i := range c.urls {
		base := c.urls[(first+i)%len(c.urls)]
		run, err := c.order(ctx, base, order)
		if err == nil || errors.As(err, new(*Refused)) || ctx.Err() != nil {
			return run, err
		}
		all = errors.Join(all, fmt.Errorf("%s: %w", base, err))
	}
	return Run{}, fmt.Errorf("no engine accepts the run: %w", all)
}

func (c *Client) order(ctx context.Context, base string, order []byte) (Run, error) {
	var body struct {
		RunID        string
		Capabilities []string
	}
	err := c.call(ctx, http.MethodPost, base, []string{"runs"}, nil, order, &body)
	if refusal, ok := errors.AsType[*Answered](err); ok {
		switch refusal.Status {
		case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusRequestEntityTooLarge:
			return Run{}, &Refused{refusal.Message}
		}
	}
	if err != nil {
		return Run{}, err
	}
	if !runID.MatchString(body.RunID) {
		return Run{}, garbled("run id %q is not valid", oneLine(body.RunID, 50))
	}
	capabilities := slices.DeleteFunc(body.Capabilities, func(s string) bool { return !capability.MatchString(s) })
	return Run{BaseURL: base, ID: body.RunID, Capabilities: capabilities[:min(len(capabilities), 20)]}, nil
}

var (
	runID      = regexp.MustCompile(`^[A-Za-z0-9_~-][A-Za-z0-9._~-]{0,127}$`)
	capability = regexp.MustCompile(`^[a-z][a-zA-Z0-9-]{0,31}$`)
)

// The states of a run at an engine.
const (
	Running    = "running"
	Completed  = "completed"
	Failed     = "failed"
	Terminated = "terminated"
)

// Status is the state and progress of a run.
type Status struct {
	State           string
	SimulatedTimeNs int64
	EventsProcessed int64
	DeliveredBytes  int64
	TotalBytes      int64 // 0 if unknown
	FinishedRanks   int64
	UnfinishedRanks int64
	LastCollective  string
	FailureReason   string

	FinishedCollectives int64
	TotalCollectives    int64

	End json.RawMessage // how the run ended, in the format of receipts; nil if the engine omits it
}

const maxEnd = 16 << 10 // bytes

// Status asks for the status of a run. For an unknown run the error is Answered
// with status 404.
func (c *Client) Status(ctx context.Context, run Run) (Status, error) {
	var body struct {
		State                                          string
		SimulatedTimeNs, EventsProcessed               *int64
		DeliveredBytes, FinishedRanks, UnfinishedRanks int64

		TotalBytes, FinishedCollectives, TotalCollectives int64

		LastCollective, FailureReason string
		End                           json.RawMessage
	}
	if err := c.call(ctx, http.MethodGet, run.BaseURL, []string{"runs", run.ID}, nil, nil, &body); err != nil {
		return Status{}, err
	}
	switch body.State {
	case Running, Completed, Failed, Terminated:
	default:
		return Status{}, garbled("state %q of a run is not known", oneLine(body.State, 50))
	}
	if body.SimulatedTimeNs == nil || body.EventsProcessed == nil {
		return Status{}, garbled("the status of a run lacks simulatedTimeNs or eventsProcessed")
	}
	s := Status{
		State: body.State, SimulatedTimeNs: *body.SimulatedTimeNs, EventsProcessed: *body.EventsProcessed,
		DeliveredBytes: body.DeliveredBytes, FinishedRanks: body.FinishedRanks, UnfinishedRanks: body.UnfinishedRanks,
		TotalBytes: body.TotalBytes, FinishedCollectives: body.FinishedCollectives, TotalCollectives: body.TotalCollectives,
		LastCollective: oneLine(body.LastCollective, maxMessage), FailureReason: oneLine(body.FailureReason, maxMessage),
	}
	if len(body.End) <= maxEnd {
		s.End = body.End
	}
	if min(s.SimulatedTimeNs, s.EventsProcessed, s.DeliveredBytes, s.FinishedRanks, s.UnfinishedRanks,
		s.TotalBytes, s.FinishedCollectives, s.TotalCollectives) < 0 {
		return Status{}, garbled("the status of a run has a negative number: %+v", s)
	}
	return s, nil
}

// Entry is an entry of a run's log.
type Entry struct {
	Number    int64 // from 1
	Time      time.Time
	Level     string // debug, info, warn or error
	Component string
	Message   string
}

const maxLogPage = 1000

// Logs returns up to 1000 entries of a run's log, in order, from the first with a
// number greater than after.
func (c *Client) Logs(ctx context.Context, run Run, after int64) ([]Entry, error) {
	var body struct {
		Logs []struct {
			Number                    int64
			Timestamp                 time.Time
			Level, Component, Message string
		}
	}
	query := url.Values{"after": {strconv.FormatInt(after, 10)}}
	if err := c.call(ctx, http.MethodGet, run.BaseURL, []string{"runs", run.ID, "logs"}, query, nil, &body); err != nil {
		return nil, err
	}
	if len(body.Logs) > maxLogPage {
		return nil, garbled("a page of %d log entries, more than %d", len(body.Logs), maxLogPage)
	}
	entries := make([]Entry, len(body.Logs))
	for i, l := range body.Logs {
		if l.Number <= after || !slices.Contains([]string{"debug", "info", "warn", "error"}, l.Level) {
			return nil, garbled("log entry %d after %d of level %q", l.Number, after, oneLine(l.Level, 20))
		}
		after = l.Number
		entries[i] = Entry{l.Number, l.Timestamp, l.Level, oneLine(l.Component, 100), oneLine(l.Message, 4000)}
	}
	return entries, nil
}

// Terminate asks an engine to stop a run and write its results.
func (c *Client) Terminate(ctx context.Context, run Run) error {
	return c.call(ctx, http.MethodPost, run.BaseURL, []string{"runs", run.ID, "terminate"}, nil, []byte("{}"), nil)
}

// TerminateRun is Terminate for callers that do not know this package's errors. It
// returns the HTTP status of the answer, or an error if there was no valid answer.
func (c *Client) TerminateRun(ctx context.Context, baseURL, id string) (status int, err error) {
	err = c.Terminate(ctx, Run{BaseURL: baseURL, ID: id})
	if refusal, ok := errors.AsType[*Answered](err); ok {
		return refusal.Status, nil
	}
	if err != nil {
		return 0, err
	}
	return http.StatusOK, nil
}

// Free asks an engine to remove a run and its files.
func (c *Client) Free(ctx context.Context, run Run) error {
	return c.call(ctx, http.MethodDelete, run.BaseURL, []string{"runs", run.ID}, nil, nil, nil)
}
