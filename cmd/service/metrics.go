package service

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/commands/handle"
	"netsim/fault"
	"netsim/infra/eventlog"
	"netsim/infra/postgres"
	"netsim/infra/reactor"
	"netsim/infra/telemetry"
	"netsim/infra/web"
	"netsim/readapi"
)

// This file connects the metrics of docs/metrics.md with the counters of the packages.
// The catalogue in infra/telemetry lists the metrics of each role.

// errorType returns the label value for an error: PostgreSQL's error code, the HTTP
// status, canceled, timeout or _OTHER. It returns "" for nil.
func errorType(err error) string {
	if err == nil {
		return ""
	}
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		return refused.Code
	}
	if answer, ok := errors.AsType[interface {
		error
		HTTPStatusCode() int
	}](err); ok {
		return strconv.Itoa(answer.HTTPStatusCode())
	}
	switch {
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	}
	return "_OTHER"
}

// observeCalls returns the observer of calls for a histogram whose labels are the
// operation and the error type.
func observeCalls(m *telemetry.Metrics, name string) func(operation string, took time.Duration, err error) {
	observe := m.Histogram(name)
	return func(operation string, took time.Duration, err error) {
		observe(took.Seconds(), operation, errorType(err))
	}
}

// observeDatabase returns the pool option that observes PostgreSQL calls.
func observeDatabase(m *telemetry.Metrics) func(*pgxpool.Config) {
	return postgres.Observe(observeCalls(m, "db_client_operation_duration_seconds"))
}

// observePools samples the process's connection pools, by name.
func observePools(m *telemetry.Metrics, pools map[string]func() *pgxpool.Stat) {
	const (
		connections = "db_client_connections"
		most        = "db_client_connections_max"
		acquires    = "db_client_connection_acquires_total"
		acquire     = "db_client_connection_acquire_seconds_total"
		timeouts    = "db_client_connection_timeouts_total"
	)
	m.Sample(func(emit telemetry.Emit) {
		for name, stat := range pools {
			s := stat()
			emit(connections, float64(s.AcquiredConns()), name, "used")
			emit(connections, float64(s.IdleConns()), name, "idle")
			emit(most, float64(s.MaxConns()), name)
			emit(acquires, float64(s.AcquireCount()), name)
			emit(acquire, s.AcquireDuration().Seconds(), name)
			emit(timeouts, float64(s.CanceledAcquireCount()), name)
		}
	}, connections, most, acquires, acquire, timeouts)
}

// observeAppends returns the observer of appends to the event log.
func observeAppends(m *telemetry.Metrics, prefix string) func(topic string, took time.Duration, err error) {
	observe := m.Histogram("netsim_log_append_duration_seconds")
	return func(topic string, took time.Duration, err error) {
		outcome := "written"
		switch {
		case errors.Is(err, eventlog.ErrNotWritten):
			outcome = "not_written"
		case err != nil:
			outcome = "unknown"
		}
		observe(took.Seconds(), strings.TrimPrefix(topic, prefix), outcome)
	}
}

// observeLogRequests returns the observer of requests to the brokers of the event log.
func observeLogRequests(m *telemetry.Metrics) func(api string) {
	count := m.Counter("netsim_log_requests_total")
	return func(api string) { count(1, api) }
}

// observeCommands returns the observer of commands.
func observeCommands(m *telemetry.Metrics) func(handle.Observation) {
	took, attempts := m.Histogram("netsim_command_duration_seconds"), m.Counter("netsim_command_attempts_total")
	runs := m.Counter("netsim_runs_ended_total")
	outcomes := map[string]string{"CompleteSimulation": "completed", "FailSimulation": "failed"}
	for _, outcome := range outcomes {
		runs(0, outcome) // so that the first one is an increase
	}
	return func(o handle.Observation) {
		if outcome := outcomes[o.Command]; outcome != "" && o.Outcome == handle.OutcomeAccepted {
			runs(1, outcome)
		}
		took(o.Took.Seconds(), o.Command, string(o.Outcome), string(o.Code))
		attempts(float64(o.Attempts), o.Command)
	}
}

// observeReactions returns the observer of reactions.
func observeReactions(m *telemetry.Metrics) func(reactor.Observation) {
	count, took := m.Counter("netsim_reactions_total"), m.Histogram("netsim_reaction_duration_seconds")
	return func(o reactor.Observation) {
		count(1, o.Handler, o.Outcome)
		if o.Took > 0 {
			took(o.Took.Seconds(), o.Handler)
		}
	}
}

// observeBatches returns the observer of the projector's batches.
func observeBatches(m *telemetry.Metrics) func(records int, took time.Duration) {
	size, seconds := m.Histogram("netsim_projector_batch_records"), m.Histogram("netsim_projector_batch_duration_seconds")
	return func(records int, took time.Duration) {
		size(float64(records))
		seconds(took.Seconds())
	}
}

// observeRequests returns the observer of the API's requests.
func observeRequests(m *telemetry.Metrics) *web.Metrics {
	seconds := m.Histogram("http_server_request_duration_seconds")
	requests := &web.Metrics{Answered: func(method, route string, status int, took time.Duration) {
		seconds(took.Seconds(), method, route, strconv.Itoa(status))
	}}
	const active = "http_server_active_requests"
	m.Sample(func(emit telemetry.Emit) { emit(active, float64(requests.Active())) }, active)
	return requests
}

// observeRefusals returns the observer of requests that are not admitted.
func observeRefusals(m *telemetry.Metrics) func(web.Class, fault.Code) {
	count := m.Counter("netsim_http_refused_total")
	return func(class web.Class, code fault.Code) { count(1, string(class), string(code)) }
}

// observeAdmission samples the slots and the memory of request bodies.
func observeAdmission(m *telemetry.Metrics, a *web.Admission) {
	const total, used, waiting, bodies = "netsim_http_slots", "netsim_http_slots_used", "netsim_http_slots_waiting", "netsim_http_body_bytes"
	m.Sample(func(emit telemetry.Emit) {
		slots, bytes := a.Report()
		for class, s := range slots {
			emit(total, float64(s.Total), string(class))
			emit(used, float64(s.Used), string(class))
			emit(waiting, float64(s.Waiting), string(class))
		}
		emit(bodies, float64(bytes))
	}, total, used, waiting, bodies)
}

// observeStreams samples the number of open event streams.
func observeStreams(m *telemetry.Metrics, simulations, studies *readapi.Followers) {
	const open = "netsim_streams_open"
	m.Sample(func(emit telemetry.Emit) { emit(open, float64(simulations.Open()+studies.Open())) }, open)
}
