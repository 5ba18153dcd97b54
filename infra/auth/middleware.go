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
			ctx := WithCaller(r.Context(), caller)
			if ctx.Value(recheckKey{}) == nil {
				ctx = WithRecheck(ctx, func(ctx context.Context) error {
					_, err := v.Verify(ctx, token)
					return err
				})
			}
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

// The roles of a token, as values of the claim that Config.RolesClaim names. Any other
// value of the claim means nothing here.
const (
	BillingRole  = "billing"
	OperatorRole = "operator"
)

// Access is the kind of callers that may use an operation (document 1, Authentication;
// completions.md section 11).
type Access struct {
	Token string // AnyToken, ServiceToken or OperatorToken
	Role  string // BillingRole if the role opens what else needs a service token
}

// The values of Access.Token.
const (
	AnyToken      = "any"
	ServiceToken  = "service"  // service tokens
	OperatorToken = "operator" // tokens with the role operator, whether a service's or not
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
	var admitted bool
	var needs string
	switch rules[operation] {
	case Access{Token: AnyToken}:
		admitted = true
	case Access{Token: ServiceToken}:
		admitted, needs = caller.Service, "a service token"
	case Access{Token: ServiceToken, Role: BillingRole}:
		admitted, needs = caller.ReadsBilling(), "a service token or the role billing"
	case Access{Token: OperatorToken}:
		admitted, needs = caller.Operator, "the role operator"
	default:
		return fault.New(fault.Internal, "operation %q has no access rule", operation)
	}
	if !admitted {
		return fault.New(fault.Forbidden, "%s is required", needs)
	}
	return nil
}
