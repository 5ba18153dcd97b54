package projector

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"netsim/events"
	"netsim/infra/columns"
)

// prepared is a batch that is judged and folded, but not committed.
type prepared struct {
	batch        []chunk
	facts        []events.Fact
	before, next map[*partitionState]position
	verdicts     []judgedTo
	writes       *columns.Writes
	took         time.Duration
	caches       caches
}

// prepare judges and folds a batch on top of the one before, which need not be
// committed: its streams and rows are in the caches. With loadAll it looks up every
// stream that is not cached. After an error, nothing is cached.
func (p *Projector) prepare(ctx context.Context, batch []chunk, loadAll bool) (b *prepared, err error) {
	began := time.Now()
	defer func() {
		refusePanic(recover(), &err)
		if err != nil {
			p.forget()
		}
	}()
	reads := &pgx.Batch{}
	p.cached -= p.streams.load(reads, p.table("streams"), batch, loadAll)
	if err := p.read(ctx, reads); err != nil {
		return nil, fmt.Errorf("load the streams: %w", err)
	}
	facts, touched, next, err := p.judge(batch)
	if err != nil {
		return nil, err
	}
	if err := p.prove(ctx, batch); err != nil {
		return nil, err
	}
	b = &prepared{
		batch: batch, facts: facts, next: next, before: map[*partitionState]position{},
		verdicts: verdictsOf(batch, next), writes: &columns.Writes{CopyFrom: p.CopyFrom},
	}
	if loadAll {
		b.writes.CopyFrom = math.MaxInt
	}
	p.moveOffsets(b.writes, next)
	if err := p.queueRows(ctx, b.writes, touched, facts); err != nil {
		return nil, err
	}
	p.saveVerdicts(b.writes, batch)
	for at, to := range next {
		b.before[at] = at.position
		at.position = to
	}
	b.caches, b.took = p.caches(), time.Since(began)
	return b, nil
}

// undo takes back a prepared batch. The caller undoes those that were prepared on top
// of it first.
func (p *Projector) undo(b *prepared) {
	for at, position := range b.before {
		at.position = position
	}
	p.forget()
}

// commit writes the batch in one transaction. The next batch may be prepared
// meanwhile.
func (p *Projector) commit(ctx context.Context, b *prepared) (err error) {
	began := time.Now()
	defer func() { refusePanic(recover(), &err) }()
	if p.Watcher.isHeardElsewhere() {
		b.writes.Queue(`SELECT pg_notify($1, $2)`, p.channel, p.mark()+notice(b.verdicts))
	}
	if err := b.writes.Send(ctx, p.Pool); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	p.Watcher.committed(b.verdicts, p.isSuperseded())
	p.stats.applied(b)
	p.Observe(countRecords(b.batch), b.took+time.Since(began))
	p.logParked(b.batch)
	p.warnOfForged(ctx, b.batch)
	return nil
}

// refusePanic turns a panic of a fold or of a projection into an error.
func refusePanic(panicked any, err *error) {
	if panicked != nil {
		*err = fmt.Errorf("%w: panic: %v", errRefused, panicked)
	}
}

// applyAgain applies a batch that failed with the error. When a stream that seemed
// to begin in the batch exists, applyAgain judges again with all streams loaded.
// When the rows are refused, it commits record by record and parks those that are
// refused.
func (p *Projector) applyAgain(ctx context.Context, batch []chunk, err error) error {
	if errors.Is(err, errGuessed) || isUniqueViolation(err) {
		err = p.applyLoaded(ctx, batch)
	}
	if err == nil || !refusedRows(err) {
		return err
	}
	p.Logger.ErrorContext(ctx, "a batch was refused; applying it record by record", "error", err)
	for _, part := range batch {
		for i := range part.items {
			one := []chunk{{part.at, part.items[i : i+1]}}
			err := p.applyLoaded(ctx, one)
			if refusedRows(err) {
				part.items[i].refused = err.Error()
				err = p.applyLoaded(ctx, one)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// applyLoaded applies a batch by itself, without an assumption about its streams.
func (p *Projector) applyLoaded(ctx context.Context, batch []chunk) error {
	b, err := p.prepare(ctx, batch, true)
	if err != nil {
		return err
	}
	if err := p.commit(ctx, b); err != nil {
		p.undo(b)
		return err
	}
	return nil
}

// errGuessed says that a verdict rests on a stream that was not looked up.
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
	case "22", "23", "54": // data exception, integrity constraint violation, a row that is too large for an index
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

// queueRows queues the writes of the streams and of the projections.
func (p *Projector) queueRows(ctx context.Context, writes *columns.Writes, touched []*stream, facts []events.Fact) error {
	reads := &pgx.Batch{}
	for _, projection := range p.Projections {
		projection.Load(reads, facts)
	}
	if err := p.read(ctx, reads); err != nil {
		return fmt.Errorf("load the rows: %w", err)
	}
	if err := p.saveStreams(writes, touched); err != nil {
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	for _, projection := range p.Projections {
		if err := projection.Apply(writes, facts); err != nil {
			return fmt.Errorf("%w: %w", errRefused, err)
		}
	}
	return nil
}

// read runs the queued queries.
func (p *Projector) read(ctx context.Context, b *pgx.Batch) error {
	if b.Len() == 0 {
		return nil
	}
	return p.Pool.SendBatch(ctx, b).Close()
}

// moveOffsets queues the compare-and-set of the offsets, which makes a batch
// count once. When a partition is not where it is expected, its shard is leased to
// another process, or another read model was promoted, the count differs and the
// division by zero rolls the transaction back.
func (p *Projector) moveOffsets(writes *columns.Writes, next map[*partitionState]position) {
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
	serving, args := p.ifServing(args)
	writes.Queue(fmt.Sprintf(`
		WITH moved AS (
			UPDATE %s o SET next = u.next, last_record = u.last_record, facts = u.facts, digest = u.digest, sealing = u.sealing
			FROM %s
			WHERE o.family = u.family AND o.partition = u.partition AND o.next = u.expected AND o.tableoid = $%d %s AND %s
			RETURNING 1)
		SELECT 1 / (CASE WHEN count(*) = $%d THEN 1 ELSE 0 END) FROM moved`,
		p.table("offsets"), offsetMoveColumns.From("u"), n+2, leased, serving, n+1), args...)
}

// saveStreams queues the streams that the batch touched.
func (p *Projector) saveStreams(writes *columns.Writes, touched []*stream) error {
	var begun, changed []*streamRow
	for _, s := range touched {
		s.touched = false
		state, err := s.encode()
		if err != nil {
			return fmt.Errorf("encode the state of %s: %w", s.key.stream, err)
		}
		size := len(s.key.stream)
		if state != nil {
			size += len(*state)
		}
		p.cached += size - s.size
		s.size = size
		hash := s.head.Hash // a copy: the next batch may change the head during the commit
		row := &streamRow{
			s.key.stream, string(s.key.family), s.key.partition, s.head.Sequence, hash[:], state, s.parked,
		}
		if s.begins {
			s.begins = false
			begun = append(begun, row)
		} else {
			changed = append(changed, row)
		}
	}
	streamColumns.Begin(writes, p.table("streams"), begun)
	streamColumns.Insert(writes, p.table("streams"), changed, streamColumns.Overwrite(3))
	return nil
}
