package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"netsim/audit"
	"netsim/billing/focus"
	"netsim/fault"
	"netsim/infra/devissuer"
	"netsim/infra/web"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
	"netsim/readapi"
)

// TestABundleThatFailsIsCut: when a bundle fails while it is sent, the client gets no end
// of the response, and the service logs why.
func TestABundleThatFailsIsCut(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fails  func() error
		logged string
	}{
		"an error":         {func() error { return errors.New("the broker is on fire") }, "the broker is on fire"},
		"a refusal":        {func() error { return fault.New(fault.Conflict, "now a conflict") }, "now a conflict"},
		"an error of code": {func() error { panic("a bug") }, "a bug"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			line := bytes.Repeat([]byte("x"), 70_000)
			said, get := serveBundle(t, func(_ context.Context, out io.Writer) error {
				if _, err := out.Write(line); err != nil {
					return err
				}
				return test.fails()
			})
			for range 2 { // the first one has made room
				reply, err := get(t.Context(), http.MethodGet)
				if err != nil || reply.StatusCode != http.StatusOK {
					t.Fatalf("got %v, %v, want 200 before the failure", reply, err)
				}
				body, err := io.ReadAll(reply.Body)
				reply.Body.Close()
				if !bytes.Equal(body, line) || !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Errorf("got %d bytes, %v; want what was written, and then a cut", len(body), err)
				}
			}
			if !strings.Contains(said(), test.logged) {
				t.Errorf("the log is %q, want %q in it", said(), test.logged)
			}
		})
	}
}

// TestADatasetThatFailsIsCut: a FOCUS dataset that fails before its first part is refused,
// and one that fails later is cut.
func TestADatasetThatFailsIsCut(t *testing.T) {
	t.Parallel()
	var size int
	_, get := serveBilling(t, "focus?startDate=2026-11-01&endDate=2026-11-30", &readapi.Billing{
		Lag: func(context.Context) (time.Duration, error) { return 0, nil },
		WriteDataset: func(_ context.Context, _ focus.Request, to io.Writer) error {
			_, err := to.Write(bytes.Repeat([]byte("x"), size))
			return errors.Join(err, errors.New("the rows do not add up"))
		},
	})
	for range 2 { // the first one has made room
		size = 1000
		reply, err := get(t.Context(), http.MethodGet)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(reply.Body)
		reply.Body.Close()
		if reply.StatusCode != http.StatusInternalServerError || bytes.Contains(body, []byte("xx")) || err != nil {
			t.Errorf("before the first part: got %d with %d bytes, %v; want 500", reply.StatusCode, len(body), err)
		}
		size = 100_000
		if reply, err = get(t.Context(), http.MethodGet); err != nil {
			t.Fatal(err)
		}
		body, err = io.ReadAll(reply.Body)
		reply.Body.Close()
		if reply.StatusCode != http.StatusOK || len(body) == 0 || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("after a part: got %d with %d bytes, %v; want a cut", reply.StatusCode, len(body), err)
		}
	}
}

// TestABundleEndsWithItsClient: what writes a bundle ends when the client goes away.
func TestABundleEndsWithItsClient(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	_, get := serveBundle(t, func(ctx context.Context, out io.Writer) error {
		if _, err := out.Write([]byte("begun")); err != nil {
			return err
		}
		<-ctx.Done()
		ended <- ctx.Err()
		return ctx.Err()
	})
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	reply, err := get(ctx, http.MethodGet)
	if err != nil {
		t.Fatal(err)
	}
	leave()
	reply.Body.Close()
	if err := testwait.Receive(t, ended, "the bundle to end"); !errors.Is(err, context.Canceled) {
		t.Errorf("the bundle ended with %v", err)
	}
}

// TestABundleWithoutABody: the response to HEAD ends well.
func TestABundleWithoutABody(t *testing.T) {
	t.Parallel()
	_, get := serveBundle(t, func(ctx context.Context, out io.Writer) error {
		_, err := out.Write([]byte("line"))
		return errors.Join(err, ctx.Err())
	})
	reply, err := get(t.Context(), http.MethodHead)
	if err != nil {
		t.Fatal(err)
	}
	reply.Body.Close()
	if reply.StatusCode != http.StatusOK || reply.Header.Get("Content-Type") != "application/x-ndjson" {
		t.Errorf("got %d %v", reply.StatusCode, reply.Header)
	}
}

// serveBundle serves a bundle that write writes, behind the whole router. It returns what
// the service has logged so far, and a client with a person's token.
func serveBundle(t *testing.T, write func(context.Context, io.Writer) error) (said func() string, get func(ctx context.Context, method string) (*http.Response, error)) {
	t.Helper()
	return serveBilling(t, "bundle?from=2026-11-01&to=2026-11-30", &readapi.Billing{
		OpenBundle: func(context.Context, string, string, string, bool) (func(context.Context, io.Writer) error, error) {
			return write, nil
		},
	})
}

// serveBilling serves an operation of billing in the same way.
func serveBilling(t *testing.T, path string, billing *readapi.Billing) (said func() string, get func(ctx context.Context, method string) (*http.Response, error)) {
	t.Helper()
	log := &lockedBuffer{}
	address := listenBehind(t, handlers{Billing: billing}, slog.New(slog.NewTextHandler(log, nil)))
	token := teststack.Issuer(t).Token(devissuer.Options{Roles: []string{"billing"}})
	get = func(ctx context.Context, method string) (*http.Response, error) {
		req, err := http.NewRequestWithContext(ctx, method, "http://"+address+"/api/v1/billing/"+path, nil)
		if err != nil {
			return nil, err
		}
		req.Header.Set("Authorization", "Bearer "+token)
		return http.DefaultTransport.RoundTrip(req)
	}
	return log.String, get
}

type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// TestBundleFaults is the table of the statuses of what prevents a bundle.
func TestBundleFaults(t *testing.T) {
	t.Parallel()
	over, end := context.WithCancel(t.Context())
	end()
	for name, test := range map[string]struct {
		ctx    context.Context
		err    error
		status int // 0: not one for clients
		retry  bool
	}{
		"no checkpoint":         {t.Context(), audit.ErrNotCovered, 409, false},
		"no events":             {t.Context(), audit.ErrNoEvents, 409, false},
		"too many costs":        {t.Context(), audit.ErrTooManyCosts, 422, false},
		"another key":           {t.Context(), audit.ErrOtherKey, 503, false},
		"a log that differs":    {t.Context(), audit.ErrDiffers, 0, false},
		"a log without answers": {t.Context(), errors.New("dial: refused"), 503, true},
		"out of time":           {over, errors.New("dial: canceled"), 0, false},
	} {
		got := bundleFault(test.ctx, fmt.Errorf("bundle: %w", test.err))
		f, ok := errors.AsType[*fault.Fault](got)
		switch {
		case !errors.Is(got, test.err):
			t.Errorf("%s: the cause of %v is lost", name, got)
		case ok != (test.status != 0) || ok && (web.Status(f.Code) != test.status || f.RetryAfter > 0 != test.retry):
			t.Errorf("%s: got %+v, want status %d", name, got, test.status)
		}
	}
}
