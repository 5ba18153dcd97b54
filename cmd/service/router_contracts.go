package service

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"netsim/api"
	"netsim/fault"
	"netsim/infra/web"
)

// guides serves what a client reads before its first request. Like the contract of the API
// they need no token.
func guides(root chi.Router) {
	root.Method(http.MethodGet, "/llms.txt", api.Guide())
	root.Method(http.MethodGet, "/workflows.arazzo.yaml", api.Workflows())
}

// eventContracts serves the contracts of the event stream. Like the contract of the
// API they need no token.
func eventContracts(root chi.Router, fail web.FailFunc) {
	root.Method(http.MethodGet, "/asyncapi.yaml", api.AsyncAPI())
	root.Method(http.MethodGet, "/datacontract.yaml", api.DataContract())
	root.Method(http.MethodGet, "/schemas", api.SchemaIndex())
	root.Get("/schemas/{type}/{version}", func(w http.ResponseWriter, r *http.Request) {
		eventType, version := chi.URLParam(r, "type"), chi.URLParam(r, "version")
		schema, ok := api.SchemaOf(eventType, version)
		if !ok {
			fail(w, r, fault.New(fault.NotFound, "no schema of the type %.100q in version %.20q; /schemas lists them", eventType, version))
			return
		}
		schema.ServeHTTP(w, r)
	})
}
