package writeapi

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"netsim/api"
	"netsim/commands"
	"netsim/events"
	"netsim/fault"
	"netsim/simulator/catalogue"
	"netsim/simulator/design"
	"netsim/simulator/validation"
)

// CreateConfiguration implements POST /configurations (completions.md section
// 3.5 row 2): a draft, completed with what the service knows.
func (a *API) CreateConfiguration(ctx context.Context, r api.CreateConfigurationRequestObject) (api.CreateConfigurationResponseObject, error) {
	w, err := create(ctx, "CreateConfiguration", events.ConfigurationPrefix, r.Params.IdempotencyKey, r.Body)
	if err != nil {
		return nil, err
	}
	if err := oneAccount(w.caller); err != nil {
		return nil, err
	}
	document, err := readDocument(r.Body)
	if err != nil {
		return nil, err
	}
	done, err := a.repeated(ctx, w)
	if err != nil {
		return nil, err
	}
	if !done {
		if err := a.create(ctx, w, r.Body, document); err != nil {
			return nil, err
		}
	}
	made, tag, err := a.Configurations.Configuration(ctx, w.stream)
	if err != nil {
		return nil, err
	}
	return api.CreateConfiguration201JSONResponse{Body: made, Headers: api.CreateConfiguration201ResponseHeaders{
		ETag: tag, Location: "/api/v1/configurations/" + made.ID,
	}}, nil
}

// create checks what the request refers to and makes the configuration.
func (a *API) create(ctx context.Context, w write, body *api.ConfigurationCreate, document *design.Document) error {
	workspace := body.WorkspaceID
	switch workspace {
	case "":
		workspace = events.DefaultWorkspace
	case events.TemplateWorkspace:
		return fault.New(fault.Validation, "workspaceId must not be the template workspace")
	}
	if err := a.Workspaces.AdmitWorkspace(ctx, workspace); err != nil {
		return err
	}
	traceset := ""
	if t := body.ActiveTraceset; t != nil {
		traceset = t.ID
		if err := a.attach(ctx, document, traceset); err != nil {
			return err
		}
	}
	text, err := design.Canonical(document)
	if err != nil {
		return err
	}
	_, err = commands.Handle[commands.Configuration](ctx, a.Commands, w.to(workspace), w.origin,
		commands.CreateConfiguration{Created: events.ConfigurationCreated{
			AccountID: w.caller.AccountID, WorkspaceID: workspace, Name: body.Name,
			Document: text, ComponentCount: int64(document.ComponentCount()), Status: commands.Draft, TracesetID: traceset,
		}})
	return err
}

// readDocument reads a document as a client sends it, and completes it.
func readDocument(body *api.ConfigurationCreate) (*design.Document, error) {
	if err := checkParams(body); err != nil {
		return nil, refusal(err)
	}
	text, err := json.Marshal(struct {
		Applications     []api.Application `json:"applications"`
		Components       []api.Component   `json:"components"`
		Containers       []api.Container   `json:"containers"`
		Links            []api.Component   `json:"links"`
		Topology         api.Topology      `json:"topology"`
		GlobalParameters json.RawMessage   `json:"globalParameters"`
	}{body.Applications, body.Components, body.Containers, body.Links, body.Topology, body.GlobalParameters})
	if err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	document, err := design.Parse(string(text))
	if err != nil {
		return nil, err
	}
	if err := validation.Complete(document); err != nil {
		return nil, refusal(err)
	}
	return document, nil
}

// checkParams checks the form of every tree of parameters.
func checkParams(body *api.ConfigurationCreate) error {
	for i, c := range body.Components {
		if err := validation.CheckParams(fmt.Sprintf("components[%d].typedParameters", i), c.TypedParameters); err != nil {
			return err
		}
	}
	for i, c := range body.Links {
		if err := validation.CheckParams(fmt.Sprintf("links[%d].typedParameters", i), c.TypedParameters); err != nil {
			return err
		}
	}
	for i, c := range body.Applications {
		if err := validation.CheckParams(fmt.Sprintf("applications[%d].typedParameters", i), c.TypedParameters); err != nil {
			return err
		}
	}
	return validation.CheckParams("globalParameters", body.GlobalParameters)
}

// attach ties a traceset to the document's chakra application, which learns
// the number of ranks (completions.md section 3.5 row 31).
func (a *API) attach(ctx context.Context, document *design.Document, id string) error {
	if err := a.Tracesets.AdmitTraceset(ctx, id); err != nil {
		if fault.Is(err, fault.NotFound) {
			err = fault.New(fault.Validation, "activeTraceset.id %s is unknown", id)
		}
		return err
	}
	i := slices.IndexFunc(document.Applications, func(x design.Application) bool { return x.TrafficType == design.TrafficChakra })
	if i < 0 {
		return fault.New(fault.Validation, "activeTraceset needs a chakra application")
	}
	t, err := a.Tracesets.Traceset(ctx, id)
	switch {
	case err != nil:
		return err
	case t.Status != "ready":
		return fault.New(fault.Conflict, "the rank count of traceset %s is not known: it is %s", id, t.Status)
	case t.Ranks <= 0 || t.Ranks > validation.MaxServers:
		return fault.New(fault.Unprocessable, "the rank count of traceset %s must be between 1 and %d, got %d", id, validation.MaxServers, t.Ranks)
	}
	catalogue.SetRankCount(document.Applications[i].TypedParameters, t.Ranks)
	return nil
}
