package writeapi

import (
	"cmp"
	"context"

	"netsim/api"
	"netsim/commands/handle"
	"netsim/content/simple"
	"netsim/events"
	"netsim/fault"
)

// SubmitSimple implements POST /simple/simulations (completions.md section 4).
// It requests the simulation, then makes the traceset and the configuration, so
// that both exist when the client gets the response.
func (a *API) SubmitSimple(ctx context.Context, r api.SubmitSimpleRequestObject) (api.SubmitSimpleResponseObject, error) {
	w, err := create(ctx, "SubmitSimple", events.SimulationPrefix, r.Params.IdempotencyKey, r.Body)
	if err != nil {
		return nil, err
	}
	if err := oneAccount(w.caller); err != nil {
		return nil, err
	}
	submission, err := simple.Parse(r.Body)
	if err != nil {
		return nil, err
	}
	requested := simpleRequest(w, submission, r.Body.Name)
	var result handle.Result
	if _, err := a.once(ctx, w, func() (err error) { result, err = a.request(ctx, w, requested); return err }); err != nil {
		return nil, err
	}
	from := handle.Origin{CorrelationID: w.origin.CorrelationID}
	if result.Event != nil {
		from.CauseID = result.Event.ID
	}
	if err := a.Unfold(ctx, from, w.stream, requested, submission); err != nil {
		return nil, fault.Unknown(err) // the simulation is recorded, and a repetition completes it
	}
	return accepted(w.stream, r.Body, submission), nil
}

func simpleRequest(w write, submission *simple.Submission, name string) events.SimulationRequested {
	requested := events.SimulationRequested{
		AccountID: w.caller.AccountID, WorkspaceID: events.DefaultWorkspace,
		Name: cmp.Or(name, submission.Name(w.stream)), SandboxID: w.caller.SandboxID,
	}
	submission.Fill(&requested, w.stream)
	return requested
}

// accepted returns the response to a submission: its workload with the chosen
// algorithms.
func accepted(simulation string, body *api.SimpleSubmission, submission *simple.Submission) api.SubmitSimpleResponseObject {
	answer := api.SimpleAccepted{
		SimulationID: simulation, Status: api.SimpleAcceptedStatusAccepted, Mode: api.SimpleAcceptedModeParallel,
	}
	if body.Workload != nil {
		answer.Mode = api.SimpleAcceptedModeSequential
		answer.Workload = &api.SimpleWorkload{
			Ranks: body.Workload.Ranks, Phases: simple.Echo(submission.Groups[0].Phases),
		}
	} else {
		for _, g := range submission.Groups {
			answer.Groups = append(answer.Groups, api.SimpleGroup{
				Count: int64(g.Count), GroupSize: int64(g.GroupSize), Phases: simple.Echo(g.Phases),
			})
		}
	}
	return api.SubmitSimple202JSONResponse{Body: answer, Headers: api.SubmitSimple202ResponseHeaders{
		Location: "/api/v1/simulations/" + simulation,
	}}
}
