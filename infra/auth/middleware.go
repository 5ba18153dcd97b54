package auth

import (
	"context"
	"net/http"
	"strings"

	"netsim/fault"
)

// Fail writes an error as a response.
type Fail = func(w http.ResponseWriter, r *http.Request, err error)

// Middleware wraps a handler.
type Middleware = func(http.Handler) http.Handler

// Authenticate passes on requests with a valid bearer token, with the Caller in
// the context. Any other request gets 401 with a challenge (RFC 6750), or 503
// while tokens cannot be verified.
func (v *Verifier) Authenticate(fail Fail) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			token, err := bearer(r.Header)
			if err != nil {
				fail(w, r, err)
				return
			}
			caller, err := v.Verify(r.Context(), token)
			if err != nil {
				if fault.Is(err, fault.Unauthorized) {
					w.Header().Set("WWW-Authenticate", `Bearer realm="netsim", error="invalid_token"`)
				}
				fail(w, r, err)
				return
			}
			ctx := withRecheck(WithCaller(r.Context(), caller), func(ctx context.Context) error {
				_, err := v.Verify(ctx, token)
				return err
			})
			next.ServeHTTP(w, r.WithContext(ctx))
		})
	}
}

func bearer(h http.Header) (string, error) {
	values := h.Values("Authorization")
	switch len(values) {
	case 0:
		return "", fault.New(fault.Unauthorized, "a bearer token is required")
	case 1:
	default:
		return "", fault.New(fault.Unauthorized, "the authorization header must be sent once, got %d", len(values))
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	token = strings.Trim(token, " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return "", fault.New(fault.Unauthorized, "the authorization header must be 'Bearer <token>'")
	}
	return token, nil
}

// Access is the kind of callers that may use an operation.
type Access string

// The access rules (document 1, Authentication).
const (
	AnyCaller   Access = "any"
	ServiceOnly Access = "service" // service tokens; others get 403
)

// Authorize passes on requests whose caller may use the operation according to
// rules; operation returns the name of a request's operation. A request without a
// caller, or for an operation without a rule, is refused as an internal error:
// both are mistakes in the assembly of the service and must not give access.
func Authorize(rules map[string]Access, operation func(*http.Request) string, fail Fail) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := allow(rules, operation(r), r); err != nil {
				fail(w, r, err)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

func allow(rules map[string]Access, operation string, r *http.Request) error {
	caller, ok := CallerFrom(r.Context())
	if !ok {
		return fault.New(fault.Internal, "operation %q is reached without authentication", operation)
	}
	switch rules[operation] {
	case AnyCaller:
		return nil
	case ServiceOnly:
		if !caller.Service {
			return fault.New(fault.Forbidden, "a service token is required")
		}
		return nil
	}
	return fault.New(fault.Internal, "operation %q has no access rule", operation)
}
