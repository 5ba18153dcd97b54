package readapi

import (
	"context"
	"encoding/json"
	"fmt"

	"netsim/api"
	"netsim/commands"
	"netsim/events"
	"netsim/projections"
	"netsim/readapi/access"
)

// ListStudies implements GET /studies: those of the workspaces that the caller is a
// member of.
func (a *API) ListStudies(ctx context.Context, r api.ListStudiesRequestObject) (api.ListStudiesResponseObject, error) {
	p := r.Params
	if err := access.Member(ctx, p.WorkspaceID); err != nil {
		return nil, err
	}
	l, err := a.listing(ctx, r, 100)
	if err != nil {
		return nil, err
	}
	rows, next, err := projections.ListStudies(ctx, a.DB, projections.StudyQuery{
		Scope: access.Owned(l.caller).In(p.WorkspaceID), Search: p.Search, Page: l.page,
		Where: []projections.Filter{
			projections.OneOf("status", known(p.Status, commands.Running, commands.Completed, commands.Terminated)),
			projections.Within("created_at", p.CreatedAfter.Time, p.CreatedBefore.Time),
		},
	})
	if err != nil {
		return nil, err
	}
	items := api.Each(rows, func(s *projections.Study) api.StudyListItem {
		return api.StudyListItem{
			ID: s.ID, WorkspaceID: s.WorkspaceID, Name: s.Name, Status: api.StudyStatus(s.Status),
			Method: api.StudyMethod(s.Method), Points: s.Points / s.Replicates, CreatedAt: timestamp(s.CreatedAt), EndedAt: timestampOf(s.EndedAt),
		}
	})
	return api.ListStudies200JSONResponse{Studies: items, Pagination: l.pagination(len(items), next)}, nil
}

// GetStudy implements GET /studies/{study_id}.
func (a *API) GetStudy(ctx context.Context, r api.GetStudyRequestObject) (api.GetStudyResponseObject, error) {
	s, err := a.StudyRow(ctx, r.StudyID)
	if err != nil {
		return nil, err
	}
	view, err := a.studyView(ctx, &s)
	return api.GetStudy200JSONResponse(view), err
}

// StartedStudy returns a study right after its start, as GET does.
func (a *API) StartedStudy(started *events.Event) (api.Study, error) {
	s := projections.StartedStudy(started)
	return viewOfStudy(&s, projections.StudyProgress{Waiting: s.Points})
}

// StudyAsStarted returns a study as it was right after its start.
func (a *API) StudyAsStarted(ctx context.Context, id string) (api.Study, error) {
	s, err := projections.FindStudy(ctx, a.DB, id)
	if err != nil {
		return api.Study{}, err
	}
	s.Status, s.Reason, s.EndedAt = commands.Running, "", nil
	return viewOfStudy(&s, projections.StudyProgress{Waiting: s.Points})
}

// StudyAfter returns a study right after a command's event, as GET does. Only the numbers
// of its points are those of now. Without an event it is the study as it is now.
// It does not check access, because its callers respond to a permitted write.
func (a *API) StudyAfter(ctx context.Context, id string, e *events.Event) (api.Study, error) {
	s, err := projections.FindStudy(ctx, a.DB, id)
	if err != nil {
		return api.Study{}, err
	}
	if e != nil {
		s = s.After(e)
	}
	return a.studyView(ctx, &s)
}

func (a *API) studyView(ctx context.Context, s *projections.Study) (api.Study, error) {
	progress, err := projections.ProgressOf(ctx, a.DB, s)
	if err != nil {
		return api.Study{}, err
	}
	return viewOfStudy(s, progress)
}

func viewOfStudy(s *projections.Study, p projections.StudyProgress) (api.Study, error) {
	view := api.Study{
		ID: s.ID, WorkspaceID: s.WorkspaceID, Name: s.Name, Status: api.StudyStatus(s.Status), Reason: s.Reason,
		Method: api.StudyMethod(s.Method), Points: s.Points / s.Replicates, Seed: s.Seed, StopDominated: s.StopDominated, Servers: s.Servers,
		CreatedAt: timestamp(s.CreatedAt), EndedAt: timestampOf(s.EndedAt),
		Progress: studyProgressView(&p),
	}
	var base any = &view.Base.Simple
	if s.Kind == commands.StudyOfConfiguration {
		base = &view.Base.Configuration
	}
	if err := json.Unmarshal([]byte(s.Base), base); err != nil {
		return view, fmt.Errorf("read the base of %s: %w", s.ID, err)
	}
	if s.Replicates > 1 {
		view.Replicates = s.Replicates
	}
	if s.Prices != "" {
		if err := json.Unmarshal([]byte(s.Prices), &view.Prices); err != nil {
			return view, fmt.Errorf("read the prices of %s: %w", s.ID, err)
		}
	}
	axes, err := s.AxisList()
	if err != nil {
		return view, err
	}
	for _, axis := range axes {
		values := api.Each(axis.Values, func(text *string) json.RawMessage { return json.RawMessage(*text) })
		view.Axes = append(view.Axes, api.StudyAxis{Field: axis.Field, Values: values})
	}
	return view, nil
}

func studyProgressView(p *projections.StudyProgress) api.StudyProgress {
	return api.StudyProgress{
		Waiting: p.Waiting, Shared: p.Shared, Unfinished: p.Unfinished,
		Completed: p.Completed, Failed: p.Failed, Terminated: p.Terminated, Invalid: p.Invalid,
	}
}
