package operations

import (
	"cmp"
	"context"
	"slices"
	"time"

	"netsim/api"
	"netsim/events"
	"netsim/infra/facts"
	"netsim/infra/projector"
	"netsim/infra/reactor"
	"netsim/reactions"
)

// ReadModels returns the status of each read model, the live one first. The limit bounds
// the partitions of each, those that lag most first; 0 is for all.
func (v *View) ReadModels(ctx context.Context, limit int) (list api.ReadModelList, err error) {
	schemas, err := projector.ReadModels(ctx, v.DB)
	if err != nil {
		return list, err
	}
	described, err := v.describe(ctx)
	if err != nil {
		return list, err
	}
	list.Items = []api.ReadModel{}
	for _, schema := range schemas {
		s, err := v.statusOf(ctx, schema, described)
		if err != nil {
			return list, err
		}
		list.Items = append(list.Items, readModel(&s, limit))
	}
	list.Total = int64(len(list.Items))
	return list, nil
}

func readModel(s *projector.Status, limit int) api.ReadModel {
	slices.SortStableFunc(s.Partitions, func(a, b projector.PartitionStatus) int {
		return byLag(a.LagRecords+a.Parked, b.LagRecords+b.Parked)
	})
	m := api.ReadModel{
		Schema: s.Schema, ThisRelease: s.ThisRelease, Projector: text(s.Projector), Facts: s.Facts,
		LagRecords: s.LagRecords, LagSeconds: s.LagSeconds, ParkedStreams: s.ParkedStreams,
		Obstacles: api.Each(s.Obstacles, func(o *string) string { return text(*o) }),
	}
	partitions, total := first(s.Partitions, limit)
	m.Partitions.Total = total
	m.Partitions.Items = api.Each(partitions, func(p *projector.PartitionStatus) api.ReadModelPartition {
		return api.ReadModelPartition{
			Family: string(p.Family), Partition: int64(p.Partition), Next: p.Next, End: p.End,
			LagRecords: p.LagRecords, LagSeconds: p.LagSeconds, Parked: p.Parked,
		}
	})
	return m
}

// StreamFamilies returns a summary of each family in the live read model, at most limit; 0
// is for all.
func (v *View) StreamFamilies(ctx context.Context, limit int) (list api.StreamFamilyList, err error) {
	live, err := v.live(ctx)
	if err != nil {
		return list, err
	}
	parked, err := projector.ParkedStreams(ctx, v.DB, projector.Live)
	if err != nil {
		return list, err
	}
	var families []api.StreamFamily
	for _, part := range live.Partitions { // ordered by family
		if len(families) == 0 || families[len(families)-1].Family != string(part.Family) {
			families = append(families, api.StreamFamily{Family: string(part.Family), ParkedStreams: parked[part.Family]})
		}
		s := &families[len(families)-1]
		s.Partitions++
		s.Records += part.End
		s.LagRecords += part.LagRecords
		s.LagSeconds = max(s.LagSeconds, part.LagSeconds)
		s.ParkedFacts += part.Parked
	}
	list.Items, list.Total = first(families, limit)
	return list, nil
}

// Parked returns the parked facts that the query selects.
func (v *View) Parked(ctx context.Context, q projector.ParkedQuery) (list api.ParkedFactList, err error) {
	parked, total, err := projector.ReadParked(ctx, v.DB, q)
	if err != nil {
		return list, err
	}
	return api.ParkedFactList{Items: api.Each(parked, parkedFact), Total: total}, nil
}

func parkedFact(p *projector.Parked) api.ParkedFact {
	return api.ParkedFact{
		Stream: p.Stream, Sequence: p.Sequence, Type: p.Type, Family: string(p.Family), Partition: int64(p.Partition),
		Offset: p.Offset, Reason: text(p.Reason),
	}
}

// ParkedContent returns a parked fact with its data, as the log has it.
func (v *View) ParkedContent(ctx context.Context, p api.ParkedFact) (api.ParkedFactContent, error) {
	r, err := facts.At(ctx, v.log(), events.Position{Family: events.Family(p.Family), Partition: int32(p.Partition), Offset: p.Offset})
	return api.ParkedFactContent{
		Stream: p.Stream, Sequence: p.Sequence, Type: p.Type, Family: p.Family, Partition: p.Partition,
		Offset: p.Offset, Reason: p.Reason, Data: string(r.Value),
	}, err
}

// Reactions returns how far each handler is in each partition, at most limit; 0 is for all.
// Partitions with dead letters come first, then those that lag most.
func (v *View) Reactions(ctx context.Context, limit int) (list api.ReactionList, err error) {
	live, err := v.live(ctx)
	if err != nil {
		return list, err
	}
	open, err := v.openLetters(ctx)
	if err != nil {
		return list, err
	}
	judged := make([]reactor.Position, len(live.Partitions))
	for i, part := range live.Partitions {
		judged[i] = reactor.Position{Family: part.Family, Partition: part.Partition, Next: part.Next}
	}
	found, err := reactor.ReadStatus(ctx, v.log(), v.Conn.Config.TopicPrefix, reactions.Families(), judged, open, time.Now())
	if err != nil {
		return list, err
	}
	slices.SortFunc(found, func(a, b reactor.Status) int {
		return cmp.Or(byLag(a.DeadLetters, b.DeadLetters), byLag(a.LagRecords, b.LagRecords),
			cmp.Compare(a.Handler, b.Handler), cmp.Compare(a.Family, b.Family), cmp.Compare(a.Partition, b.Partition))
	})
	found, list.Total = first(found, limit)
	list.DeadLetters = int64(len(open))
	list.Items = api.Each(found, func(s *reactor.Status) api.Reaction {
		return api.Reaction{
			Handler: s.Handler, Family: string(s.Family), Partition: int64(s.Partition), Next: s.Next,
			LagRecords: s.LagRecords, LagSeconds: s.LagSeconds, DeadLetters: s.DeadLetters, DeadSince: timestampOf(s.DeadSince),
		}
	})
	return list, nil
}
