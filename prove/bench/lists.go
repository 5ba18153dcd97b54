package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"netsim/events"
	"netsim/infra/devissuer"
	"netsim/projections"
)

const (
	pageSize     = 100
	listClients  = 16
	pacedPages   = 2000 // per second, the load of the design's p99 target
	simulations  = "/api/v1/simulations"
	rebuiltModel = "rebuilt"
)

// lists measures how fast the projector applies a burst of facts, how fast it rebuilds
// the read model from a long history, and then how fast the service returns pages of the
// resulting list.
func (b *bench) lists(ctx context.Context) (err error) {
	s, err := b.startStack(ctx, servers{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	if err := b.burstWhileLive(ctx, s); err != nil {
		return err
	}
	h := newHistory(devissuer.DefaultAccount, b.simulations)
	if err := b.rebuild(ctx, s, h); err != nil {
		return err
	}
	// Reactors and workers would run the simulations, so the service has neither.
	serving, err := s.serve(ctx, "api,projector")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, serving.stop()) }()
	return b.pages(ctx, s, serving, h)
}

// page is a page of the list that is requested repeatedly.
type page struct {
	name    string
	query   url.Values
	reach   string
	paced   bool
	clients int // 0 means listClients
}

// pages measures several pages of the list, one page after another.
func (b *bench) pages(ctx context.Context, s *stack, serving *service, h *history) error {
	walked, err := b.walk(serving.target, b.simulations)
	if err != nil {
		return err
	}
	size := plural(b.simulations, "simulation")
	b.report.add(figure{
		Name: fmt.Sprintf("list, %s, every page in turn, one client", size), Value: walked.perSecond, Unit: " pages/s",
	})
	after := url.Values{"createdAfter": {h.created(b.simulations / 2).Format(events.TimeLayout)}}
	const fast, late, searched = "≥ 5,000 pages/s", "p99 ≤ 5 ms", "≥ 1,500 pages/s"
	kinds := []page{
		{name: "page 1", reach: fast}, {name: "page 1", reach: late, paced: true},
		{name: fmt.Sprintf("page %s", number(float64(walked.pages/2))), query: url.Values{"next": {walked.middle}}, reach: fast},
		{name: fmt.Sprintf("page %s", number(float64(walked.pages))), query: url.Values{"next": {walked.last}}, reach: fast},
		{name: fmt.Sprintf("page %s", number(float64(walked.pages))), query: url.Values{"next": {walked.last}}, reach: late, paced: true},
		{name: "status=completed", query: url.Values{"status": {"completed"}}, reach: fast},
		{name: "status=completed,failed", query: url.Values{"status": {"completed,failed"}}, reach: fast},
		{name: "workspaceId", query: url.Values{"workspaceId": {h.workspaces[0].id}}, reach: fast},
		{name: "createdAfter", query: after, reach: fast},
		{name: "sort=name", query: url.Values{"sort": {"name:asc"}}, reach: fast},
		{name: "sort=started", query: url.Values{"sort": {"started:asc"}}, reach: searched},
		{name: "sort=completed", query: url.Values{"sort": {"completed:asc"}}, reach: searched},
		{name: "sort=status", query: url.Values{"sort": {"status:asc"}}, reach: searched},
		{name: "search, 1 in 100", query: url.Values{"search": {"sweep07"}}, reach: searched},
		{name: "search, 1 in 10,000, one client", query: url.Values{"search": {"needle"}}, clients: 1},
	}
	alone, err := b.pageAlone(ctx, s, h)
	if err != nil {
		return err
	}
	empty, err := s.emptyLimit(ctx, listClients, "GET", nil, b.limit)
	if err != nil {
		return err
	}
	for _, k := range kinds {
		if err := b.list(ctx, s, serving, size, k, alone, empty); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) list(ctx context.Context, s *stack, serving *service, size string, k page, limits ...limit) error {
	conns, hangUp, err := serving.dial(cmp.Or(k.clients, listClients))
	if err != nil {
		return err
	}
	defer hangUp()
	if k.query == nil {
		k.query = url.Values{}
	}
	k.query.Set("limit", fmt.Sprint(pageSize))
	path := simulations + "?" + k.query.Encode()
	p := plan{warm: b.warm / 2, run: b.run / 2}
	name := fmt.Sprintf("list, %s, %s", size, k.name)
	if k.paced {
		p.perSecond = pacedPages
		name += fmt.Sprintf(" at %s/s", number(pacedPages))
		limits = nil
	}
	got, costs, err := b.under(ctx, s, services{serving}, name, p, each(conns, func(_ int, c *conn) client {
		return client{do: func() error {
			status, answer, err := c.do("GET", path, nil)
			switch {
			case err != nil || status == http.StatusOK:
				return err
			case status == http.StatusGatewayTimeout:
				return errTimedOut
			}
			return fmt.Errorf("GET %s: status %d: %.300s", path, status, answer)
		}}
	}))
	if err != nil {
		return err
	}
	f := of(name, got, k.reach)
	f.Unit, f.CPU = " pages/s", costs
	b.report.add(f, append([]limit(nil), limits...)...)
	return nil
}

// walked is the result of walk.
type walked struct {
	pages        int
	middle, last string // cursors of these pages
	perSecond    float64
}

// walk reads the list page by page to its end and checks that no simulation is missing.
func (b *bench) walk(t target, want int) (w walked, err error) {
	conns, hangUp, err := t.dial(1)
	if err != nil {
		return w, err
	}
	defer hangUp()
	began, found := time.Now(), 0
	path := fmt.Sprintf("%s?limit=%d", simulations, pageSize)
	for next := path; next != ""; {
		body, err := conns[0].want(http.StatusOK, "GET", next, nil)
		if err != nil {
			return w, err
		}
		found += bytes.Count(body, []byte(`{"id":"`))
		_, end, _ := bytes.Cut(body, []byte(`],"pagination":`))
		var pagination struct{ NextCursor string }
		if err := json.Unmarshal(bytes.TrimSuffix(bytes.TrimSpace(end), []byte("}")), &pagination); err != nil {
			return w, err
		}
		w.pages++
		next = ""
		if cursor := pagination.NextCursor; cursor != "" {
			w.last = cursor
			if w.pages == want/pageSize/2 {
				w.middle = cursor
			}
			next = path + "&next=" + url.QueryEscape(cursor)
		}
	}
	w.perSecond = float64(w.pages) / time.Since(began).Seconds()
	if found != want {
		err = fmt.Errorf("the list has %d simulations, want %d", found, want)
	}
	return w, err
}

// pageAlone measures how often per second PostgreSQL answers the query of a page in the
// middle of the list. The query is the service's own, so both read the same index.
func (b *bench) pageAlone(ctx context.Context, s *stack, h *history) (limit, error) {
	q := projections.SimulationQuery{
		Scope: projections.Scope{AccountID: h.account, Live: true}, Sort: []projections.Order{{Key: "created", Desc: true}},
		Where: []projections.Filter{projections.Within("created_at", time.Time{}, h.created(b.simulations/2))}, Page: projections.Page{Limit: pageSize},
	}
	_, middle, err := projections.ListSimulations(ctx, s.pool, q, nil)
	if err != nil {
		return limit{}, err
	}
	q.Where, q.Page.After = nil, middle
	clients, room := make([]client, listClients), make([][]byte, listClients)
	for i := range clients {
		clients[i].do = func() error {
			items, _, err := projections.ListSimulations(ctx, s.pool, q, room[i])
			room[i] = items.JSON[:0]
			if err == nil && items.Count != pageSize {
				err = fmt.Errorf("the page has %d rows, want %d", items.Count, pageSize)
			}
			return err
		}
	}
	got, err := load(ctx, plan{warm: b.limit / 4, run: b.limit}, clients)
	return limit{Name: "the query of a page alone", Value: got.PerSecond}, err
}
