package service

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"go.opentelemetry.io/otel/trace"

	"netsim/api"
	"netsim/api/contract"
	"netsim/cmd/settings"
	"netsim/fault"
	"netsim/infra/auth"
	"netsim/infra/replicas"
	"netsim/infra/web"
	"netsim/projections"
)

// frontEnd has the checks that a request passes before it reaches a handler.
type frontEnd struct {
	config    settings.Config
	contract  *contract.Contract
	verifier  *auth.Verifier
	admission *web.Admission
	metrics   *web.Metrics
	tracer    trace.Tracer                // nil: nothing is traced
	admit     func(context.Context) error // refuses writes while the read model lags
	recovered func(context.Context) error // waits while the read model is behind what it has shown before
	tokens    *replicas.Serve             // chooses the database of a read, and adds tokens to responses
	behind    func() bool                 // whether the read model is behind what it has shown before
	console   *webConsole                 // nil: none is served
	log       *slog.Logger
}

// router serves the contract. The checks have the order of completions section 1.3:
// feature flag (404), token (401), access (403), contract (400), handler.
func (d frontEnd) router(handlers api.StrictServerInterface) http.Handler {
	fail := web.Errors{Log: d.log, Outage: d.outage, Changes: changes}.Fail
	tokens := cmp.Or(d.tokens, &replicas.Serve{}) // tests of refusals have none
	tokens.Fail, tokens.KindOf = fail, kind
	root := chi.NewRouter()
	root.Use(
		web.Identify, web.Arrive, web.Observer{Log: d.log, Metrics: d.metrics, Tracer: d.tracer, Now: time.Now}.Observe, web.Locate, web.Harden, web.Recover(fail),
		middleware.GetHead,
	)
	web.Unrouted(root, fail)
	docs := api.Docs()
	root.Handle("/docs", docs)
	root.Handle("/docs/*", docs)
	root.Handle("/openapi.yaml", docs)
	root.Handle("/openapi.json", docs)
	guides(root)
	eventContracts(root, fail)
	root.Group(func(group chi.Router) { d.operations(group, handlers, tokens, fail) })
	if d.console != nil {
		d.mountConsole(root, func(api chi.Router) { d.operations(api, handlers, tokens, fail) }, fail)
	}
	return root
}

// operations adds the operations of the contract to a router.
func (d frontEnd) operations(group chi.Router, handlers api.StrictServerInterface, tokens *replicas.Serve, fail web.FailFunc) {
	group.Use(
		d.contract.Locate, web.LimitBody(maxBody, fail),
		d.flags(fail), d.verifier.Authenticate(fail), noteCaller, auth.Authorize(d.access(), operationID, fail),
		d.onlyReads(fail), d.whole(fail),
		d.admission.Receive(costs, fail), // the timeout of a request begins when its body has arrived
		web.Budget(d.config.ReadTimeout, d.config.VerdictTimeout+5*time.Second, d.longer, isStream),
		d.admission.Serve(costs, fail), web.Unless(d.admit, changes, fail),
		d.streams,
		d.contract.Check(fail),
		tokens.Handle,
	)
	strict := api.NewStrictHandlerWithOptions(handlers, nil, api.StrictHTTPServerOptions{
		RequestErrorHandlerFunc: refuse(fail), ResponseErrorHandlerFunc: tokens.Repeat(fail),
	})
	api.HandlerWithOptions(strict, api.ChiServerOptions{BaseRouter: group, ErrorHandlerFunc: refuse(fail)})
}

// longTimeout is added to the timeout of a request that reads many bytes. It is enough for
// 50 GB from the object store at 80 MB/s.
const longTimeout = 10 * time.Minute

// longer returns what is added to the timeout of a request that moves many bytes: at least
// the time in which the largest body arrives at the least rate.
func (d frontEnd) longer(r *http.Request) time.Duration {
	op, ok := contract.OperationOf(r)
	switch {
	case ok && op.MaxBody() > web.MaxBody:
		return longTimeout + d.config.BodyTimeout + time.Duration(op.MaxBody()/d.config.BodyRate)*time.Second
	case ok && op.Access.Long:
		return longTimeout
	}
	return 0
}

// maxBody returns the limit of a request body in bytes. The contract's check enforces a
// lower limit of an operation.
func maxBody(r *http.Request) int64 {
	if op, ok := contract.OperationOf(r); ok {
		return max(op.MaxBody(), web.MaxBody)
	}
	return web.MaxBody
}

