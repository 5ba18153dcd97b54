package writeapi

import (
	"context"
	"encoding/json"
	"fmt"

	"netsim/api"
	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/fault"
	"netsim/simulator/document"
	"netsim/simulator/validation"
)

// CreateConfiguration implements POST /configurations (completions.md section
// 3.5 row 2): it makes a draft, and completes its document from the catalogue.
func (a *API) CreateConfiguration(ctx context.Context, r api.CreateConfigurationRequestObject) (api.CreateConfigurationResponseObject, error) {
	w, err := create(ctx, "CreateConfiguration", events.ConfigurationPrefix, r.Params.IdempotencyKey, r.Body)
	if err != nil {
		return nil, err
	}
	if err := oneAccount(w.caller); err != nil {
		return nil, err
	}
	doc, err := readDocument(r.Body)
	if err != nil {
		return nil, err
	}
	made, tag, err := a.made(ctx, w, func() (handle.Result, error) { return a.create(ctx, w, r.Body, doc) })
	if err != nil {
		return nil, err
	}
	return api.CreateConfiguration201JSONResponse{Body: made, Headers: api.CreateConfiguration201ResponseHeaders{
		ETag: tag, Location: "/api/v1/configurations/" + made.ID,
	}}, nil
}

// made calls create, unless the write is a repetition, and returns the
// configuration: version 1, or the newest version after a repetition.
func (a *API) made(ctx context.Context, w write, create func() (handle.Result, error)) (api.Configuration, string, error) {
	var result handle.Result
	_, err := a.once(ctx, w, func() (err error) { result, err = create(); return err })
	if err != nil {
		return api.Configuration{}, "", err
	}
	return a.Views.ConfigurationView(w.stream)(ctx, result.Event, result.State)
}

// create checks the resources that the request names and makes the configuration.
func (a *API) create(ctx context.Context, w write, body *api.ConfigurationCreate, doc *document.Document) (none handle.Result, err error) {
	workspace, err := a.destination(ctx, body.WorkspaceID)
	if err != nil {
		return none, err
	}
	created := events.ConfigurationCreated{
		AccountID: w.caller.AccountID, WorkspaceID: workspace, Name: body.Name,
		ComponentCount: int64(doc.ComponentCount()), Status: commands.Draft,
	}
	if t := body.ActiveTraceset; t != nil {
		if !doc.HasChakra() {
			return none, fault.New(fault.Validation, "activeTraceset needs a chakra application")
		}
		ranks, err := a.rankCount(ctx, "activeTraceset.id", t.ID)
		if err != nil {
			return none, err
		}
		doc.SetRankCount(ranks)
		created.TracesetID, created.RankCount = t.ID, ranks
	}
	if created.Document, err = storable(doc); err != nil {
		return none, err
	}
	return handle.Command[commands.Configuration](ctx, a.Commands, w.to(workspace), w.origin,
		commands.CreateConfiguration{Created: created})
}

// storable returns the canonical text of a document, or PayloadTooLarge.
func storable(doc *document.Document) (string, error) {
	text, err := document.Canonical(doc)
	if err != nil {
		return "", err
	}
	return text, commands.CheckSize(text)
}

// readDocument reads the document of a request, and completes it from the
// catalogue.
func readDocument(body *api.ConfigurationCreate) (*document.Document, error) {
	sent := documentMembers{body.Applications, body.Components, body.Containers, body.Links, &body.Topology, body.GlobalParameters}
	if err := sent.checkParams(); err != nil {
		return nil, refusal(err)
	}
	text, err := json.Marshal(sent)
	if err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	doc, err := document.Parse(string(text))
	if err != nil {
		return nil, err
	}
	if err := validation.Complete(doc); err != nil {
		return nil, refusal(err)
	}
	return doc, nil
}

// documentMembers are the members of a document in a request; missing ones are
// nil.
type documentMembers struct {
	Applications     []api.Application `json:"applications,omitzero"`
	Components       []api.Component   `json:"components,omitzero"`
	Containers       []api.Container   `json:"containers,omitzero"`
	Links            []api.Component   `json:"links,omitzero"`
	Topology         *api.Topology     `json:"topology,omitzero"`
	GlobalParameters api.Params        `json:"globalParameters,omitzero"`
}

// checkParams checks the syntax of every tree of parameters.
func (d documentMembers) checkParams() error {
	for i, c := range d.Components {
		if err := validation.CheckParams(fmt.Sprintf("components[%d].typedParameters", i), c.TypedParameters); err != nil {
			return err
		}
	}
	for i, c := range d.Links {
		if err := validation.CheckParams(fmt.Sprintf("links[%d].typedParameters", i), c.TypedParameters); err != nil {
			return err
		}
	}
	for i, c := range d.Applications {
		if err := validation.CheckParams(fmt.Sprintf("applications[%d].typedParameters", i), c.TypedParameters); err != nil {
			return err
		}
	}
	return validation.CheckParams("globalParameters", d.GlobalParameters)
}
