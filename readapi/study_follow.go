package readapi

import (
	"cmp"
	"context"

	"netsim/api"
	"netsim/projections"
)

// FollowStudy implements GET /studies/{study_id}/events: the status and the progress of a
// study as server-sent events, if they differ from those that the client has, and whenever
// they have changed.
func (a *API) FollowStudy(ctx context.Context, r api.FollowStudyRequestObject) (api.FollowStudyResponseObject, error) {
	if _, err := a.StudyRow(ctx, r.StudyID); err != nil {
		return nil, err
	}
	f := &studyStates{api: a, id: r.StudyID, seen: cmp.Or(r.Params.LastEventIDHeader, r.Params.LastEventID)}
	s, err := a.openStream(ctx, a.StudyFollowers, f.id, f.seen, f.more)
	if err != nil {
		return nil, err
	}
	if s.ended && s.waiting.Len() == 0 {
		s.follower.leave()
		return api.FollowStudy204Response{}, nil
	}
	return api.FollowStudy200TextEventStreamResponse{Body: s.body()}, nil
}

// studyStates is the source of a stream of a study. Its events are counted from the points,
// of which there is no history, so the id of an event is a number of its data.
type studyStates struct {
	api    *API
	id     string
	seen   int64  // number of the last state that was read
	status string // of that state, "" before this stream has read one
}

// more reads the state of the study. It returns NotFound when the study is deleted.
func (f *studyStates) more(s *stream) error {
	now, err := projections.FindStudyState(s.ctx, f.api.DB, f.id)
	if err != nil {
		return err
	}
	if number := now.Number(); number != f.seen {
		name := "progress"
		if now.Status != f.status {
			name = "status"
		}
		err = s.send(number, name, api.StudyEvent{
			StudyID: f.id, Status: api.StudyStatus(now.Status), Reason: now.Reason, Progress: studyProgressView(&now.StudyProgress),
		})
		f.seen = number
	}
	f.status, s.ended = now.Status, now.Final()
	s.follower.saw(f.seen, false)
	return err
}
