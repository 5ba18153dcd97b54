// Package fault has the errors that clients see: a code, a message that is safe to
// show, and an optional cause that is not. An error without a code is internal, and
// its text never leaves the process.
//
// The codes are those of completions.md section 1.3. Package web maps them to HTTP
// statuses.
package fault

import (
	"errors"
	"fmt"
	"time"
)

// Code is a kind of error, as clients see it.
type Code string

// The codes of completions.md section 1.3.
const (
	MultipleChoices      Code = "MULTIPLE_CHOICES"
	Validation           Code = "VALIDATION_ERROR"
	Unauthorized         Code = "UNAUTHORIZED"
	PaymentRequired      Code = "PAYMENT_REQUIRED"
	Forbidden            Code = "FORBIDDEN"
	NotFound             Code = "NOT_FOUND"
	MethodNotAllowed     Code = "METHOD_NOT_ALLOWED"
	NotAcceptable        Code = "NOT_ACCEPTABLE"
	Conflict             Code = "CONFLICT"
	Gone                 Code = "GONE"
	PreconditionFailed   Code = "PRECONDITION_FAILED"
	PayloadTooLarge      Code = "PAYLOAD_TOO_LARGE"
	UnsupportedMediaType Code = "UNSUPPORTED_MEDIA_TYPE"
	Unprocessable        Code = "UNPROCESSABLE_ENTITY"
	PreconditionRequired Code = "PRECONDITION_REQUIRED"
	RateLimited          Code = "RATE_LIMITED"
	Internal             Code = "INTERNAL_ERROR"
	NotImplemented       Code = "NOT_IMPLEMENTED"
	BadGateway           Code = "BAD_GATEWAY"
	Unavailable          Code = "SERVICE_UNAVAILABLE"
	GatewayTimeout       Code = "GATEWAY_TIMEOUT"

	MappingFileDeletedReference  Code = "MAPPING_FILE_DELETED_REFERENCE"
	MappingFileDeleted           Code = "MAPPING_FILE_DELETED"
	MappingFileHashCollision     Code = "MAPPING_FILE_HASH_COLLISION"
	MappingFileInvalid           Code = "MAPPING_FILE_INVALID"
	MappingParamsLocked          Code = "MAPPING_PARAMS_LOCKED"
	MappingRankCountMismatch     Code = "MAPPING_RANK_COUNT_MISMATCH"
	MappingRequiresChakraApp     Code = "MAPPING_REQUIRES_CHAKRA_APP"
	MappingRequiresTraceset      Code = "MAPPING_REQUIRES_TRACESET"
	TracesetConflictsWithMapping Code = "TRACESET_CONFLICTS_WITH_MAPPING"
)

// Fault is an error with a code. Message is lower case. It names the field and the
// wrong value, and shows no internals.
type Fault struct {
	Code       Code
	Message    string
	RetryAfter time.Duration // when positive, sent as Retry-After
	Quota      *Quota        // the exhausted quota, if that is the reason
	Version    int64         // when positive, the current version, sent as ETag
	Cause      error         // logged, never shown
}

// Quota is the limit of an account, and what remains of it.
type Quota struct {
	Name      string
	Limit     int64
	Remaining int64
	Window    time.Duration // period of the limit; 0: the limit is on what exists at one time
	Unit      string        // "" means requests; else a unit of draft-ietf-httpapi-ratelimit-headers
}

// Exceeded returns the fault for a request that exceeds a quota.
func Exceeded(q Quota, retryAfter time.Duration, format string, args ...any) *Fault {
	q.Remaining = 0
	return &Fault{Code: RateLimited, Message: fmt.Sprintf(format, args...), RetryAfter: retryAfter, Quota: &q}
}

func (f *Fault) Error() string {
	if f.Cause == nil {
		return f.Message
	}
	return f.Message + ": " + f.Cause.Error()
}

func (f *Fault) Unwrap() error { return f.Cause }

// New returns a fault with a message formatted as by fmt.Sprintf.
func New(code Code, format string, args ...any) *Fault {
	return &Fault{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Missing returns the fault for an id that does not exist, or whose existence the
// caller may not know.
func Missing(what string, id any) *Fault {
	return New(NotFound, "%s %v does not exist", what, id)
}

// Unknown returns the fault for a request whose outcome is not known yet. The same
// request with the same idempotency key returns the outcome later.
func Unknown(cause error) *Fault {
	return &Fault{
		Code:       Unavailable,
		Message:    "the outcome is not known yet; repeat the request with the same idempotency key",
		RetryAfter: time.Second,
		Cause:      cause,
	}
}

// CodeOf returns the code of err, or Internal when it has none.
func CodeOf(err error) Code {
	if f, ok := errors.AsType[*Fault](err); ok {
		return f.Code
	}
	return Internal
}

// Is reports whether err has the code.
func Is(err error, code Code) bool { return err != nil && CodeOf(err) == code }
