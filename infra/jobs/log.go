package jobs

import (
	"context"
	"errors"
	"log/slog"
)

// withoutCanceled is a handler for river's lines. River logs as errors the statements of
// its own that are canceled when the workers stop; these lines are left out.
type withoutCanceled struct{ slog.Handler }

// Handle implements slog.Handler.
func (h withoutCanceled) Handle(ctx context.Context, r slog.Record) error {
	canceled := false
	r.Attrs(func(a slog.Attr) bool {
		switch v := a.Value.Any().(type) {
		case error:
			canceled = errors.Is(v, context.Canceled)
		case string:
			canceled = v == context.Canceled.Error()
		}
		return !canceled
	})
	if canceled {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h withoutCanceled) WithAttrs(attributes []slog.Attr) slog.Handler {
	return withoutCanceled{h.Handler.WithAttrs(attributes)}
}

// WithGroup implements slog.Handler.
func (h withoutCanceled) WithGroup(name string) slog.Handler {
	return withoutCanceled{h.Handler.WithGroup(name)}
}
