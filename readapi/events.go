package readapi

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"netsim/api"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/auth"
	"netsim/infra/facts"
	"netsim/infra/web"
	"netsim/projections"
	"netsim/readapi/access"
	"netsim/stream/feed"
)

// Events implements GET /events: the facts that the caller may see, as they are
// recorded.
type Events struct {
	EventFilters
	Hub     *feed.Hub
	Cursors *web.Cursors
	// Losses names the losses of the log's records that were accepted, "" for none.
	Losses func(ctx context.Context) (string, error)
}

// EventFilters makes the queries of feeds and of webhooks from what a client asks for.
type EventFilters struct {
	*access.Access
	Billing bool // whether billing has operations: the flag enable_billing_endpoints
}

// positionLife is how long a client may wait before it resumes.
const positionLife = 7 * 24 * time.Hour

// The media types of a feed.
const (
	eventStream = "text/event-stream"
	ndjson      = "application/x-ndjson"
)

// FollowEvents implements GET /events.
func (e *Events) FollowEvents(ctx context.Context, r api.FollowEventsRequestObject) (api.FollowEventsResponseObject, error) {
	form, err := web.Preferred(ctx, eventStream, ndjson)
	if err != nil {
		return nil, err
	}
	caller, err := access.Caller(ctx)
	if err != nil {
		return nil, err
	}
	q, err := e.query(ctx, caller, &r.Params)
	if err != nil {
		return nil, err
	}
	// A feed needs the read model for the verdicts. Without it, it would be silent.
	losses, err := e.Losses(ctx)
	if err != nil {
		return nil, err
	}
	q.Check = func(context.Context) error {
		if now, err := e.Losses(ctx); err == nil && now != losses {
			return fault.New(fault.Unavailable, "the log has lost records")
		}
		return auth.Recheck(ctx)
	}
	p := r.Params
	last := cmp.Or(p.LastEventIDHeader, p.LastEventID)
	start := feed.Start{Since: p.Since.Time}
	seal, err := e.positions(caller, p, &q, losses)
	if err != nil {
		return nil, err
	}
	if last != "" {
		if start.Position, err = seal.open(last); err != nil {
			return nil, err
		}
	}
	f, err := e.Hub.Open(ctx, q, start)
	if err != nil {
		return nil, err
	}
	if form == ndjson {
		return api.FollowEvents200ApplicationXNdjsonResponse{Body: newFeedBody(ctx, f, seal, appendLine, appendLineEnd)}, nil
	}
	body := newFeedBody(ctx, f, seal, appendEvent, appendEventEnd)
	body.next = fmt.Appendf(nil, "retry: %d\n\n", reconnectAfter.Milliseconds())
	return api.FollowEvents200TextEventStreamResponse{Body: body}, nil
}

// positions returns what seals the positions of a feed with the parameters.
func (e *Events) positions(caller auth.Caller, p api.FollowEventsParams, q *feed.Query, losses string) (positions, error) {
	p.Since, p.LastEventID, p.LastEventIDHeader = api.Timestamp{}, "", ""
	parameters, err := json.Marshal(p)
	if err != nil {
		return positions{}, fmt.Errorf("bind a position to its parameters: %w", err)
	}
	return positions{
		cursors: e.Cursors.Lasting(positionLife),
		binding: web.Binding("FollowEvents", string(parameters), access.Reach(caller), e.Hub.Layout(q)+losses),
	}, nil
}

// positions seals the positions of a feed.
type positions struct {
	cursors *web.Cursors
	binding []byte
}

func (p positions) open(id string) ([]byte, error) {
	position, err := p.cursors.Open(p.binding, id)
	if err != nil {
		return nil, fault.New(fault.Validation, "the last event id is not one of this feed's of the last seven days: "+
			"its parameters, what the token may see and the log must be the same; begin with since")
	}
	return position, nil
}

func (p positions) seal(position []byte) string { return p.cursors.Seal(p.binding, position) }

// query returns what the feed sends, or refuses what the caller may not ask for.
func (e *EventFilters) query(ctx context.Context, caller auth.Caller, p *api.FollowEventsParams) (feed.Query, error) {
	rule := access.Events(caller, e.Billing)
	q := feed.Query{Keys: rule.Keys(), Types: p.Type, Stream: p.Stream, Account: rule.Account()}
	if err := e.narrowAccount(rule, caller, p.Account, &q); err != nil {
		return q, err
	}
	if err := narrowFamilies(p, &q); err != nil {
		return q, err
	}
	if err := e.narrowWorkspace(ctx, p.Workspace, &q); err != nil {
		return q, err
	}
	if err := e.narrowStream(ctx, p.Stream, &q); err != nil {
		return q, err
	}
	account, workspace := p.Account, p.Workspace
	q.Sees = func(f *facts.Fact, owner feed.Owner) bool {
		row := projections.Owner{AccountID: owner.AccountID, WorkspaceID: owner.WorkspaceID}
		return (workspace == "" || workspace == owner.WorkspaceID) && (account == "" || account == owner.AccountID) &&
			rule.Has(f.Type, f.Stream, row)
	}
	return q, nil
}

