package telemetry

import "slices"

// The roles of a process, as settings name them.
const (
	RoleAPI       = "api"
	RoleProjector = "projector"
	RoleReactor   = "reactor"
	RoleWorker    = "worker"
)

// Kind is the type of a metric.
type Kind string

// The types of metrics.
const (
	Counter   Kind = "counter"
	Gauge     Kind = "gauge"
	Histogram Kind = "histogram"
)

// Metric describes one metric. Its labels have few values, whatever clients
// send: no ids, accounts or paths.
type Metric struct {
	Name    string
	Kind    Kind
	Unit    string // seconds, bytes, or what is counted
	Labels  []string
	Roles   []string  // of the processes that expose it
	Help    string    // one sentence
	buckets []float64 // of a histogram
}

// Catalogue lists every metric of the service, besides those of the Go runtime
// and of the process.
func Catalogue() []Metric {
	return slices.Concat(commonMetrics(), apiMetrics(), projectorMetrics(), reactorMetrics(), workerMetrics())
}

func commonMetrics() []Metric {
	every := []string{RoleAPI, RoleProjector, RoleReactor, RoleWorker}
	writers := []string{RoleAPI, RoleReactor, RoleWorker}
	pool := "db_client_connection_pool_name"
	return []Metric{
		{Name: "netsim_build_info", Kind: Gauge, Labels: []string{"version", "commit", "go"}, Roles: every,
			Help: "Always 1; the labels say which build is running."},
		{Name: "netsim_collector_errors_total", Kind: Counter, Unit: "errors", Labels: []string{"collector"}, Roles: []string{RoleProjector, RoleReactor, RoleWorker},
			Help: "Questions for metrics that failed or timed out; the metrics of that collector are missing from the scrape."},
		{Name: "netsim_trace_spans_total", Kind: Counter, Unit: "spans", Labels: []string{"outcome"}, Roles: every,
			Help: "Spans of traces by outcome: exported, or failed because the collector did not take them."},
		{Name: "netsim_cache_entries", Kind: Gauge, Unit: "entries", Labels: []string{"cache"}, Roles: []string{RoleAPI, RoleProjector},
			Help: "Entries of a cache in memory: verified tokens, or the states of streams."},
		{Name: "netsim_cache_bytes", Kind: Gauge, Unit: "bytes", Labels: []string{"cache"}, Roles: []string{RoleAPI, RoleProjector},
			Help: "Memory that the contents of a cache take, without the overhead of each entry."},
		{Name: "db_client_operation_duration_seconds", Kind: Histogram, Unit: "seconds", Labels: []string{"db_operation_name", "error_type"}, Roles: every,
			Help: "Duration of calls of PostgreSQL; error_type is empty for a success.", buckets: fast()},
		{Name: "db_client_connections", Kind: Gauge, Unit: "connections", Labels: []string{pool, "db_client_connection_state"}, Roles: every,
			Help: "Connections of a pool that are used or idle."},
		{Name: "db_client_connections_max", Kind: Gauge, Unit: "connections", Labels: []string{pool}, Roles: every,
			Help: "Connections that a pool may have."},
		{Name: "db_client_connection_acquires_total", Kind: Counter, Unit: "acquires", Labels: []string{pool}, Roles: every,
			Help: "Connections taken from a pool."},
		{Name: "db_client_connection_acquire_seconds_total", Kind: Counter, Unit: "seconds", Labels: []string{pool}, Roles: every,
			Help: "Time spent waiting for connections of a pool."},
		{Name: "db_client_connection_timeouts_total", Kind: Counter, Unit: "acquires", Labels: []string{pool}, Roles: every,
			Help: "Waits for a connection of a pool that ended without one."},
		{Name: "netsim_object_store_operation_duration_seconds", Kind: Histogram, Unit: "seconds", Labels: []string{"operation", "error_type"}, Roles: writers,
			Help: "Duration of calls of the object store until the answer's header; error_type is empty for a success.", buckets: slow()},
		{Name: "netsim_command_duration_seconds", Kind: Histogram, Unit: "seconds", Labels: []string{"command", "outcome", "code"}, Roles: writers,
			Help: "Duration of commands by outcome; code is that of the error, empty without one.", buckets: fast()},
		{Name: "netsim_command_attempts_total", Kind: Counter, Unit: "attempts", Labels: []string{"command"}, Roles: writers,
			Help: "Decisions of commands; more than one a command when other writers were ahead."},
		{Name: "netsim_log_append_duration_seconds", Kind: Histogram, Unit: "seconds", Labels: []string{"topic", "outcome"}, Roles: writers,
			Help: "Time from the append of a record until its fate is known: written, not_written or unknown.", buckets: fast()},
		{Name: "netsim_log_append_queue_records", Kind: Gauge, Unit: "records", Labels: []string{"topic", "partition"}, Roles: writers,
			Help: "Records that wait or are in flight to a partition of the event log."},
		{Name: "netsim_log_append_queue_bytes", Kind: Gauge, Unit: "bytes", Labels: []string{"topic", "partition"}, Roles: writers,
			Help: "Size of the records that wait or are in flight to a partition of the event log."},
		{Name: "netsim_verdicts_waiting", Kind: Gauge, Unit: "waits", Roles: writers,
			Help: "Waits of this process for the verdict on a record."},
	}
}

