package netsim

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"netsim/sdk/go/api"
)

// What a refusal means, for errors.Is. [Error] has the details.
var (
	ErrInvalid      = errors.New("the request is invalid")                // 400, 413, 415, 422, 428
	ErrUnauthorized = errors.New("the token is missing or not accepted")  // 401
	ErrNoCredit     = errors.New("the credit of the account is used up")  // 402
	ErrForbidden    = errors.New("the token may not do this")             // 403
	ErrNotFound     = errors.New("there is no such thing, or no longer")  // 404, 410
	ErrConflict     = errors.New("the state or the version is another")   // 409, 412
	ErrLimited      = errors.New("a quota of the account is used up")     // 429
	ErrUnavailable  = errors.New("the service cannot do it at this time") // 502, 503, 504
)

var meanings = map[int]error{
	400: ErrInvalid, 413: ErrInvalid, 415: ErrInvalid, 422: ErrInvalid, 428: ErrInvalid,
	401: ErrUnauthorized, 402: ErrNoCredit, 403: ErrForbidden, 404: ErrNotFound, 410: ErrNotFound,
	409: ErrConflict, 412: ErrConflict, 429: ErrLimited,
	502: ErrUnavailable, 503: ErrUnavailable, 504: ErrUnavailable,
}

// Error is a refusal of the service.
type Error struct {
	Status     int           // of HTTP
	Code       string        // such as VALIDATION_ERROR; may be empty
	Message    string        // for people
	Field      string        // what Message begins with, if that is a member of the request, such as workload.ranks
	Current    api.EntityTag // the version of the resource, if it is not that of If-Match and the service says which it is
	RequestID  string        // for the operator of the service
	RetryAfter time.Duration // after that, repeating may help; 0 if it will not
	Response   *http.Response
}

func (e *Error) Error() string {
	text := fmt.Sprintf("%s %s: %s (%d", e.Response.Request.Method, e.Response.Request.URL.Path, e.Message, e.Status)
	if e.Code != "" {
		text += " " + e.Code
	}
	if e.RequestID != "" {
		text += ", request " + e.RequestID
	}
	return text + ")"
}

// Is reports whether target is what the refusal means, such as [ErrNotFound].
func (e *Error) Is(target error) bool { return meanings[e.Status] == target }

// again reports whether the service asks for the same request again.
func (e *Error) again() bool {
	switch e.Status {
	case http.StatusConflict, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return e.RetryAfter > 0
	}
	return false
}

var (
	fieldAtFirst   = regexp.MustCompile(`^([a-z]\w*(?:\.\w+|\[\d+\])*) must `)
	currentVersion = regexp.MustCompile(`current version "([^"]+)"`)
)

// refusalOf reads the error of an answer, which may also be that of a proxy in between.
func refusalOf(request *http.Request, response *http.Response, body []byte) *Error {
	var envelope struct {
		Error struct{ Code, Message string } `json:"error"`
	}
	_ = json.Unmarshal(body, &envelope)
	response.Request = request
	e := &Error{
		Status: response.StatusCode, Code: envelope.Error.Code, Message: envelope.Error.Message,
		RequestID: response.Header.Get("X-Request-Id"), RetryAfter: retryAfter(response.Header),
		Response: response,
	}
	if e.Message == "" {
		e.Message = http.StatusText(e.Status)
	}
	if m := fieldAtFirst.FindStringSubmatch(e.Message); m != nil {
		e.Field = m[1]
	}
	if m := currentVersion.FindStringSubmatch(e.Message); m != nil && e.Status == http.StatusPreconditionFailed {
		e.Current = api.EntityTag(strconv.Quote(m[1]))
	}
	return e
}

// retryAfter returns the pause that an answer asks for. A date is compared with the answer's
// own, because the clock of this machine may be wrong.
func retryAfter(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.Atoi(text); err == nil {
		return time.Duration(max(seconds, 0)) * time.Second
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return max(at.Sub(now), time.Second)
}

// RunError is that a simulation ended otherwise than completed. [Failed] returns it.
type RunError struct{ Simulation *api.Simulation }

func (e *RunError) Error() string {
	text := fmt.Sprintf("simulation %s ended as %s", e.Simulation.ID, e.Simulation.Status)
	if e.Simulation.FailureReason != "" {
		text += ": " + e.Simulation.FailureReason
	}
	return text
}

// Failed returns a [RunError] if a simulation has ended and is not completed, and else nil.
func Failed(s *api.Simulation) error {
	if ended(s.Status) && s.Status != api.SimulationStatusCompleted {
		return &RunError{s}
	}
	return nil
}
