package web

import (
	"context"
	"net/http"
	"net/http/pprof"

	"github.com/go-chi/chi/v5"

	"netsim/infra/health"
)

// checked is a health.Result in the body of /readyz.
type checked struct {
	Name     string        `json:"name"`
	Required bool          `json:"required"`
	Status   health.Status `json:"status"`
	Message  string        `json:"message,omitempty"`
	// Only in the check of the projections: how far they are behind.
	LagEvents  *int64   `json:"lagEvents,omitempty"`
	LagSeconds *float64 `json:"lagSeconds,omitempty"`
}

type readiness struct {
	Status health.Overall `json:"status"`
	Checks []checked      `json:"checks"`
}

// Operations serves /livez, /readyz and /metrics, and with profiles /debug/pprof/. It requires
// no token and shows internals, so it must be on a listener that clients cannot reach.
// Profiles have what is in memory, and slow the process. Those that are being made when
// serving ends are cut short, so that the process does not wait for them.
func Operations(serving context.Context, metrics http.Handler, checks *health.Checks, profiles bool) http.Handler {
	router := chi.NewRouter()
	router.Get("/livez", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", jsonType)
		writeBody(w, r, http.StatusOK, []byte(`{"status":"alive"}`+"\n"))
	})
	router.Get("/readyz", func(w http.ResponseWriter, r *http.Request) {
		state, status := ready(checks.Report(r.Context()))
		w.Header().Set("Content-Type", jsonType)
		writeBody(w, r, status, encode(state))
	})
	router.Method(http.MethodGet, "/metrics", metrics)
	if !profiles {
		return router
	}
	profiling := router.With(while(serving))
	profiling.HandleFunc("/debug/pprof/*", pprof.Index)
	profiling.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	profiling.HandleFunc("/debug/pprof/profile", pprof.Profile)
	profiling.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	profiling.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return router
}

// while cancels requests when serving ends.
func while(serving context.Context) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx, cancel := context.WithCancel(r.Context())
			defer cancel()
			defer context.AfterFunc(serving, cancel)()
			next.ServeHTTP(w, r.WithContext(ctx))
		})
	}
}

// ready returns the body and the status of /readyz. A degraded process is ready.
func ready(report health.Report) (readiness, int) {
	state, status := readiness{Status: report.Status, Checks: make([]checked, len(report.Results))}, http.StatusOK
	if report.Status == health.Unavailable {
		status = http.StatusServiceUnavailable
	}
	for i, r := range report.Results {
		state.Checks[i] = checked{Name: r.Name, Required: r.Required, Status: r.Status, Message: r.Message, LagEvents: r.LagRecords, LagSeconds: r.LagSeconds}
		if r.Err != nil {
			state.Checks[i].Message = r.Err.Error()
		}
	}
	return state, status
}
