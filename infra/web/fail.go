package web

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5/middleware"

	"netsim/fault"
)

// Errors answers requests with errors. Only Fail turns an error into a response.
type Errors struct {
	Log *slog.Logger
	// Outage returns the message for clients if the error means that another server,
	// such as the database, is unavailable, and "" for any other error. It may be nil.
	Outage func(error) string
	// Changes reports whether a request may change something. If it is nil, the method says so.
	Changes func(*http.Request) bool
}

// Fail writes err in the contract's envelope, as problem details (RFC 9457)
// when the request asks for them, or as a page (see Pages). The client sees the code and the message of a
// fault, and "internal error" for any other error. An internal error is logged
// here, once, with the request's id; other 5xx and responses that are cut are logged as
// warnings, 4xx at debug level.
//
// When the response has begun, Fail cuts the connection, so that the client cannot
// mistake a partial response for a complete one; the response to a HEAD has no body that
// could be partial. When the request's body has not arrived
// whole, Fail sends the response at once, and the connection is closed after it.
func (e Errors) Fail(w http.ResponseWriter, r *http.Request, err error) {
	cut := begun(w)
	if cut && r.Method == http.MethodHead {
		return
	}
	f := e.shown(r, err)
	note(r.Context(), func(r *request) { r.code = f.Code })
	e.log(r, f, err, cut)
	if cut {
		panic(http.ErrAbortHandler)
	}

	status := Status(f.Code)
	h := w.Header()
	for _, name := range []string{"Content-Encoding", "Content-Disposition", "ETag", "Location"} {
		h.Del(name) // set for the response that is not sent
	}
	h.Set("Cache-Control", "no-store")
	h.Add("Vary", "Accept")
	if f.RetryAfter > 0 {
		h.Set("Retry-After", strconv.FormatInt(seconds(f.RetryAfter), 10))
	}
	if f.Version > 0 {
		h.Set("ETag", ETag(f.Version))
	}
	if f.Quota != nil {
		announce(h, *f.Quota, f.RetryAfter)
	}
	if status == http.StatusUnauthorized && h.Get("WWW-Authenticate") == "" {
		h.Set("WWW-Authenticate", `Bearer realm="netsim"`)
	}
	var body []byte
	if page := pageOf(r); page != nil {
		h.Set("Content-Type", pageType)
		body = page(status, f.Message)
	} else if wantsProblem(r.Header.Values("Accept")) {
		h.Set("Content-Type", problemType)
		body = encode(problem{
			Type: "about:blank", Title: http.StatusText(status), Status: status,
			Detail: f.Message, Code: f.Code,
		})
	} else {
		h.Set("Content-Type", jsonType)
		body = encode(envelope{Error: inner{Code: f.Code, Message: f.Message}})
	}
	a := arrivalOf(r)
	refused := a != nil && !a.settle()
	if refused {
		h.Set("Connection", "close")
	}
	writeBody(w, r, status, body)
	if refused {
		a.answered()
	}
}

// begun reports whether the response has begun.
func begun(w http.ResponseWriter) bool {
	for {
		switch wrapped := w.(type) {
		case middleware.WrapResponseWriter:
			return wrapped.Status() != 0
		case interface{ Unwrap() http.ResponseWriter }: // such as that of Streams
			w = wrapped.Unwrap()
		default:
			return false
		}
	}
}

// envelope is the error body of completions.md section 1.3.
type envelope struct {
	Error inner `json:"error"`
}

type inner struct {
	Code    fault.Code `json:"code"`
	Message string     `json:"message"`
}

// problem is the error body of RFC 9457.
type problem struct {
	Type   string     `json:"type"`
	Title  string     `json:"title"`
	Status int        `json:"status"`
	Detail string     `json:"detail"`
	Code   fault.Code `json:"code"`
}

// shown returns the fault that the client sees.
func (e Errors) shown(r *http.Request, err error) *fault.Fault {
	if f, ok := errors.AsType[*fault.Fault](err); ok && f.Code != fault.Internal {
		return f
	}
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return fault.New(fault.PayloadTooLarge, "the request body is larger than %d bytes", tooLarge.Limit)
	}
	timedOut := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
	outage := ""
	if e.Outage != nil {
		outage = e.Outage(err)
	}
	switch changes := !safe(r.Method) && (e.Changes == nil || e.Changes(r)); {
	case (timedOut || outage != "") && changes:
		return fault.Unknown(nil)
	case outage != "":
		return &fault.Fault{Code: fault.Unavailable, Message: outage, RetryAfter: time.Second}
	case timedOut && safe(r.Method):
		return fault.New(fault.GatewayTimeout, "the request took too long")
	case timedOut: // the contract has no 504 for a POST
		return &fault.Fault{Code: fault.Unavailable, Message: "the request took too long", RetryAfter: time.Second}
	}
	return fault.New(fault.Internal, "internal error")
}

func (e Errors) log(r *http.Request, f *fault.Fault, err error, cut bool) {
	level, message := slog.LevelDebug, "request refused"
	switch status := Status(f.Code); {
	case status == http.StatusInternalServerError:
		level, message = slog.LevelError, "internal error"
	case cut:
		level, message = slog.LevelWarn, "response cut off"
	case status > http.StatusInternalServerError:
		level, message = slog.LevelWarn, "request not served"
	}
	e.Log.LogAttrs(r.Context(), level, message,
		slog.String("requestId", RequestID(r.Context())),
		slog.String("method", r.Method),
		slog.String("route", route(r)),
		slog.Any("error", err))
}

// safe reports whether the method only reads.
func safe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

// encode encodes the bodies of this package, which cannot fail.
func encode(body any) []byte {
	b, _ := json.Marshal(body)
	return append(b, '\n')
}

func writeBody(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		w.Write(body)
	}
}
