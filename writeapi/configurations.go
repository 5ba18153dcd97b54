package writeapi

import (
	"context"
	"fmt"

	"netsim/api"
	"netsim/api/report"
	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/web"
	"netsim/simulator/document"
	"netsim/simulator/validation"
)

// DeleteConfiguration implements DELETE /configurations/{config_id}
// (completions.md section 3.5 row 5). Simulations keep the version that they use.
func (a *API) DeleteConfiguration(ctx context.Context, r api.DeleteConfigurationRequestObject) (api.DeleteConfigurationResponseObject, error) {
	w, err := change(ctx, "DeleteConfiguration", r.ConfigID, r.Params.IdempotencyKey, nil)
	if err != nil {
		return nil, err
	}
	match, err := matchOf(r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	if _, err := a.once(ctx, w, func() error { return a.delete(ctx, w, match) }); err != nil {
		return nil, err
	}
	return api.DeleteConfiguration204Response{}, nil
}

func (a *API) delete(ctx context.Context, w write, match commands.Match) error {
	c, _, err := a.mutable(ctx, w.stream)
	if err != nil {
		return err
	}
	_, err = handle.Command[commands.Configuration](ctx, a.Commands, w.existing(c.WorkspaceID), w.origin,
		commands.DeleteConfiguration{ID: w.stream, Reason: "request", Match: match})
	return err
}

// mutable returns a configuration that the caller may change, and its view after a
// change. It refuses templates.
func (a *API) mutable(ctx context.Context, id string) (commands.Configuration, View[api.Configuration], error) {
	c, after, err := a.Views.AdmitConfigurationChange(ctx, id)
	if err == nil && c.WorkspaceID == events.TemplateWorkspace {
		err = inTemplateWorkspace()
	}
	return c, after, err
}

// ValidateConfiguration implements POST /configurations/{config_id}/validate
// (completions.md sections 3.4, 3.6), also for templates. A result that equals the
// recorded one is not recorded again.
func (a *API) ValidateConfiguration(ctx context.Context, r api.ValidateConfigurationRequestObject) (api.ValidateConfigurationResponseObject, error) {
	w, err := change(ctx, "ValidateConfiguration", r.ConfigID, r.Params.IdempotencyKey, nil)
	if err != nil {
		return nil, err
	}
	match, err := matchOf(r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	c, err := a.Views.AdmitConfiguration(ctx, r.ConfigID)
	if err != nil {
		return nil, err
	}
	findings, err := a.findings(ctx, &c)
	if err != nil {
		return nil, fmt.Errorf("validate configuration %s: %w", r.ConfigID, err)
	}
	verdict := report.Of(findings)
	status := commands.Validated
	if !verdict.Valid {
		status = commands.Invalid
	}
	text, err := document.Canonical(findings)
	if err != nil {
		return nil, err
	}
	if _, err := handle.Command[commands.Configuration](ctx, a.Commands, w.existing(c.WorkspaceID), w.origin,
		commands.ValidateConfiguration{ID: r.ConfigID, Version: c.Version, Status: status, Findings: text, Match: match}); err != nil {
		return nil, err
	}
	// The result is that of the validated version, even if there is a newer one.
	return api.ValidateConfiguration200JSONResponse{
		Body: verdict, Headers: api.ValidateConfiguration200ResponseHeaders{ETag: web.ETag(c.Version)},
	}, nil
}

func (a *API) findings(ctx context.Context, c *commands.Configuration) ([]validation.Finding, error) {
	doc, err := document.Parse(c.Document)
	if err != nil {
		return nil, err
	}
	with, err := a.attachments(ctx, c.TracesetID, c.MappingFile)
	if err != nil {
		return nil, err
	}
	return validation.Check(doc, with), nil
}

// attachments returns the data of a traceset and of a mapping file that validation needs.
func (a *API) attachments(ctx context.Context, traceset, mappingFile string) (with validation.Attachments, err error) {
	if traceset != "" {
		t, err := a.Views.Traceset(ctx, traceset)
		if err != nil {
			return with, err
		}
		with.Traceset = &t
	}
	if mappingFile != "" {
		with.MappingFile, err = a.placement(ctx, mappingFile, with.Traceset)
	}
	return with, err
}

// placement returns the data of a mapping file that validation needs. It reads
// the content only if the rank counts agree, which bounds its size in memory.
func (a *API) placement(ctx context.Context, id string, t *validation.Traceset) (*validation.MappingFile, error) {
	made, live, err := a.Views.MappingFile(ctx, id)
	if err != nil {
		return nil, err
	}
	m := &validation.MappingFile{Deleted: !live, Ranks: made.RankCount}
	if live && t != nil && t.Ranks == m.Ranks {
		m.Servers, err = a.Views.Servers(ctx, made)
	}
	return m, err
}

// refusal returns a Validation fault with the message of err.
func refusal(err error) error {
	return fault.New(fault.Validation, "%s", err)
}
