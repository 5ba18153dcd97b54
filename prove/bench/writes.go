package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/infra/devissuer"
	"netsim/infra/postgres"
	"netsim/infra/projector"
	"netsim/infra/writelog"
)

// checkEvery is the number of creates for each workspace that is read back.
const checkEvery = 32

// writes measures commands on a broker with or without fsync, and the memory of the
// service.
func (b *bench) writes(ctx context.Context, sync bool) (err error) {
	s, err := b.startStack(ctx, servers{sync: sync})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	serving, err := s.serve(ctx, allRoles)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, serving.stop()) }()
	with := map[bool]string{true: "fsync", false: "no fsync"}[sync]
	if sync {
		if err := b.nothingToDo(ctx, s, serving); err != nil {
			return err
		}
	}
	// The hot stream is measured first. Each create opens a billing item, which keeps
	// the reactor busy for a while.
	made := 0
	for _, clients := range b.clients[1:] {
		if err := b.hotStream(ctx, s, serving, with, clients); err != nil {
			return err
		}
		made++
	}
	reach := map[string]string{
		"fsync1":    "p50 ≤ 2 ms, p99 ≤ 8 ms, faster than Watermill alone",
		"fsync64":   "≥ 3,000/s (then 5,000), p99 ≤ 40 ms",
		"fsync1024": "≥ 6,000/s (then 12,000)",
	}
	for _, clients := range b.clients {
		began := time.Now()
		n, err := b.creates(ctx, s, serving, with, clients, reach[fmt.Sprint(with, clients)])
		if err != nil {
			return err
		}
		made += n
		if sync && clients == 64 {
			if err := b.reactionLag(ctx, s, began, clients); err != nil {
				return err
			}
		}
	}
	if err := s.countWorkspaces(ctx, made); err != nil {
		return err
	}
	if !sync {
		return b.hotStreamInProcess(ctx, s, 1024)
	}
	return b.memory(serving, "memory, highest under this load", "VmHWM", "≤ 400 MB")
}

func (b *bench) memory(serving *service, name, size, reach string) error {
	mb, err := memoryOf(serving.cmd.Process.Pid, size)
	b.report.add(figure{Name: name, Value: mb, Unit: " MB", Reach: reach})
	return err
}

// nothingToDo measures the memory and the CPU time without requests and work.
func (b *bench) nothingToDo(ctx context.Context, s *stack, serving *service) error {
	if _, err := s.drain(ctx); err != nil {
		return err
	}
	before := s.cpu(serving.process)
	time.Sleep(b.idle)
	after := s.cpu(serving.process)
	if err := b.profile(ctx, serving.ops, "idle", time.Second); err != nil {
		return err
	}
	all, parts := 0.0, []limit(nil)
	for _, name := range []string{"service", "broker", "postgres"} {
		share := 100 * (after[name] - before[name]).Seconds() / b.idle.Seconds()
		all, parts = all+share, append(parts, limit{Name: name + " alone", Value: share, Unit: " %"})
	}
	b.report.add(figure{Name: "idle, CPU of service, broker and PostgreSQL", Value: all, Unit: " % of a core", Reach: "≤ 2 %"}, parts...)
	return b.memory(serving, "idle, memory of the service", "VmRSS", "≤ 60 MB")
}

// creates measures POST /workspaces, which responds when the workspace is visible. It
// returns the number of created workspaces.
func (b *bench) creates(ctx context.Context, s *stack, serving *service, with string, clients int, reach string) (int, error) {
	conns, hangUp, err := serving.dial(clients)
	if err != nil {
		return 0, err
	}
	defer hangUp()
	name := fmt.Sprintf("create to visible, %s, %s", with, plural(clients, "client"))
	got, costs, err := b.under(ctx, s, services{serving}, name, plan{warm: b.warm, run: b.run}, each(conns, createWorkspaces))
	if err != nil {
		return 0, err
	}
	f := of(name, got, reach)
	f.CPU = costs
	produced, err := s.produceLimit(ctx, clients, partitions, b.limit)
	if err != nil {
		return 0, err
	}
	copied, err := s.copyLimit(ctx, "workspaces", clients, b.limit)
	if err != nil {
		return 0, err
	}
	empty, err := s.emptyLimit(ctx, clients, "POST", workspaceBody(1, 1), b.limit)
	for _, p := range allPeers() {
		if with == "fsync" {
			f.beside = append(f.beside, p.measured(clients))
		}
	}
	b.report.add(f, produced, copied, empty)
	return got.Total, err
}

