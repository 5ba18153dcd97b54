package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/infra/projector"
)

// readBytes is the number of bytes that the projector requests in one read.
const readBytes = 4 << 20

// burstWhileLive measures how fast the projector of a running service applies a burst
// of facts.
func (b *bench) burstWhileLive(ctx context.Context, s *stack) (err error) {
	serving, err := s.serve(ctx, "api,projector")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, serving.stop()) }()
	j, err := s.openEventLog(ctx)
	if err != nil {
		return err
	}
	defer j.Close()
	if _, err := s.drain(ctx); err != nil {
		return err
	}
	say("appending %d facts while the projector runs", b.burst)
	before, err := s.judged(ctx)
	if err != nil {
		return err
	}
	began, used := time.Now(), s.cpu(serving.process)
	burst := newHistory(events.NewID(events.AccountPrefix), b.burst*10/24) // a simulation has 2.4 facts
	count, err := appendAll(ctx, j, burst.facts())
	if err != nil {
		return err
	}
	appended := time.Since(began)
	if err := s.awaitJudged(ctx, before+int64(count)); err != nil {
		return err
	}
	took := time.Since(began)
	b.report.add(figure{
		Name: "live burst of facts", Value: float64(count) / took.Seconds(), Unit: " facts/s", Reach: "≥ 60,000 facts/s",
		CPU: s.since(used, count, serving.process),
	},
		limit{Name: "the appends of the same burst", Value: float64(count) / appended.Seconds()})
	return s.allFacts(ctx, projector.Live)
}

// judged returns how many records the projector has judged.
func (s *stack) judged(ctx context.Context) (n int64, err error) {
	err = s.pool.QueryRow(ctx, "SELECT sum(next)::bigint FROM readmodel.offsets").Scan(&n)
	return n, err
}

// awaitJudged waits until the projector has judged at least count records.
func (s *stack) awaitJudged(ctx context.Context, count int64) error {
	for {
		judged, err := s.judged(ctx)
		if err != nil || judged >= count {
			return err
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// allFacts checks that no record was rejected or parked. The bench appends only valid
// facts, so any such record means that the projector did not do the measured work.
func (s *stack) allFacts(ctx context.Context, schema string) error {
	var rejected, parked int
	err := s.pool.QueryRow(ctx, fmt.Sprintf(
		"SELECT (SELECT count(*) FROM %[1]s.rejected), (SELECT count(*) FROM %[1]s.parked)", schema)).Scan(&rejected, &parked)
	if err == nil && rejected+parked > 0 {
		err = fmt.Errorf("%d records were rejected and %d parked", rejected, parked)
	}
	return err
}

// rebuild appends the history while no service runs, measures "netsim readmodel
// rebuild", and makes the result the live read model.
func (b *bench) rebuild(ctx context.Context, s *stack, h *history) error {
	j, err := s.openEventLog(ctx)
	if err != nil {
		return err
	}
	defer j.Close()
	say("appending the facts of %d simulations", h.simulations)
	if _, err := appendAll(ctx, j, h.facts()); err != nil {
		return err
	}
	read, err := b.readLimit(ctx, j)
	if err != nil {
		return err
	}
	say("rebuilding")
	rebuild := &process{cmd: s.tool(ctx, "readmodel", "rebuild", "--once", rebuiltModel)}
	began, used := time.Now(), s.cpu(rebuild)
	if err := rebuild.cmd.Run(); err != nil {
		return fmt.Errorf("rebuild: %w", err)
	}
	took := time.Since(began)
	var facts int64
	if err := s.pool.QueryRow(ctx, "SELECT sum(facts)::bigint FROM "+rebuiltModel+".offsets").Scan(&facts); err != nil {
		return err
	}
	if err := s.allFacts(ctx, rebuiltModel); err != nil {
		return err
	}
	costs := s.since(used, int(facts), rebuild)
	if err := s.tool(ctx, "readmodel", "promote", rebuiltModel).Run(); err != nil {
		return fmt.Errorf("promote: %w", err)
	}
	copied, err := s.copyLimit(ctx, "simulations", 8192, b.limit)
	b.report.add(figure{
		Name:  fmt.Sprintf("rebuild of %s facts, indexes included", number(float64(facts))),
		Value: float64(facts) / took.Seconds(), Unit: " facts/s", Reach: "≥ 100,000 facts/s", CPU: costs,
	}, read, copied)
	return err
}

// readLimit measures how many records per second the event log alone reads, one
// partition after another.
func (b *bench) readLimit(ctx context.Context, j *eventlog.Kafka) (limit, error) {
	log, err := j.Describe(ctx)
	if err != nil {
		return limit{}, err
	}
	began, count := time.Now(), 0
	for _, topic := range log.Topics {
		for n, part := range topic.Partitions {
			for from := part.Start; from < part.End && time.Since(began) < 2*b.limit; {
				records, _, err := j.Read(ctx, topic.Name, int32(n), from, readBytes, time.Second)
				if err != nil {
					return limit{}, err
				}
				if len(records) == 0 {
					continue
				}
				from = records[len(records)-1].Offset + 1
				count += len(records)
			}
		}
	}
	return limit{Name: "records read from the log", Value: float64(count) / time.Since(began).Seconds()}, nil
}

// tool prepares a command of the netsim program.
func (s *stack) tool(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.binaries.service, args...)
	cmd.Env, cmd.Stderr = s.settings(), os.Stderr
	return cmd
}
