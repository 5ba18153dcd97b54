package writeapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

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
	return inTime(err, started.Points, started.Points)
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
	return api.PreviewStudy200JSONResponse(forecast), inTime(err, started.Points, started.Points)
}

// inTime replaces the error of a walk over the points that ran out of time: nothing was
// recorded, and fewer points fit. before is how many points earlier walks have done.
func inTime(err error, before, points int64) error {
	late, ok := errors.AsType[plan.OutOfTime](err)
	if !ok {
		return err
	}
	walks := before/points + 1
	return &fault.Fault{
		Code: fault.Unavailable, RetryAfter: time.Second, Cause: err,
		Message: fmt.Sprintf("%d points take too long; some %d of them fit into the time of a request", points, (before+int64(late.Done))/walks),
	}
}

// readStudy reads the request of a study and checks its points.
func (a *API) readStudy(ctx context.Context, w write, body *api.StudyStart) (events.StudyStarted, error) {
	started := events.StudyStarted{
		AccountID: w.caller.AccountID, SandboxID: w.caller.SandboxID,
		Name: body.Name, Seed: body.Seed, StopDominated: body.StopDominated, Method: string(cmp.Or(body.Method, api.StudyMethodGrid)), Servers: body.Servers,
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
	if started.Prices, err = readPrices(body); err != nil {
		return started, err
	}
	p, err := plan.New(axes, started.Method, body.Samples, uint64(body.Seed))
	if err == nil {
		err = p.Repeat(body.Replicates)
	}
	if err != nil {
		return started, refusal(err)
	}
	started.Points = int64(p.Points())
	if body.Replicates > 1 {
		started.Replicates = body.Replicates
	}
	for _, axis := range axes {
		started.Axes = append(started.Axes, events.StudyAxis(axis))
	}
	of, read := "simple submissions", a.readSimpleBase
	if body.Base.Configuration != nil {
		of, read = "the configuration", a.readConfigurationBase
	}
	if err := read(ctx, body.Base, p, &started); err != nil {
		return started, inTime(err, 0, started.Points)
	}
	if body.WorkspaceID != "" && body.WorkspaceID != started.WorkspaceID {
		return started, fault.New(fault.Validation, "workspaceId must be that of %s, %s, got %s", of, started.WorkspaceID, body.WorkspaceID)
	}
	return started, nil
}

// readSimpleBase reads the base of a study of simple submissions, and checks its points.
func (a *API) readSimpleBase(ctx context.Context, base api.StudyBase, p *plan.Plan, started *events.StudyStarted) (err error) {
	started.WorkspaceID, started.Kind = events.DefaultWorkspace, commands.StudyOfSimple
	if started.Base, err = document.Canonical(base.Simple); err != nil {
		return err
	}
	if err := p.Apart(started.Base); err != nil {
		return err
	}
	return p.Each(ctx, func(point int) error {
		_, err := plan.Simple(started.Base, p, point, a.Check)
		return err
	})
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
			if err := json.Unmarshal(raw, &value); err != nil { // the contract checks no numbers inside a value
				return nil, fault.New(fault.Validation, "axes[%d].values[%d] must have numbers of at most 64 bits", i, k)
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

// readPrices returns the text of a study's own price list, "" for none.
func readPrices(body *api.StudyStart) (string, error) {
	if body.Prices == nil {
		return "", nil
	}
	list := *body.Prices
	list.Version = cmp.Or(list.Version, "own")
	if body.Servers && len(list.Servers) == 0 {
		return "", fault.New(fault.Validation, "prices.servers is required, because servers is true")
	}
	for _, kind := range []struct {
		name    string
		classes api.PriceClasses
	}{{"switches", list.Switches}, {"nics", list.Nics}, {"copper", list.Copper}, {"optical", list.Optical}, {"servers", list.Servers}} {
		for i := 1; i < len(kind.classes); i++ {
			if least := kind.classes[i-1].Gbps + 1; kind.classes[i].Gbps < least {
				return "", fault.New(fault.Validation, "prices.%s[%d].gbps must be at least %d, above the class before it; got %d", kind.name, i, least, kind.classes[i].Gbps)
			}
		}
	}
	return document.Canonical(list)
}
