package writeapi

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"netsim/api"
	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/fault"
	"netsim/runs/studies/plan"
	"netsim/simulator/document"
)

// StartStudy implements POST /studies. It checks the inputs of every point, so that a
// study that starts has no point that its owner would have to correct.
func (a *API) StartStudy(ctx context.Context, r api.StartStudyRequestObject) (api.StartStudyResponseObject, error) {
	w, err := create(ctx, "StartStudy", events.StudyPrefix, r.Params.IdempotencyKey, r.Body)
	if err != nil {
		return nil, err
	}
	if err := oneAccount(w.caller); err != nil {
		return nil, err
	}
	var result handle.Result
	_, err = a.once(ctx, w, func() error {
		started, err := a.readStudy(ctx, w, r.Body)
		if err != nil {
			return err
		}
		if err := a.Quotas.AdmitStudy(ctx, started.AccountID); err != nil {
			return err
		}
		if err := a.admitCredit(ctx, started); err != nil {
			return err
		}
		result, err = handle.Command[commands.Study](ctx, a.Commands, w.to(started.WorkspaceID), w.origin, commands.StartStudy{Started: started})
		return err
	})
	if err != nil {
		return nil, err
	}
	study, err := a.startedStudy(ctx, w.stream, result.Event)
	if err != nil {
		return nil, err
	}
	return api.StartStudy201JSONResponse{Body: study, Headers: api.StartStudy201ResponseHeaders{
		Location: "/api/v1/studies/" + study.ID,
	}}, nil
}

// startedStudy returns a study right after its start, also for a repetition, which has no
// event.
func (a *API) startedStudy(ctx context.Context, id string, started *events.Event) (api.Study, error) {
	if started == nil {
		return a.Views.StudyAsStarted(ctx, id)
	}
	return a.Views.StartedStudy(started)
}

// admitCredit returns PaymentRequired if the study needs runs, and the account has no
// credit for the first of them.
func (a *API) admitCredit(ctx context.Context, started events.StudyStarted) error {
	lacking := a.RequireCredit(ctx, started.AccountID)
	if !fault.Is(lacking, fault.PaymentRequired) {
		return lacking
	}
	f, err := a.ForecastStudy(ctx, started)
	if err == nil && f.Runs > 0 {
		err = lacking
	}
	return err
}

// PreviewStudy implements POST /studies/preview.
func (a *API) PreviewStudy(ctx context.Context, r api.PreviewStudyRequestObject) (api.PreviewStudyResponseObject, error) {
	w, err := create(ctx, "PreviewStudy", events.StudyPrefix, "", r.Body)
	if err != nil {
		return nil, err
	}
	if err := oneAccount(w.caller); err != nil {
		return nil, err
	}
	started, err := a.readStudy(ctx, w, r.Body)
	if err != nil {
		return nil, err
	}
	forecast, err := a.ForecastStudy(ctx, started)
	return api.PreviewStudy200JSONResponse(forecast), err
}

// readStudy reads the request of a study and checks its points.
func (a *API) readStudy(ctx context.Context, w write, body *api.StudyStart) (events.StudyStarted, error) {
	started := events.StudyStarted{
		AccountID: w.caller.AccountID, SandboxID: w.caller.SandboxID,
		Name: body.Name, Seed: body.Seed, StopDominated: body.StopDominated, Method: string(cmp.Or(body.Method, api.StudyMethodGrid)),
	}
	if started.Method != plan.Sample && (body.Samples != 0 || body.Seed != 0) {
		return started, fault.New(fault.Validation, "samples and seed must be absent, because method is %s", started.Method)
	}
	if (body.Base.Simple == nil) == (body.Base.Configuration == nil) {
		return started, fault.New(fault.Validation, "base must have either simple or configuration")
	}
	axes, err := readAxes(body.Axes)
	if err != nil {
		return started, err
	}
	p, err := plan.New(axes, started.Method, body.Samples, uint64(body.Seed))
	if err != nil {
		return started, refusal(err)
	}
	started.Points = int64(p.Points())
	for _, axis := range axes {
		started.Axes = append(started.Axes, events.StudyAxis(axis))
	}
	of, read := "simple submissions", readSimpleBase
	if body.Base.Configuration != nil {
		of, read = "the configuration", a.readConfigurationBase
	}
	if err := read(ctx, body.Base, p, &started); err != nil {
		return started, err
	}
	if body.WorkspaceID != "" && body.WorkspaceID != started.WorkspaceID {
		return started, fault.New(fault.Validation, "workspaceId must be that of %s, %s, got %s", of, started.WorkspaceID, body.WorkspaceID)
	}
	return started, nil
}

// readSimpleBase reads the base of a study of simple submissions, and checks its points.
func readSimpleBase(_ context.Context, base api.StudyBase, p *plan.Plan, started *events.StudyStarted) (err error) {
	started.WorkspaceID, started.Kind = events.DefaultWorkspace, commands.StudyOfSimple
	if started.Base, err = document.Canonical(base.Simple); err != nil {
		return err
	}
	for point := range p.Points() {
		if _, err := plan.Simple(started.Base, p, point); err != nil {
			return err
		}
	}
	return nil
}

// maxAxes is the size of all values of all axes, in bytes: they are in one event.
const maxAxes = 256 << 10

func readAxes(sent api.StudyAxes) ([]plan.Axis, error) {
	axes := make([]plan.Axis, len(sent))
	size := 0
	for i, a := range sent {
		axes[i] = plan.Axis{Field: a.Field, Values: make([]string, len(a.Values))}
		for k, raw := range a.Values {
			var value any
			if err := json.Unmarshal(raw, &value); err != nil {
				return nil, fmt.Errorf("read axes[%d].values[%d]: %w", i, k, err)
			}
			axes[i].Values[k] = document.CanonicalTree(value)
			size += len(axes[i].Values[k])
		}
	}
	if size > maxAxes {
		return nil, fault.New(fault.Validation, "the values of all axes must have at most %d bytes of JSON, got %d", maxAxes, size)
	}
	return axes, nil
}
