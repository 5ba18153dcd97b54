package web

import (
	"context"
	"net/http"
	"net/http/pprof"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

const checkTimeout = 2 * time.Second

// Check is one thing that the service needs to be of use.
type Check struct {
	Name string
	Run  func(context.Context) error // nil: it is there
}

// checked is the outcome of a Check.
type checked struct {
	Name    string `json:"name"`
	Status  string `json:"status"` // pass or fail
	Message string `json:"message,omitempty"`
}

type readiness struct {
	Status string    `json:"status"` // ready or unavailable
	Checks []checked `json:"checks"`
}

// Operations serves /livez, /readyz, /metrics and /debug/pprof/. It asks for no
// token and tells internals: it belongs on a listener of its own that clients
// cannot reach.
func Operations(metrics prometheus.Gatherer, checks ...Check) http.Handler {
	router := chi.NewRouter()
	router.Get("/livez", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", jsonType)
		writeBody(w, r, http.StatusOK, []byte(`{"status":"alive"}`+"\n"))
	})
	router.Get("/readyz", func(w http.ResponseWriter, r *http.Request) {
		state, status := ready(r.Context(), checks)
		w.Header().Set("Content-Type", jsonType)
		writeBody(w, r, status, encode(state))
	})
	router.Method(http.MethodGet, "/metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}))
	router.HandleFunc("/debug/pprof/*", pprof.Index)
	router.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	router.HandleFunc("/debug/pprof/profile", pprof.Profile)
	router.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	router.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return router
}

// ready runs the checks at the same time, each within checkTimeout.
func ready(ctx context.Context, checks []Check) (readiness, int) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	state, status := readiness{Status: "ready", Checks: make([]checked, len(checks))}, http.StatusOK
	var all sync.WaitGroup
	for i, check := range checks {
		all.Go(func() {
			state.Checks[i] = checked{Name: check.Name, Status: "pass"}
			if err := check.Run(ctx); err != nil {
				state.Checks[i] = checked{Name: check.Name, Status: "fail", Message: err.Error()}
			}
		})
	}
	all.Wait()
	for _, c := range state.Checks {
		if c.Status == "fail" {
			state.Status, status = "unavailable", http.StatusServiceUnavailable
		}
	}
	return state, status
}
