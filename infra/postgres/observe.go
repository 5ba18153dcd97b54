package postgres

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Observe returns a pool option that reports every call. The operation is BATCH,
// COPY or the first keyword of the statement.
func Observe(report func(operation string, took time.Duration, err error)) func(*pgxpool.Config) {
	return func(c *pgxpool.Config) { c.ConnConfig.Tracer = tracer{report} }
}

type tracer struct {
	report func(operation string, took time.Duration, err error)
}

type (
	callKey struct{}
	call    struct {
		operation string
		began     time.Time
	}
)

func (t tracer) start(ctx context.Context, operation string) context.Context {
	return context.WithValue(ctx, callKey{}, call{operation, time.Now()})
}

func (t tracer) end(ctx context.Context, err error) {
	if c, ok := ctx.Value(callKey{}).(call); ok {
		t.report(c.operation, time.Since(c.began), err)
	}
}

// TraceQueryStart implements pgx.QueryTracer.
func (t tracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	return t.start(ctx, operationOf(data.SQL))
}

// TraceQueryEnd implements pgx.QueryTracer.
func (t tracer) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryEndData) {
	t.end(ctx, data.Err)
}

// TraceBatchStart implements pgx.BatchTracer.
func (t tracer) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return t.start(ctx, "BATCH")
}

// TraceBatchQuery implements pgx.BatchTracer.
func (tracer) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

// TraceBatchEnd implements pgx.BatchTracer.
func (t tracer) TraceBatchEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchEndData) {
	t.end(ctx, data.Err)
}

// TraceCopyFromStart implements pgx.CopyFromTracer.
func (t tracer) TraceCopyFromStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceCopyFromStartData) context.Context {
	return t.start(ctx, "COPY")
}

// TraceCopyFromEnd implements pgx.CopyFromTracer.
func (t tracer) TraceCopyFromEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceCopyFromEndData) {
	t.end(ctx, data.Err)
}

// operationOf returns the first keyword of a statement, or _OTHER for an uncommon
// one, so that the set of operations is small.
func operationOf(sql string) string {
	for word := range strings.FieldsSeq(sql) {
		switch word = strings.ToUpper(strings.TrimSuffix(word, ";")); word {
		case "SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "BEGIN", "COMMIT", "ROLLBACK", "LISTEN", "LOCK":
			return word
		}
		break
	}
	return "_OTHER"
}
