package service

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"netsim/cmd/connections"
	"netsim/commands"
	"netsim/commands/handle"
	"netsim/content/simple"
	"netsim/content/simple/unfold"
	"netsim/events"
	"netsim/projections"
	"netsim/simulator/collective"
	"netsim/simulator/document"
	"netsim/simulator/presets"
	"netsim/simulator/validation"
)

// seedTemplates stores the missing curated templates, with the public tracesets that they
// replay. One query finds the existing ones. The id of a template derives from its name
// and revision, so a new revision is added and the old one stays.
func (s *base) seedTemplates(ctx context.Context, w *connections.Writer) error {
	curated, err := presets.Curated()
	if err != nil {
		return err
	}
	ids := make([]string, len(curated))
	for i, t := range curated {
		ids[i] = events.DerivedID(events.ConfigurationPrefix, "template", t.Name, strconv.Itoa(t.Revision))
	}
	existing, err := projections.ValidatedConfigurations(ctx, s.verified, ids)
	if err != nil {
		return err
	}
	workloads := s.workloads(w)
	for i, t := range slices.Backward(curated) { // lists show the newest first
		if existing[ids[i]] {
			continue
		}
		if err := seedTemplate(ctx, w, workloads, ids[i], t); err != nil {
			return fmt.Errorf("store the template %q: %w", t.Name, err)
		}
	}
	return nil
}

// seedTemplate stores a template and its traceset in steps that do nothing when repeated.
// Both belong to no account, so no account pays for them. The traceset does not expire.
func seedTemplate(ctx context.Context, w *connections.Writer, workloads *unfold.Workloads, id string, t presets.Template) error {
	from := handle.Origin{Actor: events.System, CommandID: "curated"}
	workload, err := simple.NewWorkload(t.Workload.Groups)
	if err != nil {
		return err
	}
	traceset, err := workloads.Keep(ctx, &workload, events.TracesetCreated{
		WorkspaceID: events.TracesetWorkspace, Name: t.Workload.Name, Description: t.Workload.Description,
		Scope: commands.ScopePublic,
	}, from)
	if err != nil {
		return err
	}
	text, err := document.Canonical(t.Document)
	if err != nil {
		return err
	}
	ranks := int64(collective.Ranks(t.Workload.Groups))
	findings, err := document.Canonical(validation.Check(t.Document, validation.Attachments{
		Traceset: &validation.Traceset{Status: "ready", Ranks: ranks},
	}))
	if err != nil {
		return err
	}
	to := handle.Target{Stream: id, PartitionKey: events.TemplateWorkspace}
	if _, err := handle.Command[commands.Configuration](ctx, w.Handler, to, from, commands.CreateConfiguration{
		Created: events.ConfigurationCreated{
			WorkspaceID: events.TemplateWorkspace, Name: t.Name, Description: t.Description, Category: t.Category,
			Document: text, ComponentCount: int64(t.Document.ComponentCount()), Status: commands.Draft,
			TracesetID: traceset, RankCount: ranks,
		},
	}); err != nil {
		return err
	}
	from.CommandID = "validated"
	_, err = handle.Command[commands.Configuration](ctx, w.Handler, to, from, commands.ValidateConfiguration{
		ID: id, Version: 1, Status: commands.Validated, Findings: findings,
	})
	return err
}
