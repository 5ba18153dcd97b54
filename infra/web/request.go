package web

import (
	"context"
	"net/http"
	"sync"

	"github.com/google/uuid"

	"netsim/fault"
)

const requestIDHeader = "X-Request-Id"

// request is what the code behind the middleware tells about a request, for the
// line in the log and the span.
type request struct {
	id string

	mu        sync.Mutex
	account   string
	caller    string
	operation string
	command   string
	outcome   string
	code      fault.Code // of the error that it was answered with
}

type requestKey struct{}

// requestOf returns nil outside Identify.
func requestOf(ctx context.Context) *request {
	r, _ := ctx.Value(requestKey{}).(*request)
	return r
}

// note changes what is known of the request, where ctx is that of one.
func note(ctx context.Context, change func(*request)) {
	if r := requestOf(ctx); r != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		change(r)
	}
}

// NoteCaller says whose request it is. Both ids are opaque: they go to the log
// and to traces.
func NoteCaller(ctx context.Context, account, caller string) {
	note(ctx, func(r *request) { r.account, r.caller = account, caller })
}

// NoteOperation says which operation of the contract was requested.
func NoteOperation(ctx context.Context, id string) {
	note(ctx, func(r *request) { r.operation = id })
}

// NoteCommand says which command ran for the request and how it ended. Of
// several commands the last one counts: a refusal ends the request.
func NoteCommand(ctx context.Context, command, outcome string) {
	note(ctx, func(r *request) { r.command, r.outcome = command, outcome })
}

// Identify gives every request an id: the sender's X-Request-Id when it is a
// plain one, else a new UUIDv7. The id is echoed, logged and found by
// RequestID. Identify stands outside all other middleware.
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

// plainID reports whether the id is 1 to 128 letters, digits, dots, dashes and
// underscores, so that it can be printed anywhere.
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
