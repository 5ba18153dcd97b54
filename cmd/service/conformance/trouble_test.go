package conformance_test

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/cmd/settings"
	"netsim/infra/web"
	"netsim/internal/servicetest"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
)

// startBeside starts a second process on the program's servers, with other settings. It
// serves only the API.
func startBeside(t *testing.T, p *servicetest.Program, change func(*settings.Config)) *servicetest.Program {
	t.Helper()
	return servicetest.Start(t, func(own *settings.Config) {
		*own = p.Config
		own.Roles = []string{settings.RoleAPI}
		change(own)
	})
}

// fromMemory reports whether the service answers the operation without the read model, for
// example from the catalogue, by computation, or from the log.
func fromMemory(op operation) bool {
	return slices.Contains([]string{
		"GetHealth", "GetCompatibility", "PreviewSimple", "ValidateTopology", "ListChartDefinitions",
		"ListComponents", "GetComponent", "ListModels", "GetModel", "ListModelVersions", "GetBundle",
	}, op.id)
}

func TestFeaturesThatAreOffAreNotFound(t *testing.T) {
	p := startBeside(t, servicetest.Shared(t), func(c *settings.Config) {
		c.BillingEndpoints, c.TraceRoutes, c.SimulationDelete, c.WebhookKeys = false, false, false, ""
	})
	each(t, func(op operation) bool { return op.flag != "" }, func(t *testing.T, op operation) {
		op.request().send(p.Bearer(t, "")).Refused(404, "NOT_FOUND") // checked before the token
		op.request().send(p.Service(t, servicetest.NewAccount())).Refused(404, "NOT_FOUND")
	})
}

func TestReadsEndWithTheirBudget(t *testing.T) {
	w := newWorld(t, servicetest.Shared(t))
	p := startBeside(t, w.program, func(c *settings.Config) { c.ReadTimeout = time.Nanosecond })
	p.Service(t, w.account).Post("/api/v1/workspaces", nil).Want(400) // loads the issuer's keys
	reads := func(op operation) bool { return op.documents(504) && op.method == "GET" && !fromMemory(op) }
	each(t, reads, func(t *testing.T, op operation) {
		w.request(t, op).send(allowed(t, p, w.account)).Refused(504, "GATEWAY_TIMEOUT")
	})
}

// Without the issuer's keys no token can be verified, so every operation is unavailable,
// even those that need no other server.
func TestWithoutTheIssuerNoRequestIsServed(t *testing.T) {
	p := startBeside(t, servicetest.Shared(t), func(c *settings.Config) { c.JWKS = "http://" + teststack.FreeAddress(t) })
	each(t, every, func(t *testing.T, op operation) {
		op.request().send(p.Service(t, servicetest.NewAccount())).Refused(503, "SERVICE_UNAVAILABLE")
	})
}

func TestWritesAreShed(t *testing.T) {
	p := startBeside(t, servicetest.Shared(t), func(c *settings.Config) { c.MaxWrites = 0 })
	each(t, every, func(t *testing.T, op operation) {
		r := op.request().send(allowed(t, p, servicetest.NewAccount()))
		if op.class == "write" {
			wantRetryable(t, op, r)
		} else if r.Status == 503 {
			t.Errorf("an operation that is not a write is shed: %s", r.Body)
		}
	})
}

// TestRequestQuotasApplyToEveryOperation: an operation is refused when the account's
// quota for its cost class is exhausted.
func TestRequestQuotasApplyToEveryOperation(t *testing.T) {
	p, account, none := servicetest.Shared(t), servicetest.NewAccount(), new(int64)
	limits := map[string]*int64{}
	for _, class := range web.Classes() {
		limits[web.QuotaOf(class)] = none
	}
	p.SetQuotas(t, account, limits)
	p.User(t, account).Eventually("/api/v1/workspaces", func(r servicetest.Reply) bool { return r.Status == 429 })
	each(t, every, func(t *testing.T, op operation) {
		r := op.request().send(allowed(t, p, account))
		r.Refused(429, "RATE_LIMITED")
		h := r.Header
		if h.Get("Retry-After") == "" || h.Get("RateLimit-Policy") != `"requests.`+op.class+`";q=0;w=1` || !strings.HasPrefix(h.Get("RateLimit"), `"requests.`+op.class+`";r=0;t=`) {
			t.Errorf("got headers %v, want Retry-After and the exhausted quota of class %s", h, op.class)
		}
	})
}

// wantRetryable fails the test unless the reply says that the request may be repeated.
func wantRetryable(t *testing.T, op operation, r servicetest.Reply) {
	t.Helper()
	after, err := strconv.Atoi(r.Header.Get("Retry-After"))
	if code, _ := refusal(r); r.Status != 503 || code != "SERVICE_UNAVAILABLE" || err != nil || after < 1 {
		t.Errorf("%s: %d %s, Retry-After %q", op.id, r.Status, r.Body, r.Header.Get("Retry-After"))
	}
}

