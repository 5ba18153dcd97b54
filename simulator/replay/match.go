package replay

import (
	"cmp"
	"fmt"
	"slices"

	"netsim/simulator/chakra"
	"netsim/simulator/collective"
	"netsim/simulator/schedule"
)

// Schedule matches the messages and collectives of the ranks, after all are added. The error
// names the rank and the node at fault, such as a node without a counterpart.
func (b *Builder) Schedule() (*schedule.Schedule, error) {
	if err := b.messages(); err != nil {
		return nil, err
	}
	if err := b.collectives(); err != nil {
		return nil, err
	}
	return &b.schedule, nil
}

// messages pairs sends and receives: the k-th send from one rank to another with a tag
// belongs to the k-th receive of these ranks with this tag.
func (b *Builder) messages() error {
	byChannel := func(x, y end) int {
		return cmp.Or(compareChannels(x, y), cmp.Compare(x.node, y.node))
	}
	slices.SortFunc(b.sends, byChannel)
	slices.SortFunc(b.receives, byChannel)
	p := &b.schedule
	p.Messages = make([]schedule.Message, 0, len(b.sends))
	for i := range max(len(b.sends), len(b.receives)) {
		switch {
		case i == len(b.receives) || i < len(b.sends) && compareChannels(b.sends[i], b.receives[i]) < 0:
			s := b.sends[i]
			return fmt.Errorf("rank %d, node %d: the message to rank %d with tag %d is not received", s.from, b.id(s.from, s.node), s.to, s.tag)
		case i == len(b.sends) || compareChannels(b.sends[i], b.receives[i]) > 0:
			r := b.receives[i]
			return fmt.Errorf("rank %d, node %d: the message from rank %d with tag %d is not sent", r.to, b.id(r.to, r.node), r.from, r.tag)
		}
		s, r := b.sends[i], b.receives[i]
		p.Messages = append(p.Messages, schedule.Message{From: s.from, To: s.to, Send: s.node, Receive: r.node, Tag: s.tag})
		sender, receiver := &p.Ranks[s.from].Nodes[s.node], &p.Ranks[s.to].Nodes[r.node]
		sender.Arg, receiver.Arg = int32(i), int32(i)
		if sender.Value != receiver.Value {
			err := b.warn("rank %d, node %d: rank %d sends %d bytes and rank %d receives %d; the sent size counts",
				s.from, sender.ID, s.from, sender.Value, s.to, receiver.Value)
			if err != nil {
				return err
			}
		}
	}
	b.sends, b.receives = nil, nil
	return nil
}

func compareChannels(x, y end) int {
	return cmp.Or(cmp.Compare(x.from, y.from), cmp.Compare(x.to, y.to), cmp.Compare(x.tag, y.tag))
}

func (b *Builder) id(rank, node int32) uint64 { return b.schedule.Ranks[rank].Nodes[node].ID }

// collectives matches the parts of the ranks, and numbers the collectives by their lowest
// rank and its node.
func (b *Builder) collectives() error {
	b.findMembers()
	slices.SortFunc(b.joins, func(x, y join) int {
		return cmp.Or(cmp.Compare(x.group, y.group), cmp.Compare(x.kind, y.kind), cmp.Compare(x.order, y.order), cmp.Compare(x.rank, y.rank))
	})
	var parts [][]join
	for rest := b.joins; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].group == rest[0].group && rest[n].kind == rest[0].kind && rest[n].order == rest[0].order {
			n++
		}
		if err := b.complete(rest[:n]); err != nil {
			return err
		}
		parts = append(parts, rest[:n])
		rest = rest[n:]
	}
	slices.SortFunc(parts, func(x, y []join) int {
		return cmp.Or(cmp.Compare(x[0].rank, y[0].rank), cmp.Compare(x[0].node, y[0].node))
	})
	plans := map[planKey]int32{}
	for _, part := range parts {
		if err := b.number(part, plans); err != nil {
			return err
		}
	}
	b.joins = nil
	return nil
}

// findMembers makes the ranks that use an undefined group its members.
func (b *Builder) findMembers() {
	for i := range b.joins {
		j := &b.joins[i]
		if g := &b.schedule.Groups[j.group]; !b.given[g.Name] {
			g.Members = append(g.Members, j.rank)
		}
	}
	for i := range b.schedule.Groups {
		if g := &b.schedule.Groups[i]; !b.given[g.Name] {
			slices.Sort(g.Members)
			g.Members = slices.Clip(slices.Compact(g.Members))
		}
	}
}

// complete checks that every member takes part in a collective.
func (b *Builder) complete(part []join) error {
	members := b.schedule.Groups[part[0].group].Members
	if len(part) == len(members) {
		return nil
	}
	missing := members[len(members)-1]
	for i, m := range members {
		if i == len(part) || part[i].rank != m {
			missing = m
			break
		}
	}
	j := part[0]
	return fmt.Errorf("rank %d, node %d: rank %d has no %s number %d of process group %q",
		j.rank, b.id(j.rank, j.node), missing, j.kind, j.order+1, b.schedule.Groups[j.group].Name)
}

type planKey struct {
	group int32
	kind  uint8
	bytes int64
}

// number adds a collective to the schedule, with the largest size of its parts.
func (b *Builder) number(part []join, plans map[planKey]int32) error {
	p := &b.schedule
	first := part[0]
	bytes := first.bytes
	for _, j := range part {
		if j.bytes != first.bytes {
			bytes = max(bytes, j.bytes)
		}
	}
	if odd := slices.IndexFunc(part, func(j join) bool { return j.bytes != bytes }); odd >= 0 {
		j := part[odd]
		err := b.warn("rank %d, node %d: %s of process group %q has %d bytes, of others %d; the most count",
			j.rank, b.id(j.rank, j.node), j.kind, p.Groups[j.group].Name, j.bytes, bytes)
		if err != nil {
			return err
		}
	}
	key := planKey{first.group, uint8(first.kind), bytes}
	plan, known := plans[key]
	if !known {
		operation := operationOf(first.kind)
		made, err := schedule.NewPlan(operation, b.options.Algorithms[operation], bytes, len(part))
		if err != nil {
			return fmt.Errorf("rank %d, node %d: %w", first.rank, b.id(first.rank, first.node), err)
		}
		b.bytes += planBytes
		if err := b.fits(0, int(first.rank), b.id(first.rank, first.node)); err != nil {
			return err
		}
		plan = int32(len(p.Plans))
		plans[key] = plan
		p.Plans = append(p.Plans, made)
	}
	for _, j := range part {
		p.Ranks[j.rank].Nodes[j.node].Arg = int32(len(p.Collectives))
	}
	p.Collectives = append(p.Collectives, schedule.Collective{Group: first.group, Plan: plan})
	return nil
}

func operationOf(kind chakra.Collective) string {
	switch kind {
	case chakra.AllReduce:
		return collective.AllReduce
	case chakra.AllGather:
		return collective.AllGather
	case chakra.ReduceScatter, chakra.ReduceScatterBlock:
		return collective.ReduceScatter
	case chakra.AllToAll:
		return collective.AllToAll
	case chakra.Broadcast:
		return collective.Broadcast
	case chakra.Scatter:
		return collective.Scatter
	case chakra.Reduce:
		return schedule.Reduce
	case chakra.Gather:
		return schedule.Gather
	default:
		return schedule.Barrier
	}
}
