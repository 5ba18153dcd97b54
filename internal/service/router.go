package service

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"go.opentelemetry.io/otel/trace"

	"netsim/api"
	"netsim/api/contract"
	"netsim/fault"
	"netsim/infra/auth"
	web "netsim/infra/web"
	"netsim/projections"
)

// door is what stands between a client and the handlers.
type door struct {
	config    Config
	contract  *contract.Contract
	verifier  *auth.Verifier
	admission *web.Admission
	metrics   *web.Metrics
	tracer    trace.Tracer                // nil traces nothing
	admit     func(context.Context) error // refuses what changes something, while the read model lags
	behind    func() bool                 // the read model is behind what it has shown before
	log       *slog.Logger
}

// router serves the contract. The order of checks is that of completions
// section 1.3: flag 404, 401, 403, 400, and then what the handler finds.
func (d door) router(handlers api.StrictServerInterface) http.Handler {
	fail := web.Errors{Log: d.log, Outage: projections.Outage}.Fail
	root := chi.NewRouter()
	root.Use(
		web.Identify, web.Observer{Log: d.log, Metrics: d.metrics, Tracer: d.tracer, Now: time.Now}.Observe, web.Locate, web.Harden, web.Recover(fail),
		middleware.GetHead,
	)
	web.Unrouted(root, fail)
	docs := api.Docs()
	root.Handle("/docs", docs)
	root.Handle("/docs/*", docs)
	root.Handle("/openapi.yaml", docs)
	root.Handle("/openapi.json", docs)
	root.Group(func(group chi.Router) {
		group.Use(
			web.LimitBody(d.maxBody, fail),
			d.flags(fail), d.verifier.Authenticate(fail), noteCaller, auth.Authorize(d.access(), d.operation, fail),
			d.whole(fail),
			d.admission.Receive(d.costs, fail), // the time of a request begins when it is there
			web.Budget(d.config.ReadTimeout, d.config.VerdictTimeout+5*time.Second, longTime, d.isLong, d.isStream),
			d.admission.Serve(d.costs, fail), web.Unless(d.admit, d.changes, fail),
			d.streams(web.Streams(d.config.ReadTimeout, d.config.StreamLife)),
			d.contract.Check(fail),
		)
		strict := api.NewStrictHandlerWithOptions(handlers, nil, api.StrictHTTPServerOptions{
			RequestErrorHandlerFunc: refuse(fail), ResponseErrorHandlerFunc: fail,
		})
		api.HandlerWithOptions(strict, api.ChiServerOptions{BaseRouter: group, ErrorHandlerFunc: refuse(fail)})
	})
	return root
}

// longTime is how much longer a request may take that moves many bytes: 100 MB
// of a body at 1.3 Mbit/s, 50 GB out of the store at 80 MB/s.
const longTime = 10 * time.Minute

// isLong reports whether a request moves many bytes.
func (d door) isLong(r *http.Request) bool {
	op, ok := d.contract.Find(r)
	return ok && (op.Access.Long || op.MaxBody() > web.MaxBody)
}

// maxBody is the most bytes of a request's body that are read. What takes less
// than all others refuses that itself.
func (d door) maxBody(r *http.Request) int64 {
	if op, ok := d.contract.Find(r); ok {
		return max(op.MaxBody(), web.MaxBody)
	}
	return web.MaxBody
}

// refuse answers a request that the generated server could not bind. The
// contract is checked before, so it is the client's mistake all the same.
func refuse(fail web.FailFunc) web.FailFunc {
	return func(w http.ResponseWriter, r *http.Request, err error) {
		if fault.CodeOf(err) == fault.Internal {
			err = &fault.Fault{Code: fault.Validation, Message: "the request cannot be read", Cause: err}
		}
		fail(w, r, err)
	}
}

// noteCaller has the request's log line and span say who sent it.
func noteCaller(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if caller, ok := auth.CallerFrom(r.Context()); ok {
			web.NoteCaller(r.Context(), caller.AccountID, caller.UserID)
		}
		next.ServeHTTP(w, r)
	})
}

// flags hides the operations of features that are off.
func (d door) flags(fail web.FailFunc) web.Middleware {
	on := map[string]bool{
		"":                         true,
		"enable_billing_endpoints": d.config.BillingEndpoints,
		"enable_trace_routes":      d.config.TraceRoutes,
		"enable_simulation_delete": d.config.SimulationDelete,
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			op, ok := d.contract.Find(r)
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

// whole refuses what would be answered from a read model that was lost and is
// not complete again, but not the questions for the service's health.
func (d door) whole(fail web.FailFunc) web.Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if op := d.operation(r); d.behind() && op != "GetHealth" && op != "GetReadiness" {
				fail(w, r, projections.ErrRebuilding)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// streams applies a middleware to the operations whose answer goes on.
func (d door) streams(m web.Middleware) web.Middleware {
	return func(next http.Handler) http.Handler {
		with := m(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if d.isStream(r) {
				with.ServeHTTP(w, r)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// costs returns whose request it is and what it costs. A service that acts for
// every account is an account of its own here.
func (d door) costs(r *http.Request) (account string, class web.Class) {
	caller, _ := auth.CallerFrom(r.Context()) // authorization has seen to it
	if op, ok := d.contract.Find(r); ok {
		class = web.Class(op.Access.Class)
	}
	return caller.AccountID, class
}

// changes reports whether a request changes something; some that reads has a
// body, and so the method of a write.
func (d door) changes(r *http.Request) bool {
	op, ok := d.contract.Find(r)
	return ok && op.Method != http.MethodGet && !op.Access.Reads
}

// isStream reports whether the answer to a request goes on.
func (d door) isStream(r *http.Request) bool {
	op, ok := d.contract.Find(r)
	return ok && web.Class(op.Access.Class) == web.ClassStream
}

// access is the authorization table: one row for every operation.
func (d door) access() map[string]auth.Access {
	rows := map[string]auth.Access{}
	for _, op := range d.contract.Operations() {
		rows[op.ID] = auth.Access(op.Access.Token)
	}
	return rows
}

func (d door) operation(r *http.Request) string {
	if op, ok := d.contract.Find(r); ok {
		return op.ID
	}
	return ""
}
