package service

import (
	"context"
	"fmt"
	"net/http"

	"netsim/api"
	"netsim/cmd/settings"
	"netsim/infra/health"
	"netsim/infra/telemetry"
	"netsim/stream/contracts"
)

// schemaRegistry returns the schema registry of a process with the role publisher, or
// nil if the settings name none.
func (s *base) schemaRegistry() (*contracts.Registry, error) {
	failed := s.metrics.Counter("netsim_schema_registry_failures_total")
	if s.config.SchemaRegistry == "" || !s.config.Has(settings.RolePublisher) {
		return nil, nil
	}
	c := contracts.Config{
		URL: s.config.SchemaRegistry, User: s.config.SchemaRegistryUser, Secret: s.config.SchemaRegistrySecret, Log: s.log,
		Transport: s.wrap("schema_registry")(http.DefaultTransport.(*http.Transport)),
		Round: func(err error) {
			if err != nil {
				failed(1)
			}
		},
	}
	for _, schema := range api.Schemas() {
		c.Schemas = append(c.Schemas, contracts.Schema{Type: schema.Type, Document: schema.Document})
	}
	r, err := contracts.New(c)
	if err != nil {
		return nil, fmt.Errorf("NETSIM_SCHEMA_REGISTRY: %w", err)
	}
	return r, nil
}

// observeRegistry samples how many schemas the registry has.
func observeRegistry(m *telemetry.Metrics, r *contracts.Registry) {
	const schemas = "netsim_schema_registry_schemas"
	m.Sample(func(emit telemetry.Emit) {
		registered, of, _ := r.State()
		emit(schemas, float64(registered), "registered")
		emit(schemas, float64(of-registered), "missing")
	}, schemas)
}

// probeRegistry degrades while the registry lacks a schema.
func (d *domain) probeRegistry(context.Context) health.State {
	registered, of, err := d.registry.State()
	if err == nil {
		return health.State{}
	}
	return health.State{
		Err:     fmt.Errorf("%d of %d schemas are registered: %w", registered, of, err),
		Message: "the schema registry does not have every schema",
	}
}
