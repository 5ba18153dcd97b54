package service

import (
	"context"
	"fmt"

	"netsim/billing/prices"
	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
)

// seed appends the initial content of every deployment: the built-in workspaces, the
// price list and the curated templates. Its commands have fixed ids, so every start can
// run it.
func (s *core) seed(ctx context.Context, list prices.List) error {
	for _, w := range []struct{ id, name, description string }{
		{events.DefaultWorkspace, "default", "configurations and simple submissions that name no workspace"},
		{events.TemplateWorkspace, "templates", "the curated templates"},
		{events.TracesetWorkspace, "tracesets", "traceset uploads that name no workspace"},
	} {
		_, err := handle.Command(ctx, s.handler,
			handle.Target{Stream: w.id, PartitionKey: w.id},
			handle.Origin{Actor: events.System, CommandID: "built-in"},
			commands.CreateWorkspace{Owner: events.System, Name: w.name, Description: w.description})
		if err != nil {
			return fmt.Errorf("create the built-in workspace %s: %w", w.name, err)
		}
	}
	refused, err := list.Load(ctx, s.handler, s.config.Platform, s.config.Account)
	if err != nil {
		return err
	}
	for _, why := range refused {
		s.log.WarnContext(ctx, "a row of the price list is left out; netsim billing rates apply changes prices", "because", why)
	}
	return s.seedTemplates(ctx)
}