// refuse answers a request that the generated server could not bind. Such an error is
// the client's, although the contract was checked before.
func refuse(fail web.FailFunc) web.FailFunc {
	return func(w http.ResponseWriter, r *http.Request, err error) {
		if fault.CodeOf(err) == fault.Internal {
			err = &fault.Fault{Code: fault.Validation, Message: "the request cannot be read", Cause: err}
		}
		fail(w, r, err)
	}
}

// noteCaller adds the caller to the request's log line and span.
func noteCaller(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if caller, ok := auth.CallerFrom(r.Context()); ok {
			web.NoteCaller(r.Context(), caller.AccountID, caller.UserID)
		}
		next.ServeHTTP(w, r)
	})
}

// billingFlag is the feature flag of billing's operations.
const billingFlag = "enable_billing_endpoints"

// flags hides the operations of disabled features.
func (d frontEnd) flags(fail web.FailFunc) web.Middleware {
	on := map[string]bool{
		"":                         true,
		"enable_webhooks":          d.config.HasWebhooks(),
		billingFlag:                d.config.BillingEndpoints,
		"enable_trace_routes":      d.config.TraceRoutes,
		"enable_simulation_delete": d.config.SimulationDelete,
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			op, ok := contract.OperationOf(r)
			if ok {
				web.NoteOperation(r.Context(), op.ID)
			}
			if ok && !on[op.Access.Flag] {
				fail(w, r, fault.New(fault.NotFound, "no such resource"))
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// outage returns the message for the client if an error is an outage, or "". A timeout
// while the read model is behind counts as one: the request began to wait for a session
// before the process knew of the recovery.
func (d frontEnd) outage(err error) string {
	if errors.Is(err, context.DeadlineExceeded) && d.behind() {
		err = projections.ErrBehind
	}
	return projections.Outage(err)
}

// whole waits for a short recovery of the read model. It refuses requests while the read
// model still lacks what it has shown before, except requests for the service's health.
func (d frontEnd) whole(fail web.FailFunc) web.Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if op := operationID(r); op != "GetHealth" && op != "GetReadiness" {
				if err := d.recovered(r.Context()); err != nil {
					fail(w, r, err)
					return
				}
			}
			next.ServeHTTP(w, r)
		})
	}
}

// streams bounds the operations whose response is streamed. One that reads many bytes has
// more time to begin and to end.
func (d frontEnd) streams(next http.Handler) http.Handler {
	ordinary := web.Streams(d.config.ReadTimeout, d.config.StreamLife)(next)
	long := web.Streams(d.config.ReadTimeout+longTimeout, d.config.StreamLife+longTimeout)(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !isStream(r):
			next.ServeHTTP(w, r)
		case d.longer(r) > 0:
			long.ServeHTTP(w, r)
		default:
			ordinary.ServeHTTP(w, r)
		}
	})
}

// costs returns the account whose quotas a request uses, and its cost class. A service
// token for all accounts counts as a separate account.
func costs(r *http.Request) (account string, class web.Class) {
	caller, _ := auth.CallerFrom(r.Context()) // authorization has checked that there is a caller
	if op, ok := contract.OperationOf(r); ok {
		class = web.Class(op.Access.Class)
	}
	return caller.AccountID, class
}

// changes reports whether a request is a write. Some reads have a body and therefore use
// a method other than GET.
func changes(r *http.Request) bool {
	op, ok := contract.OperationOf(r)
	return ok && op.Method != http.MethodGet && !op.Access.Reads
}

// kind returns what a request does with a Consistency-Token. Billing is read from the
// process's own database, because BillingLag describes this one.
func kind(r *http.Request) replicas.Kind {
	op, ok := contract.OperationOf(r)
	switch {
	case !ok:
		return replicas.Other
	case changes(r):
		return replicas.Write
	case !op.Takes(replicas.Header):
		return replicas.Other
	case op.Access.Records || op.Access.Flag == billingFlag:
		return replicas.OwnRead
	}
	return replicas.Read
}

// isStream reports whether the response to a request is streamed.
func isStream(r *http.Request) bool {
	op, ok := contract.OperationOf(r)
	return ok && web.Class(op.Access.Class) == web.ClassStream
}

// access returns the authorization table: one row for each operation.
func (d frontEnd) access() map[string]auth.Access {
	rows := map[string]auth.Access{}
	for _, op := range d.contract.Operations() {
		rows[op.ID] = auth.Access{Token: op.Access.Token, Role: op.Access.Role}
	}
	return rows
}

// operationID returns the id of a request's operation.
func operationID(r *http.Request) string {
	if op, ok := contract.OperationOf(r); ok {
		return op.ID
	}
	return ""
}