func apiMetrics() []Metric {
	api := []string{RoleAPI}
	return []Metric{
		{Name: "http_server_request_duration_seconds", Kind: Histogram, Unit: "seconds",
			Labels: []string{"http_request_method", "http_route", "http_response_status_code"}, Roles: api,
			Help: "Duration of requests by route pattern; status code 0 is that of an answer that never began.", buckets: fast()},
		{Name: "http_server_active_requests", Kind: Gauge, Unit: "requests", Roles: api,
			Help: "Requests that are being answered."},
		{Name: "netsim_http_refused_total", Kind: Counter, Unit: "requests", Labels: []string{"class", "code"}, Roles: api,
			Help: "Requests that were not admitted, by cost class and error code."},
		{Name: "netsim_http_slots", Kind: Gauge, Unit: "requests", Labels: []string{"class"}, Roles: api,
			Help: "Requests of a cost class that this process serves at a time."},
		{Name: "netsim_http_slots_used", Kind: Gauge, Unit: "requests", Labels: []string{"class"}, Roles: api,
			Help: "Requests of a cost class that hold a slot."},
		{Name: "netsim_http_slots_waiting", Kind: Gauge, Unit: "requests", Labels: []string{"class"}, Roles: api,
			Help: "Requests of a cost class that wait for a slot."},
		{Name: "netsim_http_body_bytes", Kind: Gauge, Unit: "bytes", Roles: api,
			Help: "Memory that is charged for the bodies of requests."},
		{Name: "netsim_streams_open", Kind: Gauge, Unit: "streams", Roles: api,
			Help: "Clients that follow a simulation by server-sent events."},
		{Name: "netsim_jwks_fetches_total", Kind: Counter, Unit: "fetches", Labels: []string{"outcome"}, Roles: api,
			Help: "Fetches of the token issuer's keys, by outcome: fetched or failed."},
		{Name: "netsim_jwks_age_seconds", Kind: Gauge, Unit: "seconds", Roles: api,
			Help: "Time since the token issuer last confirmed its keys; missing before the first fetch that succeeds."},
	}
}

func projectorMetrics() []Metric {
	projector := []string{RoleProjector}
	return []Metric{
		{Name: "netsim_projector_lag_records", Kind: Gauge, Unit: "records", Labels: []string{"family", "partition"}, Roles: projector,
			Help: "Records of a partition of the event log that no projector has judged."},
		{Name: "netsim_projector_lag_seconds", Kind: Gauge, Unit: "seconds", Labels: []string{"family", "partition"}, Roles: projector,
			Help: "Age of the oldest record of a partition that no projector has judged; 0 when there is none."},
		{Name: "netsim_projector_batch_records", Kind: Histogram, Unit: "records", Roles: projector,
			Help: "Records of a transaction of this process's projector.", buckets: []float64{1, 4, 16, 64, 256, 1024, 4096, 8192, 16384}},
		{Name: "netsim_projector_batch_duration_seconds", Kind: Histogram, Unit: "seconds", Roles: projector,
			Help: "Time to judge and commit a batch.", buckets: fast()},
		{Name: "netsim_projector_records_total", Kind: Counter, Unit: "records", Labels: []string{"verdict"}, Roles: projector,
			Help: "Records that this process has judged, by verdict."},
		{Name: "netsim_projector_parked_total", Kind: Counter, Unit: "records", Roles: projector,
			Help: "Facts that this process could not apply."},
		{Name: "netsim_projector_parked_streams", Kind: Gauge, Unit: "streams", Roles: projector,
			Help: "Streams of the read model with facts that cannot be applied."},
		{Name: "netsim_log_forged_records_total", Kind: Counter, Unit: "records", Roles: projector,
			Help: "Records that this process has judged forged: another writer reaches the event log and has no key."},
	}
}

func reactorMetrics() []Metric {
	reactor := []string{RoleReactor}
	return []Metric{
		{Name: "netsim_reactions_total", Kind: Counter, Unit: "records", Labels: []string{"handler", "outcome"}, Roles: reactor,
			Help: "Records by handler and outcome: done, not_a_fact, failed (and tried again), dead_letter."},
		{Name: "netsim_reaction_duration_seconds", Kind: Histogram, Unit: "seconds", Labels: []string{"handler"}, Roles: reactor,
			Help: "Duration of an attempt of a handler to process a fact.", buckets: fast()},
		{Name: "netsim_reaction_lag_seconds", Kind: Gauge, Unit: "seconds", Labels: []string{"handler"}, Roles: reactor,
			Help: "Age of the oldest fact that the handler has not processed, in any process; 0 when there is none."},
		{Name: "netsim_dead_letters_open", Kind: Gauge, Unit: "dead letters", Labels: []string{"handler"}, Roles: reactor,
			Help: "Facts that the handler could not process and that are not settled."},
	}
}

func workerMetrics() []Metric {
	worker := []string{RoleWorker}
	return []Metric{
		{Name: "netsim_jobs", Kind: Gauge, Unit: "jobs", Labels: []string{"kind", "state"}, Roles: worker,
			Help: "Jobs of the queue that are still to be done, of all processes."},
		{Name: "netsim_jobs_oldest_seconds", Kind: Gauge, Unit: "seconds", Labels: []string{"kind", "state"}, Roles: worker,
			Help: "Time since the oldest of these jobs was enqueued."},
		{Name: "netsim_runs", Kind: Gauge, Unit: "simulations", Labels: []string{"engine", "state"}, Roles: worker,
			Help: "Simulations that have not ended, by state; engine is local or remote."},
		{Name: "netsim_log_checkpoint_age_seconds", Kind: Gauge, Unit: "seconds", Roles: worker,
			Help: "Time since the newest signed checkpoint of the log was made; missing when there is none."},
	}
}

// fast are the bounds for what takes milliseconds, in seconds.
func fast() []float64 {
	return []float64{.0005, .001, .002, .004, .008, .016, .032, .064, .128, .256, .512, 1, 2, 5, 10}
}

// slow are the bounds for calls over a network that move content, in seconds.
func slow() []float64 { return []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30} }
