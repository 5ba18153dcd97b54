package writeapi

import (
	"context"
	"fmt"
	"strings"
	"time"

	"netsim/api"
	"netsim/api/submission"
	"netsim/commands"
	"netsim/events"
	"netsim/fault"
	"netsim/simulator/collective"
	"netsim/simulator/document"
	"netsim/simulator/presets"
)

// The limit of the simulated time of a simple submission (completions.md
// section 4.3).
const (
	simpleRunTime     = time.Hour
	simpleRunTimeText = "1h"
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
	simple, _, err := submission.Resolve(r.Body)
	if err != nil {
		return nil, err
	}
	requested, err := a.simpleRequest(w, simple, r.Body.Name)
	if err != nil {
		return nil, err
	}
	if _, err := a.once(ctx, w, func() error { _, err := a.request(ctx, w, requested); return err }); err != nil {
		return nil, err
	}
	if err := a.Unfold(ctx, w.stream, requested); err != nil {
		return nil, fault.Unknown(err) // the simulation is recorded, and a repetition completes it
	}
	return accepted(w.stream, r.Body, simple), nil
}

func (a *API) simpleRequest(w write, simple presets.Simple, name string) (events.SimulationRequested, error) {
	text, err := document.Canonical(simple)
	if err != nil {
		return events.SimulationRequested{}, err
	}
	traceset, err := a.TracesetID(w.caller.AccountID, simple)
	if err != nil {
		return events.SimulationRequested{}, err
	}
	if name == "" {
		name = simpleName(w.stream, simple)
	}
	return events.SimulationRequested{
		Origin: commands.OriginSimple, AccountID: w.caller.AccountID, WorkspaceID: events.DefaultWorkspace,
		ConfigurationID: events.DerivedID(events.ConfigurationPrefix, w.stream), ConfigurationVersion: 1,
		Name: name, DurationNs: simpleRunTime.Nanoseconds(), Duration: simpleRunTimeText,
		TracesetID: traceset, Simple: text, SandboxID: w.caller.SandboxID,
	}, nil
}

// simpleName returns the default name of a submission.
func simpleName(simulation string, s presets.Simple) string {
	return fmt.Sprintf("simple-%s-%d-%s", strings.ToLower(s.Groups[0].Phases[0].OperationType),
		collective.Ranks(s.Groups), simulation[len(simulation)-8:])
}

// accepted returns the response to a submission: its workload with the chosen
// algorithms.
func accepted(simulation string, body *api.SimpleSubmission, simple presets.Simple) api.SubmitSimpleResponseObject {
	answer := api.SimpleAccepted{
		SimulationID: simulation, Status: api.SimpleAcceptedStatusAccepted, Mode: api.SimpleAcceptedModeParallel,
	}
	if body.Workload != nil {
		answer.Mode = api.SimpleAcceptedModeSequential
		answer.Workload = &api.SimpleWorkload{
			Ranks: body.Workload.Ranks, Phases: submission.Echo(simple.Groups[0].Phases),
		}
	} else {
		for _, g := range simple.Groups {
			answer.Groups = append(answer.Groups, api.SimpleGroup{
				Count: int64(g.Count), GroupSize: int64(g.GroupSize), Phases: submission.Echo(g.Phases),
			})
		}
	}
	return api.SubmitSimple202JSONResponse{Body: answer, Headers: api.SubmitSimple202ResponseHeaders{
		Location: "/api/v1/simulations/" + simulation,
	}}
}
