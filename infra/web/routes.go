package web

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"netsim/fault"
)

// Unrouted makes the router answer unknown paths and methods with fail. Call it
// on the root router; subrouters inherit it.
func Unrouted(router chi.Router, fail FailFunc) {
	router.NotFound(func(w http.ResponseWriter, r *http.Request) {
		fail(w, r, NoResource(r))
	})
	router.MethodNotAllowed(func(w http.ResponseWriter, r *http.Request) {
		allowed := allowedMethods(router, r)
		w.Header().Set("Allow", allowed)
		fail(w, r, fault.New(fault.MethodNotAllowed, "method %.20s is not allowed here, only %s", r.Method, allowed))
	})
}

// NoResource returns the error for a path at which nothing is.
func NoResource(r *http.Request) error {
	return fault.New(fault.NotFound, "no such resource: %.200s", r.URL.Path)
}

// allowedMethods lists the methods for which the request's path has a route.
func allowedMethods(routes chi.Routes, r *http.Request) string {
	path := r.URL.RawPath
	if path == "" {
		path = r.URL.Path
	}
	var allowed []string
	for _, method := range []string{
		http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodOptions,
		http.MethodPatch, http.MethodPost, http.MethodPut,
	} {
		if routes.Match(chi.NewRouteContext(), method, path) {
			allowed = append(allowed, method)
		}
	}
	return strings.Join(allowed, ", ")
}

// noRoute is the route label of requests that matched no route.
const noRoute = "unmatched"

// route returns the pattern that the request matched, such as
// /api/v1/simulations/{sim_id}, or noRoute. It must be called after the router.
func route(r *http.Request) string {
	if rc := chi.RouteContext(r.Context()); rc != nil {
		if pattern := rc.RoutePattern(); pattern != "" {
			return pattern
		}
	}
	return noRoute
}
