package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/infra/projector"
)

// backlogAccounts own the workspaces of the backlog of reactions.
const backlogAccounts = 16

// reactionBacklog measures how fast the service reacts to facts that were made
// while no reactor ran: workspaces, each of which opens a billing item. The
// service's CPU time is that until everything is done, less that of a start
// without a backlog.
func (b *bench) reactionBacklog(ctx context.Context) (err error) {
	s, err := b.startStack(ctx, servers{sync: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	if _, err := s.startAndDrain(ctx); err != nil { // the first start also makes topics and tables
		return err
	}
	starting, err := s.startAndDrain(ctx)
	if err != nil {
		return err
	}
	began, err := s.makeBacklog(ctx, b.reactions)
	if err != nil {
		return err
	}
	before := s.cpu()
	before["service"] = starting
	serving, err := s.serve(ctx, allRoles)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, serving.stop()) }()
	name := fmt.Sprintf("reactions, a backlog of %s of %d accounts", plural(b.reactions, "workspace"), backlogAccounts)
	profiled := make(chan error, 1)
	go func() { profiled <- b.profile(ctx, serving.ops, name, b.run) }()
	if _, err := s.drain(ctx); err != nil {
		return errors.Join(err, serving.complaint())
	}
	costs := s.since(before, b.reactions, serving.process)
	all, err := s.reacted(ctx, began)
	if err := errors.Join(err, <-profiled); err != nil {
		return err
	}
	if len(all) != b.reactions {
		return fmt.Errorf("%d of %d workspaces have a billing event", len(all), b.reactions)
	}
	produced, err := s.produceLimit(ctx, 1024, partitions, b.limit)
	b.report.add(figure{
		Name: name, Value: rateOf(all), Unit: "/s", CPU: costs,
		Reach: "≥ 6,000/s (then 10,000), ≤ 150 µs of the service's CPU each",
	}, produced)
	return err
}

// startAndDrain starts the service and waits until it has nothing to do. It returns the
// CPU time that the service has used until then, and stops the service.
func (s *stack) startAndDrain(ctx context.Context) (used time.Duration, err error) {
	serving, err := s.serve(ctx, allRoles)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, serving.stop()) }()
	_, err = s.drain(ctx)
	return serving.used(), err
}

// makeBacklog appends the facts and waits until they are projected. It returns the time
// of its first append.
func (s *stack) makeBacklog(ctx context.Context, count int) (began time.Time, err error) {
	serving, err := s.serve(ctx, "api,projector")
	if err != nil {
		return began, err
	}
	defer func() { err = errors.Join(err, serving.stop()) }()
	j, err := s.openEventLog(ctx)
	if err != nil {
		return began, err
	}
	defer j.Close()
	before, err := s.judged(ctx)
	if err != nil {
		return began, err
	}
	began = time.Now()
	if _, err := appendAll(ctx, j, manyWorkspaces(count)); err != nil {
		return began, err
	}
	if err := s.awaitJudged(ctx, before+int64(count)); err != nil {
		return began, err
	}
	return began, s.allFacts(ctx, projector.Live)
}

func manyWorkspaces(count int) iter.Seq2[fact, error] {
	return func(yield func(fact, error) bool) {
		var owners [backlogAccounts]string
		for i := range owners {
			owners[i] = events.NewID(events.AccountPrefix)
		}
		for n := range count {
			s := newStream(events.WorkspacePrefix, "")
			m, err := s.next(createdWorkspace(n, owners[n%len(owners)]), time.Now())
			if !yield(fact{s, m}, err) || err != nil {
				return
			}
		}
	}
}

// reactionLag reports the lag of the reactions to the workspaces that the clients have
// created since a time: the time in the log from a workspace to its billing event.
func (b *bench) reactionLag(ctx context.Context, s *stack, since time.Time, clients int) error {
	all, err := s.reacted(ctx, since)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return errors.New("no reaction is in the log")
	}
	lags := make([]time.Duration, len(all))
	for i, r := range all {
		lags[i] = r.reaction.Sub(r.fact)
	}
	slices.Sort(lags)
	b.report.add(figure{
		Name: fmt.Sprintf("reactions beside %s, lag of each", plural(clients, "client")), Value: rateOf(all), Unit: "/s",
		P50: milliseconds(lags[len(lags)/2]), P99: milliseconds(lags[len(lags)*99/100]), Reach: "lag p99 ≤ 300 ms",
	})
	return nil
}

// reacted has the times when a fact and the fact of its reaction were appended, by the
// broker's clock, in milliseconds.
type reacted struct{ fact, reaction time.Time }

// rateOf returns how many reactions a second there were between the first and
// the last.
func rateOf(all []reacted) float64 {
	first, last := all[0].reaction, all[0].reaction
	for _, r := range all {
		if r.reaction.Before(first) {
			first = r.reaction
		}
		if r.reaction.After(last) {
			last = r.reaction
		}
	}
	return float64(len(all)) / max(last.Sub(first), time.Millisecond).Seconds()
}

// reacted reads from the log the workspaces since a time and their billing events. If a
// reaction has several records, the last one counts: the ones before it are not facts,
// because another record took their sequence.
func (s *stack) reacted(ctx context.Context, since time.Time) (all []reacted, err error) {
	j, err := s.openEventLog(ctx)
	if err != nil {
		return nil, err
	}
	defer j.Close()
	since = since.Truncate(time.Millisecond)
	facts, reactions := map[string]time.Time{}, map[string]time.Time{}
	err = eachRecord(ctx, j, events.Workspaces, func(f events.Frame, at time.Time) {
		if f.Sequence == 1 && !at.Before(since) {
			facts[f.ID] = at
		}
	})
	if err != nil {
		return nil, err
	}
	err = eachRecord(ctx, j, events.Billing, func(f events.Frame, at time.Time) {
		if _, is := facts[f.CauseID]; is {
			reactions[f.CauseID] = at
		}
	})
	for id, at := range reactions {
		all = append(all, reacted{facts[id], at})
	}
	return all, err
}

// eachRecord reads the records of a family.
func eachRecord(ctx context.Context, j *eventlog.Kafka, family events.Family, visit func(events.Frame, time.Time)) error {
	log, err := j.Describe(ctx)
	if err != nil {
		return err
	}
	for _, topic := range log.Topics {
		if topic.Family != family {
			continue
		}
		for n, part := range topic.Partitions {
			for from := part.Start; from < part.End; {
				records, _, err := j.Read(ctx, topic.Name, int32(n), from, readBytes, time.Second)
				if err != nil {
					return err
				}
				for i := range records {
					f, _, err := events.ReadFrame(&records[i].Message)
					if err != nil {
						return err
					}
					visit(f, records[i].Time)
					from = records[i].Offset + 1
				}
			}
		}
	}
	return nil
}
