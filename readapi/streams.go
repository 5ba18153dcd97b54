package readapi

import (
	"cmp"
	"context"
	"encoding/json"
	"strconv"

	"netsim/api"
	"netsim/fault"
	"netsim/infra/facts"
	"netsim/infra/web"
	"netsim/projections"
	"netsim/readapi/access"
	past "netsim/stream/history"
)

// Streams implements GET /streams/{stream_id} and GET /causes/{correlation_id}.
type Streams struct {
	*access.Access

	History *past.History
	Cursors *web.Cursors
	Billing bool // whether billing has operations: the flag enable_billing_endpoints
}

// GetStream implements GET /streams/{stream_id}.
func (s *Streams) GetStream(ctx context.Context, r api.GetStreamRequestObject) (api.GetStreamResponseObject, error) {
	l, err := newListing(ctx, s.Cursors, r, 50)
	if err != nil {
		return nil, err
	}
	from := cmp.Or(r.Params.From, 1)
	if l.page.After != nil {
		if from, err = strconv.ParseInt(l.page.After[0], 10, 64); err != nil || from < 1 {
			return nil, errCursor()
		}
	}
	rule, owner, err := s.AdmitStream(ctx, r.StreamID, s.Billing)
	if err != nil {
		return nil, err
	}
	page, err := s.History.Read(ctx, past.Query{
		Stream: r.StreamID, From: from, Limit: l.page.Limit, States: r.Params.State,
		Sees: func(f *facts.Fact) bool { return rule.Has(f.Type, f.Stream, owner) },
	})
	if err != nil {
		return nil, err
	}
	var next []string
	if page.Next > 0 {
		next = []string{strconv.FormatInt(page.Next, 10)}
	}
	return api.GetStream200JSONResponse{
		Stream: page.Head.Stream, Sequence: page.Head.Sequence, Parked: page.Head.Parked != nil,
		Facts: api.Each(page.Facts, StreamFact), Pagination: l.pagination(len(page.Facts), next),
	}, nil
}

// StreamFact returns a fact as the contract shows it.
func StreamFact(f *past.Fact) api.StreamFact {
	view := api.StreamFact{
		ID: f.ID, Type: f.Type, DataVersion: int64(f.DataVersion), Sequence: f.Sequence,
		Time: timestamp(f.Time), RecordedTime: timestamp(f.RecordedAt),
		Hash: hash(f.Hash.String()), PreviousHash: hash(f.PreviousHash.String()), Position: positionOf(&f.Fact),
		Actor: f.Actor, CorrelationID: f.CorrelationID, CauseID: f.CauseID, Before: f.Before, After: f.After,
	}
	if json.Valid(f.Record.Value) {
		view.Data = f.Record.Value
	} else {
		view.DataBase64 = f.Record.Value
	}
	return view
}

func positionOf(f *facts.Fact) api.LogPosition {
	return api.LogPosition{Family: api.EventFamily(f.Family), Partition: int64(f.Partition), Offset: f.Offset}
}

// ListCauses implements GET /causes/{correlation_id}.
func (s *Streams) ListCauses(ctx context.Context, r api.ListCausesRequestObject) (api.ListCausesResponseObject, error) {
	l, err := newListing(ctx, s.Cursors, r, 100)
	if err != nil {
		return nil, err
	}
	rule := access.Streams(l.caller, s.Billing)
	found, err := s.History.Causes(ctx, past.CauseQuery{
		CorrelationID: r.CorrelationID, Page: l.page, Knows: rule.Knows,
		Sees: func(f *facts.Fact, owner projections.Owner) bool { return rule.Has(f.Type, f.Stream, owner) },
	})
	if err != nil {
		return nil, err
	}
	if l.page.After == nil && found.Next == nil && len(found.Nodes)+found.Hidden == 0 {
		return nil, fault.Missing("request", r.CorrelationID)
	}
	return api.ListCauses200JSONResponse{
		CorrelationID: r.CorrelationID, Hidden: int64(found.Hidden),
		Nodes: api.Each(found.Nodes, causeNode), Pagination: l.pagination(len(found.Nodes), found.Next),
	}, nil
}

func causeNode(n *past.Node) api.CauseNode {
	return api.CauseNode{
		ID: n.ID, Type: n.Type, Stream: n.Stream, Sequence: n.Sequence, Time: timestamp(n.Time),
		Position: positionOf(&n.Fact), Actor: n.Actor, CauseID: n.CauseID, ParentID: n.Parent,
	}
}
