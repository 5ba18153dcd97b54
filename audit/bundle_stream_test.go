package audit

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"netsim/events"
)

// TestBundleRefusesBeforeItWrites: whatever prevents a bundle is known, and named, before
// its first line is written.
func TestBundleRefusesBeforeItWrites(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(w *world, r *Request)
		want   error
	}{
		"no checkpoint after the period": {func(_ *world, r *Request) { r.To = "2026-11-07" }, ErrNotCovered},
		"no checkpoint in the period":    {func(_ *world, r *Request) { r.From, r.To = "2027-01-01", "2027-01-02" }, ErrNotCovered},
		"no event":                       {func(_ *world, r *Request) { r.Account = "acct_00000000000000000000000009" }, ErrNoEvents},
		"more costs than allowed":        {func(_ *world, r *Request) { r.MostCosts = 3 }, ErrTooManyCosts},
		"a changed log":                  {func(w *world, _ *Request) { w.edit(alice, 3, flip) }, ErrDiffers},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, r := fourDays(t), request()
			test.change(w, &r)
			var out bytes.Buffer
			if err := WriteBundle(t.Context(), w.log(), r, w.key, &out); !errors.Is(err, test.want) || out.Len() > 0 {
				t.Errorf("got %v and %d bytes, want %q and none", err, out.Len(), test.want)
			}
		})
	}
}

func flip(r *events.Record) { r.Value[5] ^= 1 }

// TestABundleThatFailsHasNoSeal: when the log changes, the reader ends or the client goes
// away while a bundle is written, there is an error, and what was written has no seal.
func TestABundleThatFailsHasNoSeal(t *testing.T) {
	t.Parallel()
	gone := errors.New("the client is gone")
	for name, test := range map[string]struct {
		change func(w *world, end context.CancelFunc) io.Writer // nil writes to a buffer
		want   error
	}{
		"the log changes":      {func(w *world, _ context.CancelFunc) io.Writer { w.edit(alice, 3, flip); return nil }, ErrDiffers},
		"the rates change":     {func(w *world, _ context.CancelFunc) io.Writer { w.edit(testPlatform, 1, flip); return nil }, ErrDiffers},
		"the context ends":     {func(_ *world, end context.CancelFunc) io.Writer { end(); return nil }, context.Canceled},
		"the client goes away": {func(*world, context.CancelFunc) io.Writer { return failing{gone} }, gone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := fourDays(t)
			ctx, end := context.WithCancel(t.Context())
			defer end()
			log := w.log()
			log.Reader = heeding{log.Reader}
			b, err := OpenBundle(ctx, log, request(), w.key)
			if err != nil {
				t.Fatal(err)
			}
			var written bytes.Buffer
			out := test.change(w, end)
			if out == nil {
				out = &written
			}
			if err := b.Write(ctx, out); !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
			if bytes.Contains(written.Bytes(), []byte(`"kind":"seal"`)) {
				t.Error("the bundle has a seal")
			}
		})
	}
}

// heeding is a reader that ends with its context.
type heeding struct{ Reader }

func (h heeding) Read(ctx context.Context, topic string, partition int32, from int64, maxBytes int, wait time.Duration) ([]events.Record, int64, error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	return h.Reader.Read(ctx, topic, partition, from, maxBytes, wait)
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
