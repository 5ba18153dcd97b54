package netsim

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
)

// transport sends requests of the generated client: with a token, the key of a write and the
// positions that a read has to show, and again if that may help. It returns each refusal as an
// *Error.
type transport struct {
	http      *http.Client
	timeout   time.Duration
	retries   int
	retryFor  time.Duration
	tokens    tokens
	positions positions
}

// onceKey marks the context of requests for a stream. Their callers repeat them.
type onceKey struct{}

var errTimeout = errors.New("the service did not answer in time")

// Do implements [api.HttpRequestDoer].
func (t *transport) Do(r *http.Request) (*http.Response, error) {
	if !reads(r) && r.Header.Get("Idempotency-Key") == "" {
		r.Header.Set("Idempotency-Key", uuid.NewString())
	}
	renewed := false
	for begun, attempt := time.Now(), 0; ; attempt++ {
		token, err := t.tokens.get(r.Context())
		if err != nil {
			return nil, fmt.Errorf("netsim: get a token: %w", err)
		}
		response, err := t.once(r, token)
		if err == nil {
			return response, nil
		}
		refusal, refused := errors.AsType[*Error](err)
		if refused && refusal.Status == http.StatusUnauthorized && !renewed && repeatable(r) && t.tokens.refused(token) {
			renewed = true
			continue
		}
		if refused && refusal.Status == http.StatusBadRequest && strings.Contains(strings.ToLower(refusal.Message), "consistency-token") && t.positions.forget() {
			continue // of a log that was replaced
		}
		pause, again := backoff(attempt), passing(err)
		if refused {
			pause, again = pause+refusal.RetryAfter, refusal.again()
		}
		if !again || !repeatable(r) || attempt >= t.retries || time.Since(begun)+pause > t.retryFor || r.Context().Value(onceKey{}) != nil {
			return nil, err
		}
		if ended := sleep(r.Context(), pause); ended != nil {
			return nil, fmt.Errorf("%w before it could be repeated: %w", ended, err)
		}
	}
}

// once sends a request once. An answer in JSON is read whole, so that one which is cut is lost
// like one that does not come; any other is a stream or a file that the caller reads.
func (t *transport) once(r *http.Request, token string) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	timer := time.AfterFunc(t.timeout, func() { cancel(errTimeout) })
	defer timer.Stop()
	out := r.Clone(ctx)
	if r.GetBody != nil {
		out.Body, _ = r.GetBody() // of bytes in memory
	}
	if token != "" {
		out.Header.Set("Authorization", "Bearer "+token)
	}
	sent := t.positions.set(out)
	response, err := t.http.Do(out)
	if err != nil {
		defer cancel(nil)
		return nil, lost(ctx, err)
	}
	response.Body = &closing{response.Body, cancel}
	raw, _ := r.Context().Value(rawKey{}).(**http.Response)
	if raw != nil {
		*raw = response
	}
	refused := response.StatusCode >= http.StatusBadRequest
	if !refused && !inJSON(response) {
		t.positions.note(r, sent, response)
		return response, nil
	}
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		return nil, fmt.Errorf("%s %s: the answer was cut: %w", r.Method, r.URL.Path, lost(ctx, err))
	}
	t.positions.note(r, sent, response)
	response.Body = io.NopCloser(bytes.NewReader(body))
	if raw != nil {
		shown := *response // the caller reads the body of the other one
		shown.Body = io.NopCloser(bytes.NewReader(body))
		*raw = &shown
	}
	if refused {
		return nil, refusalOf(out, response, body)
	}
	return response, nil
}

// lost returns the error of an attempt, which is errTimeout if that canceled it.
func lost(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errTimeout) {
		return errTimeout
	}
	return err
}

func inJSON(response *http.Response) bool {
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	return kind == "application/json" || strings.HasSuffix(kind, "+json")
}

// closing ends the context of a request with its body.
type closing struct {
	io.ReadCloser
	cancel context.CancelCauseFunc
}

func (c *closing) Close() error {
	defer c.cancel(nil)
	return c.ReadCloser.Close()
}

func reads(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

func repeatable(r *http.Request) bool {
	return r.Context().Err() == nil && (r.Body == nil || r.Body == http.NoBody || r.GetBody != nil)
}

// passing reports whether a request that got no answer may get one later.
func passing(err error) bool {
	if unknown, ok := errors.AsType[*net.DNSError](err); ok && unknown.IsNotFound {
		return false
	}
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	_, noTLS := errors.AsType[tls.RecordHeaderError](err)
	return !untrusted && !noTLS
}

// backoff is the pause after an attempt: any up to 100 ms, and twice that after each further
// one, up to 5 s, so that clients that failed together do not come back together.
func backoff(attempt int) time.Duration {
	return rand.N(min(100*time.Millisecond<<min(attempt, 10), 5*time.Second)) //nolint:gosec // no secret
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// tokens keeps the token of the requests until the service refuses it.
type tokens struct {
	source  func(context.Context) (string, error)
	fixed   bool // the source has only one
	mu      sync.Mutex
	current string
}

func (t *tokens) get(ctx context.Context) (_ string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current == "" {
		t.current, err = t.source(ctx)
	}
	return t.current, err
}

// refused forgets a token, and reports whether there may be another.
func (t *tokens) refused(token string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.fixed && t.current == token {
		t.current = ""
	}
	return !t.fixed
}
