package access

import (
	"context"

	"netsim/fault"
	"netsim/projections"
)

// StudyRow reads a study that is not deleted and that the caller may work with.
func (a *Access) StudyRow(ctx context.Context, id string) (projections.Study, error) {
	s, err := projections.FindStudy(ctx, a.DB, id)
	if err != nil {
		return s, err
	}
	if err := a.admit(ctx, owned, "study", id, projections.Owner{AccountID: s.AccountID, WorkspaceID: s.WorkspaceID}); err != nil {
		return s, err
	}
	if s.Deleted != "" {
		return s, fault.Missing("study", id)
	}
	return s, nil
}

// AdmitStudyChange returns the workspace of a study that the caller may terminate,
// resume and delete, and whether runs of it have not ended.
func (a *Access) AdmitStudyChange(ctx context.Context, id string) (workspace string, unfinished bool, err error) {
	s, err := a.StudyRow(ctx, id)
	if err != nil {
		return "", false, err
	}
	caller, err := Caller(ctx)
	if err != nil {
		return "", false, err
	}
	if err := mayEnd(caller, "study", id, s.WorkspaceID, s.CreatedBy); err != nil {
		return "", false, err
	}
	open, err := projections.OpenStudyRuns(ctx, a.DB, id, 1)
	return s.WorkspaceID, len(open) > 0, err
}
