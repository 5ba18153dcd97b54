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

	"github.com/jackc/pgx/v5"

	"netsim/events"
	"netsim/infra/devissuer"
)

const (
	pageSize     = 100
	listClients  = 16
	pacedPages   = 2000 // a second, at which the design wants its p99
	simulations  = "/api/v1/simulations"
	rebuiltModel = "rebuilt"
)

// lists fills a log with a long history, measures how fast the projector tells
// it, and then the pages of the list that comes of it.
func (b *bench) lists(ctx context.Context) (err error) {
	s, err := b.startStack(ctx, false)
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
	// Without reactors and workers, which would begin to run the history.
	serving, err := s.serve(ctx, "api,projector")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, serving.stop()) }()
	return b.pages(ctx, s, serving, h)
}

// page is a page of the list that is asked for again and again.
type page struct {
	name    string
	query   url.Values
	reach   string
	paced   bool
	clients int // 0 is listClients
}

// pages measures pages of the list, each asked for alone.
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
	const fast, late = "≥ 4,000 pages/s", "p99 ≤ 5 ms"
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
		{name: "search, 1 in 100", query: url.Values{"search": {"sweep07"}}, reach: fast},
		{name: "search, 1 in 10,000, one client", query: url.Values{"search": {"needle"}}, reach: fast, clients: 1},
	}
	walks, err := b.indexWalk(ctx, s)
	if err != nil {
		return err
	}
	empty, err := s.emptyLimit(ctx, listClients, "GET", nil, b.limit)
	if err != nil {
		return err
	}
	for _, k := range kinds {
		if err := b.list(ctx, s, serving, size, k, walks, empty); err != nil {
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
	got, costs, err := b.under(ctx, s, serving.process, serving.ops, name, p, each(conns, func(_ int, c *conn) client {
		return client{do: func() error {
			_, err := c.want(http.StatusOK, "GET", path, nil)
			return err
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

// walked is what a walk of the whole list found.
type walked struct {
	pages        int
	middle, last string // cursors of these pages
	perSecond    float64
}

// walk follows the list to its end and checks that it has everything.
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
		err = fmt.Errorf("the list has %d simulations, there are %d", found, want)
	}
	return w, err
}

// indexWalk is how many select-only transactions a second there are that read
// the rows of a page as the index of the list has them.
func (b *bench) indexWalk(ctx context.Context, s *stack) (limit, error) {
	var at time.Time
	var account, id string
	err := s.pool.QueryRow(ctx, `SELECT account_id, created_at, id FROM simulations OFFSET $1 LIMIT 1`, b.simulations/2).Scan(&account, &at, &id)
	if err != nil {
		return limit{}, err
	}
	clients := make([]client, listClients)
	for i := range clients {
		clients[i].do = func() error {
			rows, err := s.pool.Query(ctx, `
				SELECT item FROM simulations WHERE account_id = $1 AND deleted = '' AND (created_at, id) < ($2, $3)
				ORDER BY created_at DESC, id DESC LIMIT 101`, account, at, id)
			if err != nil {
				return err
			}
			var item string
			_, err = pgx.ForEachRow(rows, []any{&item}, func() error { return nil })
			return err
		}
	}
	got, err := load(ctx, plan{warm: b.limit / 4, run: b.limit}, clients)
	return limit{Name: "the index walk as SQL alone", Value: got.PerSecond}, err
}
