package writeapi

import (
	"context"

	"netsim/api"
	"netsim/commands"
	"netsim/commands/handle"
	"netsim/fault"
)

// TerminateStudy implements POST /studies/{study_id}/terminate. A worker stops the runs
// because of the event.
func (a *API) TerminateStudy(ctx context.Context, r api.TerminateStudyRequestObject) (api.TerminateStudyResponseObject, error) {
	s, err := a.changeStudy(ctx, "TerminateStudy", r.StudyID, r.Params.IdempotencyKey, func(bool) (commands.Command[commands.Study], error) {
		return commands.TerminateStudy{ID: r.StudyID, Reason: "request"}, nil
	})
	return api.TerminateStudy200JSONResponse(s), err
}

// ResumeStudy implements POST /studies/{study_id}/resume.
func (a *API) ResumeStudy(ctx context.Context, r api.ResumeStudyRequestObject) (api.ResumeStudyResponseObject, error) {
	s, err := a.changeStudy(ctx, "ResumeStudy", r.StudyID, r.Params.IdempotencyKey, func(unfinished bool) (commands.Command[commands.Study], error) {
		if unfinished {
			return nil, fault.New(fault.Conflict, "runs of study %s have not ended yet", r.StudyID)
		}
		return commands.ResumeStudy{ID: r.StudyID}, nil
	})
	return api.ResumeStudy200JSONResponse(s), err
}

// changeStudy runs a command on a study that the caller may end, and returns the study.
func (a *API) changeStudy(ctx context.Context, operation, id, key string, decide func(unfinished bool) (commands.Command[commands.Study], error)) (none api.Study, err error) {
	w, err := change(ctx, operation, id, key, nil)
	if err != nil {
		return none, err
	}
	workspace, unfinished, err := a.Views.AdmitStudyChange(ctx, id)
	if err != nil {
		return none, err
	}
	var result handle.Result
	_, err = a.once(ctx, w, func() error {
		command, err := decide(unfinished)
		if err != nil {
			return err
		}
		result, err = handle.Command(ctx, a.Commands, w.existing(workspace), w.origin, command)
		return err
	})
	if err != nil {
		return none, err
	}
	return a.Views.StudyAfter(ctx, id, result.Event)
}

// DeleteStudy implements DELETE /studies/{study_id}. The runs are deleted in the
// background.
func (a *API) DeleteStudy(ctx context.Context, r api.DeleteStudyRequestObject) (api.DeleteStudyResponseObject, error) {
	w, err := change(ctx, "DeleteStudy", r.StudyID, r.Params.IdempotencyKey, nil)
	if err != nil {
		return nil, err
	}
	_, err = a.once(ctx, w, func() error {
		workspace, _, err := a.Views.AdmitStudyChange(ctx, r.StudyID)
		if err != nil {
			return err
		}
		_, err = handle.Command(ctx, a.Commands, w.existing(workspace), w.origin, commands.DeleteStudy{ID: r.StudyID, Reason: "request"})
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.DeleteStudy200JSONResponse{
		ID: r.StudyID, Status: api.StudyDeletionStatusDeleting, Message: "its simulations are being removed",
	}, nil
}
