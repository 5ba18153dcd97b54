package engine

import (
	"context"
	"encoding/hex"
	"io"

	"netsim/simulator/snapshot"
)

// Resume continues a run whose state Observer.Snapshot saved. It observes what the
// uninterrupted run observes after that moment, and returns the same result.
// The input and the intervals of observation must be the same; MaxFlows and
// ProgressEvents may differ. From an io.ByteReader it reads no byte beyond the
// state.
//
// If the state is damaged, or is of another input or another version of the engine,
// the error is snapshot.ErrRefused and nothing is observed. Other errors are those of
// Run and of the reader.
func Resume(ctx context.Context, in Input, state io.Reader, observe Observer) (*Result, error) {
	e, err := newEngine(in, observe)
	if err != nil {
		return nil, err
	}
	if err := snapshot.Read(state, e.identity(), e.visit); err != nil {
		return nil, err
	}
	end, err := e.run(ctx)
	if err != nil {
		return nil, err
	}
	return e.finish(end)
}

// save writes the state of the run, between two events.
func (e *engine) save(w io.Writer) error {
	if e.causes.on {
		e.dropCauses()
	}
	return snapshot.Write(w, e.identity(), e.visit)
}

// identity names the engine and the input of a state.
func (e *engine) identity() string {
	if e.fingerprint == "" {
		sum := fingerprint(&e.input, e.options)
		e.fingerprint = hex.EncodeToString(sum[:])
	}
	return "engine " + Version + " input " + e.fingerprint
}

// visit visits every field that a run changes. The others depend on the input
// alone, or are scratch space of one event; state_fields_test.go lists them.
func (e *engine) visit(c *snapshot.Codec) {
	parts := []func(*snapshot.Codec){
		e.visitReports, e.visitCauses, e.visitGroups, e.visitRanks, e.visitReplay, e.visitTraffic,
		e.visitFlows, e.visitLeaving, e.visitResources, e.visitComponents, e.visitFlowlets, e.visitQueue,
	}
	for _, part := range parts {
		part(c)
		if c.Failed() { // later parts index what this one reads
			return
		}
	}
}

func (e *engine) visitGroups(c *snapshot.Codec) {
	snapshot.Each(c, "groups", e.groups, func(g *group) { g.visit(c) })
}

func (e *engine) visitReports(c *snapshot.Codec) {
	snapshot.Int(c, &e.now)
	snapshot.Int(c, &e.reportAt)
	e.progress.Visit(c)
	for _, p := range []struct {
		*period
		observed bool
	}{{&e.links, e.observe.Links != nil}, {&e.beacons, e.observe.Beacon != nil}} {
		if p.observed {
			c.Same("reports", 1)
		} else {
			c.Same("reports", 0)
		}
		snapshot.Int(c, &p.every)
		snapshot.Int(c, &p.count)
	}
	snapshot.Int(c, &e.cover.start)
}

// Visit visits the fields of the progress.
func (p *Progress) Visit(c *snapshot.Codec) {
	for _, v := range []*int64{
		&p.Time, &p.Events, &p.Sends, &p.SendsTotal, &p.Bytes, &p.BytesTotal, &p.Packets, &p.Measured,
		&p.Computations, &p.ComputationsTotal,
	} {
		snapshot.Int(c, v)
	}
	p.LatencySum.visit(c)
	for _, v := range []*int{&p.Ranks, &p.RanksTotal, &p.Collectives, &p.CollectivesTotal} {
		snapshot.Int(c, v)
	}
	c.Text(&p.LastCollective)
}

func (s *Sum) visit(c *snapshot.Codec) {
	snapshot.Uint(c, &s.Hi)
	snapshot.Uint(c, &s.Lo)
}

func (w *work) visit(c *snapshot.Codec) {
	snapshot.Uint(c, &w.hi)
	snapshot.Uint(c, &w.lo)
}

func (l *load) visit(c *snapshot.Codec) {
	snapshot.Int(c, &l.bits)
	snapshot.Int(c, &l.packets)
}

