package checkpoints

import (
	"context"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"

	"netsim/events"
	"netsim/infra/postgres"
	"netsim/infra/projector"
	"netsim/internal/teststack"
)

// BenchmarkSpool spools the heads of a million streams in 28 partitions, as a log
// checkpoint does before it is published.
func BenchmarkSpool(b *testing.B) {
	const streams = 1_000_000
	pool, err := postgres.Open(b.Context(), teststack.Postgres(b), projector.Live, 2)
	if err != nil {
		b.Fatal(err)
	}
	defer pool.Close()
	tables, err := os.ReadFile("../../infra/projector/schema.sql")
	if err != nil {
		b.Fatal(err)
	}
	cut := projector.Cut{}
	for _, family := range events.Families() {
		for number := range int32(4) {
			cut.Parts = append(cut.Parts, projector.CutPart{Family: family, Partition: number})
		}
	}
	for _, sql := range []string{
		`CREATE SCHEMA ` + projector.Live, string(tables),
		`INSERT INTO streams SELECT 'sim_' || upper(substr(md5(n::text), 1, 26)), (array['workspaces', 'configurations', 'simulations', 'tracesets', 'mappingfiles', 'billing', 'checkpoints'])[1 + n % 7],
			n % 4, 1 + n % 9, sha256(n::text::bytea), NULL, false FROM generate_series(1, 1000000) n`,
		`ANALYZE streams`,
	} {
		if _, err := pool.Exec(b.Context(), sql); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		var size int64
		err := pgx.BeginTxFunc(b.Context(), pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead}, func(tx pgx.Tx) error {
			s, err := spool(context.WithoutCancel(b.Context()), tx, cut)
			if err != nil {
				return err
			}
			defer s.close() //nolint:errcheck // temporary
			var found int64
			for _, p := range s.parts {
				found += p.Streams
			}
			size = s.end
			if found != streams {
				b.Fatalf("%d heads, want %d", found, streams)
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(size)/streams, "bytes/stream")
	}
}
