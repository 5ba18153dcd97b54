package projector

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"netsim/events"
	"netsim/infra/columns"
)

// errRetry ends a session; the next one retries the parked facts.
var errRetry = errors.New("an operator asks for parked streams")

// retry retries every parked stream at the start of a session, because a new
// release may be able to apply it or an operator has asked for it. A stream is
// released in one transaction if all of its parked events can be applied;
// otherwise it stays parked.
func (p *Projector) retry(ctx context.Context, partitions []*partitionState) error {
	streams, err := p.parkedStreams(ctx, partitions)
	if err != nil {
		return err
	}
	for _, parked := range streams {
		err := p.unpark(ctx, parked)
		if err != nil && !refusedRows(err) {
			return err
		}
		if err == nil {
			p.Logger.InfoContext(ctx, "a parked stream is released", "stream", parked[0].stream, "events", len(parked))
			continue
		}
		_, err = p.Pool.Exec(ctx, fmt.Sprintf(`
			UPDATE %s SET retry = false, reason = CASE WHEN "offset" = $4 THEN $5 ELSE reason END
			WHERE stream = $1 AND family = $2 AND partition = $3 AND (retry OR "offset" = $4)`, p.table("parked")),
			parked[0].stream, parked[0].at.family, parked[0].at.partition, parked[0].offset, err.Error())
		if err != nil {
			return fmt.Errorf("store why %s stays parked: %w", parked[0].stream, err)
		}
	}
	if _, left, err := ReadParked(ctx, p.Pool, ParkedQuery{Schema: p.Schema, Limit: 1}); err == nil && left > 0 {
		p.Logger.WarnContext(ctx, "facts stay parked", "facts", left)
	}
	return nil
}

// logParked logs each newly parked stream and the reason.
func (p *Projector) logParked(batch []chunk) {
	for _, part := range batch {
		for i := range part.items {
			it := &part.items[i]
			if it.parkReason == "" || it.parkReason == behindParked {
				continue
			}
			p.Logger.Error("a stream is parked", "stream", it.frame.Stream, "type", it.frame.Type, "sequence", it.frame.Sequence,
				"family", part.at.family, "partition", part.at.partition, "offset", it.record.Offset, "reason", it.parkReason)
		}
	}
}

// parkedFact is a fact that has not been applied.
type parkedFact struct {
	at     *partitionState
	offset int64
	stream string
}

// parkedStreams returns the parked facts of each stream, in order.
func (p *Projector) parkedStreams(ctx context.Context, partitions []*partitionState) ([][]parkedFact, error) {
	rows, err := p.Pool.Query(ctx, fmt.Sprintf(
		`SELECT family, partition, "offset", stream FROM %s ORDER BY family, partition, stream, sequence`, p.table("parked")))
	if err != nil {
		return nil, fmt.Errorf("load what is parked: %w", err)
	}
	var streams [][]parkedFact
	var family events.Family
	var partition int32
	var one parkedFact
	_, err = pgx.ForEachRow(rows, []any{&family, &partition, &one.offset, &one.stream}, func() error {
		one.at = nil
		for _, at := range partitions {
			if at.family == family && at.partition == partition {
				one.at = at
			}
		}
		if one.at == nil { // another process's shard
			return nil
		}
		last := len(streams) - 1
		if last < 0 || streams[last][0].stream != one.stream || streams[last][0].at != one.at {
			streams, last = append(streams, nil), last+1
		}
		streams[last] = append(streams[last], one)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load what is parked: %w", err)
	}
	return streams, nil
}

// unpark applies the parked facts of one stream, all or none.
func (p *Projector) unpark(ctx context.Context, parked []parkedFact) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: panic: %v", errRefused, r)
		}
		p.forget()
	}()
	at := parked[0].at
	batch := []chunk{{at: at}}
	for _, one := range parked {
		records, _, err := p.Log.Read(ctx, at.topic, at.partition, one.offset, readBytes, 0)
		if err != nil || len(records) == 0 {
			return fmt.Errorf("read the parked record %s/%d@%d: %w", at.topic, at.partition, one.offset, err)
		}
		var it item
		it.read(at.family, records[0], p.Config)
		it.verdict = events.Accepted
		batch[0].items = append(batch[0].items, it)
	}
	reads := &pgx.Batch{}
	p.streams.load(reads, p.table("streams"), batch, true)
	if err := p.read(ctx, reads); err != nil {
		return fmt.Errorf("load the parked stream: %w", err)
	}
	s := batch[0].items[0].stream
	s.parked, s.touched = false, true
	var facts []events.Fact
	for i := range batch[0].items {
		it := &batch[0].items[i]
		event := events.Event{Frame: it.frame, Hash: it.hash, Data: it.data}
		if !p.fold(s, it, event) {
			return fmt.Errorf("%w: %s", errRefused, it.parkReason)
		}
		facts = append(facts, factOf(at, it, event))
	}
	writes := &columns.Writes{}
	// The offset stays, but another projector must not have moved it.
	leased, args := p.ifLeased(strconv.FormatInt(at.epoch, 10), []any{at.family, at.partition, at.next, at.table})
	writes.Queue(fmt.Sprintf(`
		WITH here AS (
			SELECT FROM %s o
			WHERE o.family = $1 AND o.partition = $2 AND o.next = $3 AND o.tableoid = $4 %s FOR UPDATE)
		SELECT 1 / count(*) FROM here`, p.table("offsets"), leased), args...)
	writes.Queue(fmt.Sprintf(`DELETE FROM %s WHERE stream = $1 AND family = $2 AND partition = $3`, p.table("parked")),
		parked[0].stream, at.family, at.partition)
	if err := p.queueRows(ctx, writes, []*stream{s}, facts); err != nil {
		return err
	}
	if err := writes.Send(ctx, p.Pool); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}
