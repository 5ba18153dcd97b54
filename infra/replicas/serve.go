package replicas

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/go-chi/chi/v5/middleware"
	"github.com/jackc/pgx/v5/pgconn"

	"netsim/fault"
	"netsim/infra/projector"
	"netsim/infra/web"
)

// Kind is what a request does.
type Kind int

// The kinds of requests.
const (
	Other   Kind = iota // neither takes nor returns a token
	Write               // its 2xx carries a token
	Read                // any database may answer it
	OwnRead             // only the process's own database may answer it
)

// Serve chooses the database for a request, and adds the token to the response.
type Serve struct {
	Reads  *Reads // nil: requests pass unchanged
	Tokens *Tokens
	KindOf func(*http.Request) Kind
	Fail   web.FailFunc
}

// Handle is the middleware. It comes after all checks of the request.
func (s *Serve) Handle(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kind := Other
		if s.Reads != nil {
			kind = s.KindOf(r)
		}
		sent := r.Header.Get(Header)
		switch {
		case kind == Write:
			s.write(w, r, next)
		case kind != Other && sent != "":
			s.read(w, r, next, sent, kind == Read)
		case kind != Other:
			s.own(w, r, next)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// own serves a read without a token. While PostgreSQL does not answer, it is not known which
// read model is live; then the error of the handler counts.
func (s *Serve) own(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if _, known := s.Reads.Watcher.Following(); !known {
		next.ServeHTTP(s.checked(w, r, s.Reads.confirm), r)
		return
	}
	follows, err := s.Reads.begin(r.Context())
	switch {
	case err != nil:
		s.Fail(w, r, err)
	case follows:
		next.ServeHTTP(s.checked(w, r, func(ctx context.Context) error {
			at, err := s.Reads.shown(ctx)
			if err == nil {
				err = s.Reads.settle(ctx, at)
			}
			return err
		}), r)
	default:
		next.ServeHTTP(w, r)
	}
}

// checked returns a writer that sends a response which shows something only after the check.
func (s *Serve) checked(w http.ResponseWriter, r *http.Request, check func(context.Context) error) *headed {
	return before(w, func(status int) bool {
		if !shows(status) {
			return true
		}
		err := check(r.Context())
		if err != nil {
			s.Fail(w, r, err)
		}
		return err == nil
	})
}

// write serves a write.
func (s *Serve) write(w http.ResponseWriter, r *http.Request, next http.Handler) {
	follows, err := s.Reads.begin(r.Context())
	if err != nil {
		s.Fail(w, r, err)
		return
	}
	made := &noted{}
	ctx := context.WithValue(r.Context(), notedKey{}, made)
	next.ServeHTTP(before(w, func(status int) bool {
		if status/100 != 2 {
			return true
		}
		at, exact := made.position()
		if !exact {
			at = at.Join(s.now(ctx))
		}
		if follows {
			if err := s.Reads.settle(context.WithoutCancel(ctx), at); err != nil {
				s.Fail(w, r, err)
				return false
			}
		}
		w.Header().Set(Header, s.Tokens.Seal(at))
		return true
	}), r.WithContext(ctx))
}

// now returns a position of the own database that is at or after all that this process
// has read there. If the database does not answer, it is the last one that the process
// knows of.
func (s *Serve) now(ctx context.Context) projector.Position {
	at, err := s.Reads.shown(ctx)
	if err != nil {
		return s.Reads.Watcher.Position()
	}
	return at
}

// attempt is one attempt to serve a read on a standby.
type attempt struct {
	w      *headed
	failed error // of the standby; the response has not begun
}

type attemptKey struct{}

// read serves a read with a token.
func (s *Serve) read(w http.ResponseWriter, r *http.Request, next http.Handler, sent string, anywhere bool) {
	want, err := s.Tokens.Open(sent)
	if err != nil {
		s.Fail(w, r, err)
		return
	}
	ctx := r.Context()
	chosen := (*run)(nil)
	if anywhere {
		chosen = s.Reads.chooseStandby(ctx, want)
	}
	if chosen != nil {
		if s.onStandby(w, r, next, chosen, want) {
			return
		}
	}
	follows, err := s.Reads.begin(ctx)
	if err == nil {
		err = s.Reads.awaitOwn(ctx, want)
	}
	if err != nil {
		s.Reads.Observe.Read("refused")
		s.Fail(w, r, err)
		return
	}
	s.Reads.Observe.Read("primary")
	next.ServeHTTP(s.showing(w, ctx, want, follows, func(err error) { s.Fail(w, r, err) }), r)
}

// onStandby serves a read on a standby. It returns false, and has sent nothing, if the
// standby failed and the request can be repeated.
func (s *Serve) onStandby(w http.ResponseWriter, r *http.Request, next http.Handler, chosen *run, want projector.Position) (served bool) {
	whole := r.Context()
	ctx := context.WithValue(whole, sourceKey{}, chosen)
	if deadline, ok := whole.Deadline(); ok { // leaves time for the own database
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/2)
		defer cancel()
	}
	a := &attempt{}
	a.w = s.showing(w, ctx, want, false, func(err error) { a.failed = err })
	ctx = context.WithValue(ctx, attemptKey{}, a)
	next.ServeHTTP(a.w, r.WithContext(ctx))
	if a.failed == nil {
		s.Reads.Observe.Read("standby")
		return true
	}
	s.Reads.Observe.Retry(reason(a.failed))
	chosen.of.hurry()
	return false
}

// Repeat wraps the function that answers errors of handlers: a read that a standby failed
// is not answered, but repeated on the own database.
func (s *Serve) Repeat(fail web.FailFunc) web.FailFunc {
	return func(w http.ResponseWriter, r *http.Request, err error) {
		a, ok := r.Context().Value(attemptKey{}).(*attempt)
		if ok && !a.w.begun && fault.CodeOf(err) == fault.Internal {
			a.failed = err
			return
		}
		fail(w, r, err)
	}
}

// reason returns why a standby failed: conflict when its replay cancelled the query.
func reason(err error) string {
	const conflict, recovery = "40001", "40P01"
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && (pg.Code == conflict || pg.Code == recovery) {
		return "conflict"
	}
	return "failed"
}

// showing returns a writer that adds the token of what the response shows. If the position
// cannot be read, the response is dropped and fail is called: without a token the client
// could go back in time with its next read.
func (s *Serve) showing(w http.ResponseWriter, ctx context.Context, want projector.Position, follows bool, fail func(error)) *headed {
	return before(w, func(status int) bool {
		if !shows(status) {
			return true
		}
		at, err := s.Reads.shown(ctx)
		if err == nil && follows {
			err = s.Reads.settle(ctx, at)
		}
		if err != nil {
			fail(err)
			return false
		}
		w.Header().Set(Header, s.Tokens.Seal(at.Join(want)))
		return true
	})
}

// shows reports whether a response says something about a resource, if only that there is
// none.
func shows(status int) bool {
	return status/100 == 2 || slices.Contains([]int{http.StatusNotModified, http.StatusNotFound, http.StatusGone}, status)
}

// headed is a writer that calls set before the header is sent. If set returns false,
// nothing is sent.
type headed struct {
	middleware.WrapResponseWriter
	set     func(status int) bool
	begun   bool
	dropped bool
}

func before(w http.ResponseWriter, set func(status int) bool) *headed {
	wrapped, ok := w.(middleware.WrapResponseWriter)
	if !ok {
		wrapped = middleware.NewWrapResponseWriter(w, 1)
	}
	return &headed{WrapResponseWriter: wrapped, set: set}
}

func (h *headed) WriteHeader(status int) {
	if !h.begun {
		h.begun = true
		h.dropped = !h.set(status)
	}
	if h.dropped {
		return
	}
	h.WrapResponseWriter.WriteHeader(status)
}

func (h *headed) Write(b []byte) (int, error) {
	if !h.begun {
		h.WriteHeader(http.StatusOK)
	}
	if h.dropped {
		return len(b), nil
	}
	return h.WrapResponseWriter.Write(b)
}
