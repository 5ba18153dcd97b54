package service

import (
	"context"
	"fmt"

	"netsim/billing/prices"
	"netsim/cmd/connections"
	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
)

// seed appends the initial content of every deployment: the built-in workspaces, the
// price list and the curated templates. Its commands have fixed ids, so every start can
// run it.
func (s *base) seed(ctx context.Context, w *connections.Writer, list prices.List) error {
	for _, made := range []struct{ id, name, description string }{
		{events.DefaultWorkspace, "default", "configurations and simple submissions that name no workspace"},
		{events.TemplateWorkspace, "templates", "the curated templates"},
		{events.TracesetWorkspace, "tracesets", "traceset uploads that name no workspace"},
	} {
		_, err := handle.Command(ctx, w.Handler,
			handle.Target{Stream: made.id, PartitionKey: made.id},
			handle.Origin{Actor: events.System, CommandID: "built-in"},
			commands.CreateWorkspace{Owner: events.System, Name: made.name, Description: made.description})
		if err != nil {
			return fmt.Errorf("create the built-in workspace %s: %w", made.name, err)
		}
	}
	refused, err := list.Load(ctx, w.Handler, s.config.Platform, s.config.Account)
	if err != nil {
		return err
	}
	for _, why := range refused {
		s.log.WarnContext(ctx, "a row of the price list is left out; netsim billing rates apply changes prices", "because", why)
	}
	return s.seedTemplates(ctx, w)
}
