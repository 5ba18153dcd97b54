package netsim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"netsim/sdk/go/api"
)

// Event is a change that was recorded: a CloudEvents 1.0 event, of the feed or of a webhook.
type Event struct {
	ID       string          `json:"id"` // the same if the event comes again
	Source   string          `json:"source"`
	Type     string          `json:"type"`    // such as netsim.simulation.completed.v1
	Subject  string          `json:"subject"` // the stream, such as a simulation's id
	Time     time.Time       `json:"time"`    // when it happened
	Recorded time.Time       `json:"recordedtime"`
	Sequence string          `json:"sequence"` // the number in its stream
	Data     json.RawMessage `json:"data"`     // by its type, see docs/events.md
	Raw      json.RawMessage `json:"-"`        // the whole event as it came
}

func eventOf(raw []byte) (Event, error) {
	var e Event
	if err := json.Unmarshal(raw, &e); err != nil {
		return e, fmt.Errorf("read an event: %w", err)
	}
	e.Raw = raw
	return e, nil
}

// Follow calls handle with each event of the feed that params select, one after the other, and
// saves the position in the store after handle has returned. So after a stop in between the
// last event comes again, and none is left out.
//
// It begins at the store's position, or, if that is empty, at params.Since, or now. A position
// is good for seven days and the same params; one that the service refuses is ErrInvalid.
//
// It follows through lost connections and restarts of the service until the context ends, an
// error of handle or the store, or a refusal, and returns that. A feed with other events than
// the client's account may see is such a refusal.
func (c *Client) Follow(ctx context.Context, params api.FollowEventsParams, store Store, handle func(context.Context, Event) error) error {
	position, err := store.Load(ctx)
	if err != nil {
		return fmt.Errorf("load the position of the feed: %w", err)
	}
	for attempt := 0; ; attempt++ {
		if position != "" {
			params.LastEventIDHeader = &position
		}
		token, err := c.transport.tokens.get(ctx) // the one that the stream is opened with
		if err != nil {
			return fmt.Errorf("netsim: get a token: %w", err)
		}
		for m, err := range c.stream(ctx, func(ctx context.Context) (*http.Response, error) { return c.HTTP.FollowEvents(ctx, &params) }) {
			if refusal, ok := errors.AsType[*Error](err); ok && refusal.final() {
				return err
			}
			if err != nil {
				break
			}
			switch {
			case m.event == "end":
				if m.data == `{"reason":"unauthorized"}` {
					c.transport.tokens.refused(token)
				}
			case m.data != "":
				event, err := eventOf([]byte(m.data))
				if err != nil {
					return err
				}
				if err := handle(ctx, event); err != nil {
					return err
				}
				attempt = 0
			}
			if m.id != "" && m.id != position {
				position = m.id
				if err := store.Save(ctx, position); err != nil {
					return fmt.Errorf("save the position of the feed: %w", err)
				}
			}
		}
		if err := sleep(ctx, backoff(attempt)); err != nil {
			return err
		}
	}
}

// final reports whether a stream that was refused so is not worth opening again.
func (e *Error) final() bool {
	return e.Status < http.StatusInternalServerError && e.Status != http.StatusTooManyRequests
}
