package projector

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/events"
	"netsim/infra/eventlog"
)

// Position is the first offset that is not judged, of every partition.
type Position map[partitionKey]int64

// Records is how many records are before it.
func (p Position) Records() (n int64) {
	for _, next := range p {
		n += next
	}
	return n
}

// String lists the partitions that have records.
func (p Position) String() string {
	var parts []string
	for key, next := range p {
		if next > 0 {
			parts = append(parts, fmt.Sprintf("%s/%d:%d", key.family, key.partition, next))
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

// ParsePosition reads what String returns.
func ParsePosition(text string) (Position, error) {
	at := Position{}
	for _, part := range strings.Fields(text) {
		family, rest, _ := strings.Cut(part, "/")
		partition, next, _ := strings.Cut(rest, ":")
		p, wrong := strconv.ParseInt(partition, 10, 32)
		n, malformed := strconv.ParseInt(next, 10, 64)
		if !slices.Contains(events.Families(), events.Family(family)) || wrong != nil || malformed != nil || p < 0 || n < 0 {
			return nil, fmt.Errorf("%q is not a position: it must be like workspaces/0:12", part)
		}
		at[partitionKey{events.Family(family), int32(p)}] = n
	}
	return at, nil
}

// reaches reports whether p is at or after the other position in every partition.
func (p Position) reaches(other Position) bool {
	for key, next := range other {
		if p[key] < next {
			return false
		}
	}
	return true
}

// PositionOf returns the position whose partitions are judged up to these offsets, which
// are the first ones that are not judged.
func PositionOf(parts ...events.Position) Position {
	p := Position{}
	for _, at := range parts {
		key := partitionKey{at.Family, at.Partition}
		p[key] = max(p[key], at.Offset)
	}
	return p
}

// Parts lists the partitions that have records, in the order of events.Families. The
// offset of each is the first one that is not judged.
func (p Position) Parts() []events.Position {
	var parts []events.Position
	for key, next := range p {
		if next > 0 {
			parts = append(parts, events.Position{Family: key.family, Partition: key.partition, Offset: next})
		}
	}
	families := events.Families()
	slices.SortFunc(parts, func(a, b events.Position) int {
		return cmp.Or(cmp.Compare(slices.Index(families, a.Family), slices.Index(families, b.Family)), cmp.Compare(a.Partition, b.Partition))
	})
	return parts
}

// Reaches reports whether p is at or after the other position in every partition.
func (p Position) Reaches(other Position) bool { return p.reaches(other) }

// Join returns the least position that reaches both.
func (p Position) Join(other Position) Position {
	return PositionOf(append(p.Parts(), other.Parts()...)...)
}

// ReadPosition reads the position of the read model that the session serves.
func ReadPosition(ctx context.Context, db Querier) (Position, error) {
	return readPosition(ctx, db, "")
}

// ReadLive reads the position of the live read model.
func ReadLive(ctx context.Context, db Querier) (Position, error) {
	return readPosition(ctx, db, Live)
}

// endOf is the end of the log.
func endOf(log eventlog.Description) Position {
	ends := Position{}
	for _, topic := range log.Topics {
		for i, part := range topic.Partitions {
			ends[partitionKey{topic.Family, int32(i)}] = part.End
		}
	}
	return ends
}

// Querier is a connection, a transaction or a pool.
type Querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// readPosition reads the position of the read model in the schema, "" for the one that the
// session serves.
func readPosition(ctx context.Context, db Querier, schema string) (Position, error) {
	rows, err := db.Query(ctx, positionIn(schema))
	if err != nil {
		return nil, fmt.Errorf("read the position of %s: %w", schema, err)
	}
	at, err := collectPosition(rows)
	if err != nil {
		return nil, fmt.Errorf("read the position of %s: %w", schema, err)
	}
	return at, nil
}

func positionIn(schema string) string {
	return `SELECT family, partition, next FROM ` + tableIn(schema, "offsets")
}

func collectPosition(rows pgx.Rows) (Position, error) {
	at := Position{}
	var family events.Family
	var partition int32
	var next int64
	_, err := pgx.ForEachRow(rows, []any{&family, &partition, &next}, func() error {
		at[partitionKey{family, partition}] = next
		return nil
	})
	return at, err
}

// await waits until the running session, with those of other processes, has reached the
// position.
func (p *Projector) await(ctx context.Context, to Position) error {
	return poll(ctx, func() (bool, error) {
		if p.Leases == nil {
			return p.stats.position().reaches(to), nil
		}
		at, err := readPosition(ctx, p.Pool, p.Schema) // other processes project too
		return at.reaches(to), err
	})
}

// poll calls reached every 5 ms until it returns true.
func poll(ctx context.Context, reached func() (bool, error)) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if yes, err := reached(); err != nil || yes {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// runWhile runs sessions while f runs. If they end first, it cancels f's context.
func (p *Projector) runWhile(ctx context.Context, session, f func(context.Context) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	projecting := make(chan error, 1)
	go func() {
		defer stop() // f would wait in vain
		projecting <- p.repeat(ctx, session)
	}()
	err := f(ctx)
	stop()
	if broken := <-projecting; broken != nil {
		return broken
	}
	return err
}
