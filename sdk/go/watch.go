package netsim

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"strconv"

	"netsim/sdk/go/api"
)

// SubmitAndWait submits a collective workload and waits for its end, as [Client.Wait] does.
func (c *Client) SubmitAndWait(ctx context.Context, submission api.SimpleSubmission, edit ...api.RequestEditorFn) (*api.Simulation, error) {
	accepted, err := c.SubmitSimple(ctx, nil, submission, edit...)
	if err != nil {
		return nil, err
	}
	return c.Wait(ctx, accepted.SimulationID)
}

// Wait waits until a simulation has ended, in whichever way, and returns it; see [Failed]. The
// context limits how long.
func (c *Client) Wait(ctx context.Context, simulationID string) (*api.Simulation, error) {
	for _, err := range c.Watch(ctx, simulationID) {
		if err != nil {
			return nil, err
		}
	}
	return c.GetSimulation(ctx, simulationID, nil)
}

// Watch iterates over the changes of a simulation's status and progress until its end. An
// event can come again after a connection was lost, and some are left out then.
func (c *Client) Watch(ctx context.Context, simulationID string) iter.Seq2[api.SimulationEvent, error] {
	return watch(ctx, c,
		func(ctx context.Context, last *int64) (*http.Response, error) {
			return c.HTTP.FollowSimulation(ctx, simulationID, &api.FollowSimulationParams{LastEventIDHeader: last})
		},
		func(ctx context.Context) (api.SimulationEvent, error) {
			s, err := c.GetSimulation(ctx, simulationID, nil)
			if err != nil {
				return api.SimulationEvent{}, err
			}
			return api.SimulationEvent{SimulationID: s.ID, At: cmp.Or(s.CompletedAt, s.StartedAt, s.CreatedAt), Status: s.Status, FailureReason: s.FailureReason, Progress: s.Progress}, nil
		},
		func(e api.SimulationEvent) bool { return ended(e.Status) })
}

// WaitStudy waits until a study has ended and returns it.
func (c *Client) WaitStudy(ctx context.Context, studyID string) (*api.Study, error) {
	for _, err := range c.WatchStudy(ctx, studyID) {
		if err != nil {
			return nil, err
		}
	}
	return c.GetStudy(ctx, studyID, nil)
}

// WatchStudy iterates over the changes of a study until its end, as [Client.Watch] does.
func (c *Client) WatchStudy(ctx context.Context, studyID string) iter.Seq2[api.StudyEvent, error] {
	return watch(ctx, c,
		func(ctx context.Context, last *int64) (*http.Response, error) {
			return c.HTTP.FollowStudy(ctx, studyID, &api.FollowStudyParams{LastEventIDHeader: last})
		},
		func(ctx context.Context) (api.StudyEvent, error) {
			s, err := c.GetStudy(ctx, studyID, nil)
			if err != nil {
				return api.StudyEvent{}, err
			}
			return api.StudyEvent{StudyID: s.ID, Status: s.Status, Reason: s.Reason, Progress: s.Progress}, nil
		},
		func(e api.StudyEvent) bool {
			return e.Status == api.StudyStatusCompleted || e.Status == api.StudyStatusTerminated
		})
}

// watch iterates over the events of a stream until the final one. Between two streams, and
// while none can be had, it asks for the state instead.
func watch[E any](
	ctx context.Context, c *Client,
	open func(context.Context, *int64) (*http.Response, error), ask func(context.Context) (E, error), final func(E) bool,
) iter.Seq2[E, error] {
	return func(yield func(E, error) bool) {
		var last *int64
		for attempt := 0; ; attempt++ {
			for m, err := range c.stream(ctx, func(ctx context.Context) (*http.Response, error) { return open(ctx, last) }) {
				if err != nil {
					break // asking tells whether that matters
				}
				var event E
				if err := json.Unmarshal([]byte(m.data), &event); err != nil {
					yield(event, fmt.Errorf("event %q of a stream: %w", m.id, err))
					return
				}
				if number, err := strconv.ParseInt(m.id, 10, 64); err == nil {
					last = &number
				}
				attempt = 0
				if !yield(event, nil) || final(event) {
					return
				}
			}
			event, err := ask(ctx)
			if !yield(event, err) || err != nil || final(event) {
				return
			}
			if err := sleep(ctx, backoff(attempt)); err != nil {
				yield(event, err)
				return
			}
		}
	}
}

func ended(status api.SimulationStatus) bool {
	switch status {
	case api.SimulationStatusCompleted, api.SimulationStatusFailed, api.SimulationStatusTerminated, api.SimulationStatusInvalid:
		return true
	}
	return false // also of a status that a newer service has
}
