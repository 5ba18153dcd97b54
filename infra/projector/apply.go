package projector

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"netsim/events"
)

// apply judges a batch and commits it. When a stream that seemed to begin in the
// batch exists, apply judges again with all streams loaded. When PostgreSQL refuses
// the rows, apply commits record by record and parks those that are refused.
func (p *Projector) apply(ctx context.Context, batch []chunk) error {
	err := p.commit(ctx, batch, false)
	if errors.Is(err, errGuessed) || isUniqueViolation(err) {
		err = p.commit(ctx, batch, true)
	}
	if err == nil || !refusedRows(err) {
		return err
	}
	p.Logger.ErrorContext(ctx, "a batch was refused; applying it record by record", "error", err)
	p.forget()
	for _, part := range batch {
		for i := range part.items {
			one := []chunk{{part.at, part.items[i : i+1]}}
			err := p.commit(ctx, one, true)
			if refusedRows(err) {
				p.forget()
				part.items[i].parkReason = err.Error()
				err = p.commit(ctx, one, true)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// errGuessed says that a verdict rests on a stream that was not looked for.
var errGuessed = errors.New("a stream that seemed to begin may exist")

// errRefused marks an error of a projection or of a fold.
var errRefused = errors.New("a projection refused the facts")

// refusedRows reports whether the rows themselves cause the error, rather than
// the connection or the compare-and-set.
func refusedRows(err error) bool {
	if errors.Is(err, errRefused) {
		return true
	}
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || pg.Code == divisionByZero {
		return false
	}
	switch pg.Code[:2] {
	case "22", "23": // data exception, integrity constraint violation
		return true
	}
	return false
}

// divisionByZero is how the compare-and-set fails, see moveOffsets.
const divisionByZero = "22012"

func isUniqueViolation(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pg.Code == "23505"
}

// commit judges the batch and writes it in one transaction. With loadAll it looks
// for every stream that is not cached.
func (p *Projector) commit(ctx context.Context, batch []chunk, loadAll bool) (err error) {
	began := time.Now()
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: panic: %v", errRefused, r)
		}
		if err != nil {
			p.forget()
		}
	}()
	reads := &pgx.Batch{}
	p.streams.load(reads, p.ident(), batch, loadAll)
	if err := p.send(ctx, reads); err != nil {
		return fmt.Errorf("load the streams: %w", err)
	}
	facts, next, err := p.judge(batch)
	if err != nil {
		return err
	}
	writes := &pgx.Batch{}
	p.moveOffsets(writes, next)
	if err := p.queueRows(ctx, writes, batch, facts); err != nil {
		return err
	}
	p.saveVerdicts(writes, batch)
	verdicts := verdictsOf(batch, next)
	if p.Watcher.isHeardElsewhere() {
		writes.Queue(`SELECT pg_notify($1, $2)`, channel(p.Schema), notice(verdicts))
	}
	if err := p.send(ctx, writes); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	p.Watcher.apply(verdicts)
	for at, to := range next {
		at.position = to
	}
	p.cached -= p.streams.trim()
	p.stats.applied(batch, facts)
	p.stats.keeps(len(p.streams), p.cached)
	p.Observe(countRecords(batch), time.Since(began))
	p.logParked(batch)
	p.warnOfForged(ctx, batch)
	return nil
}

// queueRows queues the writes of the streams and of the projections.
func (p *Projector) queueRows(ctx context.Context, writes *pgx.Batch, batch []chunk, facts []events.Fact) error {
	reads := &pgx.Batch{}
	for _, projection := range p.Projections {
		projection.Load(reads, facts)
	}
	if err := p.send(ctx, reads); err != nil {
		return fmt.Errorf("load the rows: %w", err)
	}
	if err := p.saveStreams(writes, batch); err != nil {
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	for _, projection := range p.Projections {
		if err := projection.Apply(writes, facts); err != nil {
			return fmt.Errorf("%w: %w", errRefused, err)
		}
	}
	return nil
}

// send runs the queued statements as one implicit transaction.
func (p *Projector) send(ctx context.Context, b *pgx.Batch) error {
	if b.Len() == 0 {
		return nil
	}
	return p.Pool.SendBatch(ctx, b).Close()
}

// moveOffsets queues the compare-and-set of the offsets, which makes a batch
// count once. When a partition is not where it is expected, its shard is leased to
// another process, or another read model was promoted, the count differs and the
// division by zero rolls the transaction back.
func (p *Projector) moveOffsets(writes *pgx.Batch, next map[*partitionState]position) {
	var moves []*offsetMove
	var table uint32
	for at, to := range next {
		table = at.table
		moves = append(moves, &offsetMove{
			Family: string(at.family), Partition: at.partition, Expected: at.next,
			Next: to.next, LastRecord: to.lastRecord, Facts: to.facts, Digest: to.digest[:], Sealing: to.sealing.String(), Epoch: at.epoch,
		})
	}
	args := offsetMoveColumns.Arrays(moves)
	n := len(args)
	args = append(args, len(moves), table)
	leased, args := p.ifLeased("u.epoch", args)
	writes.Queue(fmt.Sprintf(`
		WITH moved AS (
			UPDATE %s.offsets o SET next = u.next, last_record = u.last_record, facts = u.facts, digest = u.digest, sealing = u.sealing
			FROM %s
			WHERE o.family = u.family AND o.partition = u.partition AND o.next = u.expected AND o.tableoid = $%d %s
			RETURNING 1)
		SELECT 1 / (CASE WHEN count(*) = $%d THEN 1 ELSE 0 END) FROM moved`,
		p.ident(), offsetMoveColumns.From("u"), n+2, leased, n+1), args...)
}

// saveStreams queues the streams that the batch touched.
func (p *Projector) saveStreams(writes *pgx.Batch, batch []chunk) error {
	var begun, changed []*streamRow
	for _, part := range batch {
		for i := range part.items {
			it := &part.items[i]
			s := p.streams[keyOf(part.at, it)]
			if s == nil || !s.touched {
				continue
			}
			s.touched = false
			state, err := s.encode()
			if err != nil {
				return fmt.Errorf("encode the state of %s: %w", it.frame.Stream, err)
			}
			size := len(it.frame.Stream)
			if state != nil {
				size += len(*state)
			}
			p.cached += size - s.size
			s.size = size
			row := &streamRow{
				it.frame.Stream, string(part.at.family), part.at.partition, s.head.Sequence, s.head.Hash[:], state, s.parked,
			}
			if s.begins {
				s.begins = false
				begun = append(begun, row)
			} else {
				changed = append(changed, row)
			}
		}
	}
	streamColumns.Insert(writes, p.ident()+".streams", begun, "")
	streamColumns.Insert(writes, p.ident()+".streams", changed, streamColumns.Overwrite(3))
	return nil
}
