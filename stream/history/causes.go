package history

import (
	"context"
	"slices"

	"netsim/events"
	"netsim/infra/facts"
	"netsim/projections"
)

// CauseQuery asks for a page of the facts that a request led to.
type CauseQuery struct {
	CorrelationID string
	Page          projections.Page
	// Knows reports whether the caller may know that a stream of the owner has facts.
	// The facts of other streams are neither listed nor counted.
	Knows func(stream string, owner projections.Owner) bool
	// Sees reports whether the caller sees a fact of a stream of the owner.
	Sees func(f *facts.Fact, owner projections.Owner) bool
}

// Node is a fact that a request led to.
type Node struct {
	facts.Fact
	Parent string // id of the fact that it follows from; "" for what the request itself recorded
}

// Causes are a page of the facts that a request led to, in the order of their times.
type Causes struct {
	Nodes  []Node
	Hidden int      // facts that the caller may know of, but not see
	Next   []string // nil on the last page
}

// Causes reads a page of what a request led to. It returns Unavailable if the log does
// not answer.
func (h *History) Causes(ctx context.Context, q CauseQuery) (Causes, error) {
	all, next, err := projections.ListCaused(ctx, h.DB, q.CorrelationID, q.Page, pageBytes)
	if err != nil {
		return Causes{}, err
	}
	owners, err := h.owners(ctx, all)
	if err != nil {
		return Causes{}, err
	}
	all = slices.DeleteFunc(all, func(f projections.CausedFact) bool { return !q.Knows(f.Stream, owners[f.Stream]) })
	read, err := h.read(ctx, all)
	if err != nil {
		return Causes{}, err
	}
	causes := Causes{Next: next}
	for i := range all {
		one := read[placeOf(&all[i].FactAt)]
		if !q.Sees(&one, owners[one.Stream]) {
			causes.Hidden++
			continue
		}
		parent := one.CauseID
		if before := all[i].Before; parent == "" && before != nil {
			at := all[i].FactAt
			at.Offset = *before
			parent = read[placeOf(&at)].ID
		}
		causes.Nodes = append(causes.Nodes, Node{one, parent})
	}
	return causes, nil
}

// owners returns the owners of the streams of the facts, by stream.
func (h *History) owners(ctx context.Context, all []projections.CausedFact) (map[string]projections.Owner, error) {
	var streams []string
	for i := range all {
		streams = append(streams, all[i].Stream)
	}
	slices.Sort(streams)
	found, err := projections.Owners(ctx, h.DB, slices.Compact(streams))
	owners := map[string]projections.Owner{}
	for _, o := range found {
		owners[o.Stream] = projections.Owner{AccountID: o.AccountID, WorkspaceID: o.WorkspaceID}
	}
	return owners, err
}

func placeOf(f *projections.FactAt) events.Position {
	return events.Position{Family: events.Family(f.Family), Partition: f.Partition, Offset: f.Offset}
}

// read reads the facts, and those before them that are their parents, partition by
// partition.
func (h *History) read(ctx context.Context, all []projections.CausedFact) (map[events.Position]facts.Fact, error) {
	type partition struct {
		family string
		number int32
	}
	parts := map[partition][]projections.FactAt{}
	for i := range all {
		at, in := all[i].FactAt, partition{all[i].Family, all[i].Partition}
		parts[in] = append(parts[in], at)
		if before := all[i].Before; before != nil {
			at.Sequence, at.Offset = at.Sequence-1, *before
			parts[in] = append(parts[in], at)
		}
	}
	read := map[events.Position]facts.Fact{}
	for _, at := range parts {
		slices.SortFunc(at, func(a, b projections.FactAt) int { return int(a.Offset - b.Offset) })
		at = slices.CompactFunc(at, func(a, b projections.FactAt) bool { return a.Offset == b.Offset })
		err := h.each(ctx, at, func(f facts.Fact) error {
			read[events.Position{Family: f.Family, Partition: f.Partition, Offset: f.Offset}] = f
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return read, nil
}