// startOwn starts a program on its own servers. One account sends a request of every
// operation at a time, and heavy ones hold their slots until the verdict times out: with the
// slots of a machine with one core, some would rightly get a 429.
func startOwn(t *testing.T, change func(*settings.Config)) *world {
	t.Helper()
	return newWorld(t, servicetest.Start(t, func(c *settings.Config) {
		c.MaxHeavy = 64
		change(c)
	}))
}

// hurried is the world of another process of the program, with short timeouts. What is to
// succeed is asked of one without them: on a busy machine it takes longer.
func (w *world) hurried(t *testing.T) *world {
	t.Helper()
	hurried := *w
	hurried.program = startBeside(t, w.program, func(c *settings.Config) {
		c.VerdictTimeout, c.ReadTimeout = 8*time.Second, 15*time.Second
	})
	return &hurried
}

// requests returns a request of every operation. The servers must still run, because it
// creates the resources. Writes have an idempotency key, so they can be repeated.
func (w *world) requests(t *testing.T) map[string]request {
	t.Helper()
	all := map[string]request{}
	for _, op := range operations(t) {
		r := w.request(t, op)
		for _, p := range op.parameters {
			if p.Name == "Idempotency-Key" {
				r = r.with(p, "key-"+op.id)
			}
		}
		all[op.id] = r
	}
	return all
}

// all sends the requests concurrently, because each may take as long as its timeout.
func (w *world) all(t *testing.T, requests map[string]request, check func(operation, servicetest.Reply)) {
	t.Helper()
	var sent sync.WaitGroup
	for _, r := range requests {
		sent.Go(func() { check(r.op, r.send(w.client(t))) })
	}
	testwait.Group(t, &sent, "the requests")
}

// TestAWriteWithoutAVerdictIsRepeatedByItsKey: while the projector is blocked, writes
// get no verdict and are refused as retryable. Later the same key returns the outcome.
func TestAWriteWithoutAVerdictIsRepeatedByItsKey(t *testing.T) {
	t.Parallel()
	w := startOwn(t, func(*settings.Config) {})
	requests := w.requests(t)
	maps.DeleteFunc(requests, func(_ string, r request) bool {
		return !r.op.writes() || r.op.id == "TerminateSimulation" || r.op.id == "TerminateRun"
	})
	hurried := w.hurried(t)
	conn, err := pgx.Connect(t.Context(), w.program.Config.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // the database is removed, too
	if _, err := conn.Exec(t.Context(), `BEGIN; LOCK TABLE readmodel.offsets IN EXCLUSIVE MODE`); err != nil {
		t.Fatal(err)
	}
	hurried.all(t, requests, func(op operation, r servicetest.Reply) {
		wantRetryable(t, op, r)
	})
	if _, err := conn.Exec(t.Context(), `ROLLBACK`); err != nil {
		t.Fatal(err)
	}
	w.all(t, requests, func(op operation, r servicetest.Reply) {
		if r.Status == http.StatusServiceUnavailable {
			r = requests[op.id].answer(w.client(t))
		}
		gone := op.key() == nil && op.method == "DELETE" && r.Status == 404
		if r.Status >= 300 && !gone {
			t.Errorf("%s, repeated: got %d %s, want success", op.id, r.Status, r.Body)
		}
	})
}

// TestWithoutTheReadModelOnlyOperationsFromMemoryAnswer: no connection to PostgreSQL is
// made, and those that there were are closed.
func TestWithoutTheReadModelOnlyOperationsFromMemoryAnswer(t *testing.T) {
	t.Parallel()
	var proxy *teststack.Proxy
	w := startOwn(t, func(c *settings.Config) {
		u, err := url.Parse(c.Postgres)
		if err != nil {
			t.Fatal(err)
		}
		proxy = teststack.NewProxy(t, u.Host)
		u.Host = proxy.Addr
		c.Postgres = u.String()
	})
	requests, hurried := w.requests(t), w.hurried(t)
	proxy.Refuse()
	defer proxy.Heal()
	hurried.withoutReadModel(t, requests)
}

// withoutReadModel checks every operation while PostgreSQL does not answer.
func (w *world) withoutReadModel(t *testing.T, requests map[string]request) {
	t.Helper()
	check := func(op operation, r servicetest.Reply) {
		if (fromMemory(op) || op.id == "ListDeadLetters") && r.Status == http.StatusServiceUnavailable {
			r = requests[op.id].answer(w.client(t))
		}
		switch {
		case fromMemory(op):
			if r.Status >= 300 {
				t.Errorf("%s without the read model: got %d %s, want success", op.id, r.Status, r.Body)
			}
		case op.id == "GetReadiness":
			r.Want(503)
		case op.id == "ListDeadLetters":
			r.Want(200) // the log has them
		case op.bills():
			r.Refused(502, "BAD_GATEWAY") // document 1, Billing
		default:
			wantRetryable(t, op, r)
		}
	}
	w.all(t, requests, check)
	maps.DeleteFunc(requests, func(_ string, r request) bool { return r.op.writes() })
	w.all(t, requests, check) // once it is not known any more which read model is live
}