func (e *EventFilters) narrowAccount(rule access.EventRule, caller auth.Caller, account string, q *feed.Query) error {
	switch {
	case account == "":
		return nil
	case !events.ValidID(events.AccountPrefix, account):
		return fault.New(fault.Validation, "account %q is not an account id", account)
	case rule.Account() != "" && account != caller.AccountID:
		return fault.New(fault.Forbidden, "events of another account need a service token for every account")
	}
	q.Account = account
	if keys, all := q.Keys[events.Billing]; all && keys == nil {
		q.Keys[events.Billing] = []string{account}
	}
	delete(q.Keys, events.Checkpoints)
	return nil
}

// narrowFamilies leaves the families that the parameters name.
func narrowFamilies(p *api.FollowEventsParams, q *feed.Query) error {
	asked := map[events.Family]bool{}
	if p.Family != "" {
		asked[events.Family(p.Family)] = true
	}
	if p.Stream != "" {
		family, err := events.FamilyOf(p.Stream)
		if err != nil {
			return fault.New(fault.Validation, "stream %q is not the id of a stream", p.Stream)
		}
		if p.Family != "" && !asked[family] {
			return fault.New(fault.Validation, "stream %s is in the family %s, not %s", p.Stream, family, p.Family)
		}
		asked[family] = true
	}
	for family := range asked {
		if _, ok := q.Keys[family]; ok {
			continue
		}
		if family == events.Billing {
			return fault.New(fault.Forbidden, "events of billing need a service token or the role billing")
		}
		return fault.New(fault.Forbidden, "events of %s need a service token for every account", family)
	}
	if len(asked) > 0 {
		maps.DeleteFunc(q.Keys, func(family events.Family, _ []string) bool { return !asked[family] })
	}
	return narrowTypes(p.Type, q)
}

// narrowTypes leaves the families that have events of the types.
func narrowTypes(types []string, q *feed.Query) error {
	if len(types) == 0 {
		return nil
	}
	asked := map[events.Family]bool{}
	for _, name := range types {
		if !events.Known(name) {
			return fault.New(fault.Validation, "type %q is unknown", name)
		}
		aggregate, _, _ := strings.Cut(strings.TrimPrefix(name, "netsim."), ".")
		if family, ok := familiesOfTypes()[aggregate]; ok {
			asked[family] = true
			continue
		}
		for _, family := range events.Families() { // in every topic
			asked[family] = true
		}
	}
	maps.DeleteFunc(q.Keys, func(family events.Family, _ []string) bool { return !asked[family] })
	return nil
}

// familiesOfTypes returns the families of events by the second part of their types.
// Types whose second part is missing, netsim.log, are in every family.
func familiesOfTypes() map[string]events.Family {
	return map[string]events.Family{
		"workspace": events.Workspaces, "webhook": events.Workspaces, "configuration": events.Configurations, "simulation": events.Simulations,
		"traceset": events.Tracesets, "mapping_file": events.MappingFiles, "upload": events.MappingFiles,
		"billing": events.Billing, "checkpoint": events.Checkpoints, "operation": events.Checkpoints,
	}
}

// narrowWorkspace leaves the partitions of a workspace. The error is Forbidden or
// NotFound for a workspace that the caller does not see.
func (e *EventFilters) narrowWorkspace(ctx context.Context, workspace string, q *feed.Query) error {
	if workspace == "" {
		return nil
	}
	has, err := e.HasWorkspace(ctx, workspace)
	if err != nil {
		return err
	}
	if !has {
		return fault.Missing("workspace", workspace)
	}
	delete(q.Keys, events.Billing)
	delete(q.Keys, events.Checkpoints)
	for family := range q.Keys {
		q.Keys[family] = []string{workspace}
	}
	return nil
}

// narrowStream leaves the partition of a stream, if it is known.
func (e *EventFilters) narrowStream(ctx context.Context, stream string, q *feed.Query) error {
	if stream == "" {
		return nil
	}
	if prefix, _, _ := strings.Cut(stream, "_"); slices.Contains([]string{events.AccountPrefix, events.PlatformPrefix, events.CheckpointPrefix, events.OperationPrefix}, prefix) {
		for family := range q.Keys {
			q.Keys[family] = []string{stream}
		}
		return nil
	}
	found, err := projections.Owners(ctx, e.DB, []string{stream})
	if err != nil || len(found) == 0 {
		return err
	}
	for family, keys := range q.Keys {
		if keys == nil || slices.Contains(keys, found[0].WorkspaceID) {
			q.Keys[family] = []string{found[0].WorkspaceID}
		}
	}
	return nil
}