// visitRanks omits the routes, which the next send of a rank finds again.
func (e *engine) visitRanks(c *snapshot.Codec) {
	snapshot.Each(c, "ranks", e.ranks, func(r *rank) {
		phases := 0
		if r.group != none {
			phases = len(e.groups[r.group].plans)
		}
		snapshot.Index(c, &r.phase, none, phases+1)
		for _, v := range []*int32{&r.sent, &r.acked, &r.received} {
			snapshot.Int(c, v)
		}
		snapshot.Uint(c, &r.steps)
		snapshot.Slice(c, &r.early, func(m *early) {
			snapshot.Int(c, &m.phase)
			snapshot.Index(c, &m.step, 0, maxIndex)
		})
		c.Bool(&r.finished)
		if r.group != none && r.phase != none && !r.finished {
			if g := &e.groups[r.group]; r.phase < g.base || int(r.phase-g.base) >= len(g.open) {
				c.Refuse("a rank is in a phase that has not begun")
			}
		}
		d := &r.done
		for _, v := range []*int64{
			&d.Time, &d.BytesSent, &d.BytesReceived, &d.Sends, &d.Receives, &d.Computations, &d.ComputeTime,
		} {
			snapshot.Int(c, v)
		}
	})
}

func (g *group) visit(c *snapshot.Codec) {
	snapshot.Index(c, &g.base, 0, len(g.plans)+1)
	snapshot.Slice(c, &g.open, func(ph *phase) {
		snapshot.Int(c, &ph.start)
		c.Bool(&ph.begun)
		snapshot.Int(c, &ph.ended)
	})
	if int(g.base)+len(g.open) > len(g.plans) {
		c.Refuse("a group has begun %d phases of %d", int(g.base)+len(g.open), len(g.plans))
	}
}

func (e *engine) visitTraffic(c *snapshot.Codec) {
	c.Bool(&e.traffic.over)
	snapshot.Each(c, "clients", e.traffic.sources, func(s *source) {
		snapshot.Uint(c, &s.random)
		snapshot.Int(c, &s.next)
		snapshot.Int(c, &s.open)
	})
}

func (e *engine) visitReplay(c *snapshot.Codec) {
	r := &e.replay
	snapshot.Each(c, "messages", r.delivered, c.Bool)
	snapshot.Each(c, "messages", r.posted, c.Bool)
	snapshot.Each(c, "replayed ranks", r.ranks, func(own *replayer) {
		nodes := len(own.waits)
		snapshot.Each(c, "nodes", own.waits, func(waits *int32) { snapshot.Int(c, waits) })
		snapshot.Int(c, &own.left)
		for _, p := range own.all() {
			snapshot.Slice(c, &p.queue, func(node *int32) { snapshot.Index(c, node, 0, nodes) })
			c.Bool(&p.busy)
			snapshot.Index(c, &p.cause, none, len(e.causes.list))
		}
	})
	id := 0
	snapshot.Each(c, "collectives", r.episodes, func(ep **episode) {
		e.visitEpisode(c, ep, r.Groups[r.Collectives[id].Group].Members)
		id++
	})
}

func (e *engine) visitEpisode(c *snapshot.Codec, at **episode, ranks []int32) {
	open := *at != nil
	if c.Bool(&open); !open {
		return
	}
	if *at == nil {
		*at = &episode{members: make([]member, len(ranks))}
	}
	ep := *at
	snapshot.Int(c, &ep.joined)
	snapshot.Int(c, &ep.ended)
	snapshot.Int(c, &ep.start)
	c.Bool(&ep.begun)
	position := 0
	snapshot.Each(c, "members", ep.members, func(m *member) {
		snapshot.Index(c, &m.node, 0, len(e.replay.ranks[ranks[position]].waits))
		position++
		for _, v := range []*int32{&m.sent, &m.acked, &m.received} {
			snapshot.Int(c, v)
		}
		snapshot.Uint(c, &m.steps)
		c.Bool(&m.active)
		c.Bool(&m.over)
	})
}
