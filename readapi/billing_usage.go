package readapi

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"netsim/api"
	"netsim/fault"
	"netsim/projections"
	"netsim/readapi/access"
)

// ListBillingItems implements GET /billing/items: newest first.
func (b *Billing) ListBillingItems(ctx context.Context, r api.ListBillingItemsRequestObject) (api.ListBillingItemsResponseObject, error) {
	lag := b.lag(ctx)
	caller, err := access.Caller(ctx)
	if err != nil {
		return nil, err
	}
	p := r.Params
	if p.Status != "" && !p.Status.Valid() {
		return nil, fault.New(fault.Validation, "status must be active or closed, got %q", p.Status)
	}
	l, err := newListing(ctx, b.Cursors, r, 50)
	if err != nil {
		return nil, err
	}
	rows, next, err := projections.ListBillingItems(ctx, b.DB, projections.BillingItemQuery{
		BillingFilter: b.filter(caller, l, p.WorkspaceName, "", p.EventType), Status: string(p.Status),
	})
	if err != nil {
		return nil, unreachable(err)
	}
	items := make([]api.BillingItem, len(rows))
	for i := range rows {
		items[i] = b.item(&rows[i])
	}
	return api.ListBillingItems200JSONResponse{Headers: api.ListBillingItems200ResponseHeaders(lag), Body: api.BillingItemList{Items: items, Pagination: l.pagination(len(items), next)}}, nil
}

// GetBillingItem implements GET /billing/items/{id}. It returns NotFound for an
// item of another account, and for an id that is no integer (completions.md section 7).
func (b *Billing) GetBillingItem(ctx context.Context, r api.GetBillingItemRequestObject) (api.GetBillingItemResponseObject, error) {
	lag := b.lag(ctx)
	caller, err := access.Caller(ctx)
	if err != nil {
		return nil, err
	}
	id, err := strconv.ParseInt(r.ID, 10, 64)
	if err != nil {
		return nil, fault.Missing("billing item", r.ID)
	}
	row, err := projections.FindBillingItem(ctx, b.DB, access.Account(caller), id)
	if err != nil {
		return nil, unreachable(err)
	}
	return api.GetBillingItem200JSONResponse{Body: b.item(&row), Headers: api.GetBillingItem200ResponseHeaders(lag)}, nil
}

func (b *Billing) item(n *projections.Named[projections.BillingItem]) api.BillingItem {
	i := &n.Row
	out := api.BillingItem{
		BillingItemID: i.ID, AccountID: i.AccountID, AccountName: n.Names.Account, PlatformName: b.Platform,
		ItemName: nullable(i.ItemName), RateName: i.RateName, EventType: i.Meter,
		EventAction: api.BillingEventAction(i.Action), Quantity: i.Quantity,
		WorkspaceID: nullable(i.WorkspaceID), WorkspaceName: n.Names.Workspace,
		SandboxID: nullable(i.SandboxID), SandboxName: n.Names.Sandbox,
		UserID: nullable(i.UserID), UserName: n.Names.User,
		StartTimestamp: timestamp(i.StartedAt), Status: api.BillingItemStatusActive,
		Details: api.BillingItemDetails{
			ResourceType: api.BillingResourceType(i.ResourceType), ResourceID: i.ResourceID,
			Ranks: i.Ranks, SizeBytes: i.SizeBytes, Engine: i.Engine,
		},
		Metadata: api.BillingItemMetadata{OpenedBy: i.OpenedBy, LastChangedBy: i.ChangedBy, ClosedBy: i.ClosedBy},
	}
	if i.EndedAt != nil {
		ended := timestamp(*i.EndedAt)
		out.EndTimestamp, out.Status = &ended, api.BillingItemStatusClosed
	}
	return out
}

// eventDays is the number of days before today at which a list of events without a
// startDate begins.
const eventDays = 30

// ListBillingEvents implements GET /billing/events: newest first.
func (b *Billing) ListBillingEvents(ctx context.Context, r api.ListBillingEventsRequestObject) (api.ListBillingEventsResponseObject, error) {
	lag := b.lag(ctx)
	caller, err := access.Caller(ctx)
	if err != nil {
		return nil, err
	}
	p, today := r.Params, b.Now().UTC()
	from, to, err := dates(
		cmp.Or(p.StartDate, today.AddDate(0, 0, -eventDays).Format(time.DateOnly)),
		cmp.Or(p.EndDate, today.Format(time.DateOnly)))
	if err != nil {
		return nil, err
	}
	l, err := newListing(ctx, b.Cursors, r, 50)
	if err != nil {
		return nil, err
	}
	if err := b.audit(ctx, caller, "ListBillingEvents", p.UserName); err != nil {
		return nil, err
	}
	rows, next, err := projections.ListBillingEvents(ctx, b.DB, projections.BillingEventQuery{
		BillingFilter: b.filter(caller, l, p.WorkspaceName, p.UserName, p.EventType),
		From:          from, To: to.AddDate(0, 0, 1),
	})
	if err != nil {
		return nil, unreachable(err)
	}
	list := make([]api.BillingEvent, len(rows))
	for i := range rows {
		list[i] = b.event(&rows[i])
	}
	return api.ListBillingEvents200JSONResponse{Headers: api.ListBillingEvents200ResponseHeaders(lag), Body: api.BillingEventList{Events: list, Pagination: l.pagination(len(list), next)}}, nil
}

func (b *Billing) event(n *projections.Named[projections.BillingEvent]) api.BillingEvent {
	e := &n.Row
	return api.BillingEvent{
		BillingEventID: e.BillingEventID, AccountID: e.AccountID, AccountName: n.Names.Account, PlatformName: b.Platform,
		EventName: eventName(e.CauseType), EventType: e.Meter, EventAction: api.BillingEventAction(e.Action), RateName: e.RateName,
		WorkspaceID: nullable(e.WorkspaceID), WorkspaceName: n.Names.Workspace,
		SandboxID: nullable(e.SandboxID), SandboxName: n.Names.Sandbox,
		UserID: nullable(e.UserID), UserName: n.Names.User,
		PreviousCount: e.PreviousCount, CurrentCount: e.CurrentCount, TotalBillableCount: e.BillableCount,
		EventTimestamp: timestamp(e.OccurredAt), ReceivedAt: timestamp(e.ReceivedAt), EventHash: hash(e.Hash),
		Details: api.BillingEventDetails{
			Stream: e.AccountID, Sequence: e.Sequence, PreviousHash: hash(e.PreviousHash),
			CauseID: e.CauseID, CauseType: e.CauseType,
			ResourceType: api.BillingResourceType(e.ResourceType), ResourceID: e.ResourceID,
			Ranks: e.Ranks, SizeBytes: e.SizeBytes, Engine: e.Engine,
		},
	}
}