// createWorkspaces returns a client that creates one workspace after another. After
// every checkEvery creates it checks that a GET finds the workspace at once.
func createWorkspaces(n int, c *conn) client {
	count := 0
	var made struct{ ID string }
	return client{
		do: func() error {
			count++
			reply, err := c.want(http.StatusCreated, "POST", "/api/v1/workspaces", workspaceBody(n, count))
			if err == nil && count%checkEvery == 0 {
				err = json.Unmarshal(reply, &made)
			}
			return err
		},
		check: func() error {
			if count%checkEvery != 0 {
				return nil
			}
			_, err := c.want(http.StatusOK, "GET", "/api/v1/workspaces/"+made.ID, nil)
			return err
		},
	}
}

func workspaceBody(client, count int) []byte {
	return fmt.Appendf(nil, `{"name":"workspace %d of client %d","description":"made under load, to be measured"}`, count, client)
}

// countWorkspaces checks that the read model has as many workspaces as were created.
func (s *stack) countWorkspaces(ctx context.Context, made int) error {
	var found int
	if err := s.pool.QueryRow(ctx, "SELECT count(*) FROM workspaces WHERE account_id <> ''").Scan(&found); err != nil {
		return err
	}
	if found != made {
		return fmt.Errorf("%d workspaces were acknowledged, but the read model has %d", made, found)
	}
	return nil
}

// hotStream measures many clients that PATCH one workspace.
func (b *bench) hotStream(ctx context.Context, s *stack, serving *service, with string, clients int) error {
	conns, hangUp, err := serving.dial(clients)
	if err != nil {
		return err
	}
	defer hangUp()
	reply, err := conns[0].want(http.StatusCreated, "POST", "/api/v1/workspaces", workspaceBody(0, 0))
	if err != nil {
		return err
	}
	var hot struct{ ID string }
	if err := json.Unmarshal(reply, &hot); err != nil {
		return err
	}
	name := fmt.Sprintf("one hot stream, %s, %s", with, plural(clients, "client"))
	got, costs, err := b.under(ctx, s, services{serving}, name, plan{warm: b.warm, run: b.run},
		each(conns, func(n int, c *conn) client {
			count := 0
			return client{do: func() error {
				count++
				_, err := c.want(http.StatusOK, "PATCH", "/api/v1/workspaces/"+hot.ID, workspaceBody(n, count))
				return err
			}}
		}))
	if err != nil {
		return err
	}
	f := of(name, got, map[string]string{"fsync64": "≥ 5,000/s", "fsync1024": "≥ 15,000/s"}[fmt.Sprint(with, clients)])
	f.CPU = costs
	produced, err := s.produceLimit(ctx, clients, 1, b.limit)
	if err != nil {
		return err
	}
	empty, err := s.emptyLimit(ctx, clients, "PATCH", workspaceBody(1, 1), b.limit)
	b.report.add(f, produced, empty)
	return err
}

// hotStreamInProcess measures a hot stream without HTTP. This process runs the
// commands, and the projector of the service judges their events.
func (b *bench) hotStreamInProcess(ctx context.Context, s *stack, clients int) error {
	j, err := s.openEventLog(ctx)
	if err != nil {
		return err
	}
	defer j.Close()
	pool, err := postgres.Open(ctx, s.parts["postgres"].URL, projector.Live, 8)
	if err != nil {
		return err
	}
	defer pool.Close()
	counts, err := writelog.LoadPartitions(ctx, pool)
	if err != nil {
		return err
	}
	watcher := projector.NewWatcher(pool, slog.New(slog.DiscardHandler))
	watching, stop := context.WithCancel(ctx)
	watched := make(chan error, 1)
	go func() { watched <- watcher.Run(watching) }()
	defer func() { stop(); <-watched }()
	handler := &handle.Handler{
		Log: writelog.New(writelog.Config{Pool: pool, EventLog: j, Watcher: watcher, Partitions: counts}), Now: time.Now, Keys: writerKeys(),
	}
	id := events.NewID(events.WorkspacePrefix)
	to, from := handle.Target{Stream: id, PartitionKey: id}, handle.Origin{Actor: "bench"}
	if _, err := handle.Command(ctx, handler, to, from, commands.CreateWorkspace{
		AccountID: devissuer.DefaultAccount, Owner: "bench", Name: "hot",
	}); err != nil {
		return err
	}
	all := make([]client, clients)
	for n := range all {
		count := 0
		all[n] = client{do: func() error {
			count++
			name := fmt.Sprintf("workspace %d of client %d", count, n)
			_, err := handle.Command(ctx, handler, to, from, commands.UpdateWorkspace{ID: id, Name: name})
			return err
		}}
	}
	got, err := load(ctx, plan{warm: b.warm, run: b.run}, all)
	if err != nil {
		return err
	}
	produced, err := s.produceLimit(ctx, clients, 1, b.limit)
	b.report.add(of(fmt.Sprintf("one hot stream, no fsync, %s without HTTP", plural(clients, "caller")), got, "≥ 10,000/s"), produced)
	return err
}
