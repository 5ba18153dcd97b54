package web

import (
	"context"
	"net/http"
	"sync"

	"github.com/google/uuid"

	"netsim/fault"
)

const requestIDHeader = "X-Request-Id"

// request collects the fields that handlers and inner middleware add to a request's
// log line and span.
type request struct {
	id   string
	body *arrival // nil without a body

	mu        sync.Mutex
	scheme    string
	host      string
	account   string
	caller    string
	operation string
	command   string
	outcome   string
	code      fault.Code // of the error in the response
	page      Page       // of an error; nil for none
}

type requestKey struct{}

// requestOf returns the request that Identify stored in ctx, or nil.
func requestOf(ctx context.Context) *request {
	r, _ := ctx.Value(requestKey{}).(*request)
	return r
}

// note changes the request of ctx, if there is one.
func note(ctx context.Context, change func(*request)) {
	if r := requestOf(ctx); r != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		change(r)
	}
}

// NoteCaller records the account and the caller of the request. Both ids must be
// opaque, because they are written to the log and to traces.
func NoteCaller(ctx context.Context, account, caller string) {
	note(ctx, func(r *request) { r.account, r.caller = account, caller })
}

// NoteOperation records which operation of the contract was requested.
func NoteOperation(ctx context.Context, id string) {
	note(ctx, func(r *request) { r.operation = id })
}

// NoteCommand records which command ran for the request, and its outcome. A later
// command of the same request replaces an earlier one; a refused command is always
// the last.
func NoteCommand(ctx context.Context, command, outcome string) {
	note(ctx, func(r *request) { r.command, r.outcome = command, outcome })
}

// Identify gives every request an id: the client's X-Request-Id if it is plain (see
// plainID), otherwise a new UUIDv7. The id is in the response and the log, and
// RequestID returns it. Identify must be outside all other middleware.
func Identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(requestIDHeader)
		if !plainID(id) {
			id = uuid.Must(uuid.NewV7()).String()
		}
		w.Header().Set(requestIDHeader, id)
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), requestKey{}, &request{id: id})))
	})
}

// RequestID returns the id that Identify gave the request, or "".
func RequestID(ctx context.Context) string {
	if r := requestOf(ctx); r != nil {
		return r.id
	}
	return ""
}

// plainID reports whether the id has 1 to 128 letters, digits, dots, dashes and
// underscores. Such an id can be printed anywhere.
func plainID(id string) bool {
	if id == "" || len(id) > 128 {
		return false
	}
	for _, c := range []byte(id) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '-', c == '_':
		default:
			return false
		}
	}
	return true
}
