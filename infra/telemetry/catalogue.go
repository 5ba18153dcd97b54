package telemetry

import "slices"

// The roles of a process, as in NETSIM_ROLES.
const (
	RoleAPI       = "api"
	RoleProjector = "projector"
	RoleReactor   = "reactor"
	RoleWorker    = "worker"
	RolePublisher = "publisher"
	RoleLake      = "lake"
	RoleArchiver  = "archiver"
)

// Kind is the type of a metric.
type Kind string

// The types of metrics.
const (
	Counter   Kind = "counter"
	Gauge     Kind = "gauge"
	Histogram Kind = "histogram"
)

// Metric describes one metric. No label is an id, an account or a path, so clients
// cannot increase the number of series without limit.
type Metric struct {
	Name    string
	Kind    Kind
	Unit    string // seconds, bytes, or what is counted, such as jobs
	Labels  []string
	Roles   []string  // a process with one of these roles exposes the metric
	Help    string    // one sentence
	buckets []float64 // of a histogram
}

// Catalogue lists every metric of the service, except those of the Go runtime and
// the process.
func Catalogue() []Metric {
	return slices.Concat(commonMetrics(), apiMetrics(), projectorMetrics(), reactorMetrics(), workerMetrics(), publisherMetrics(), lakeMetrics(), archiverMetrics(), webhookMetrics())
}

func commonMetrics() []Metric {
	every := []string{RoleAPI, RoleProjector, RoleReactor, RoleWorker, RolePublisher, RoleLake, RoleArchiver}
	writers := []string{RoleAPI, RoleReactor, RoleWorker}
	pool := "db_client_connection_pool_name"
	return []Metric{
		{Name: "netsim_build_info", Kind: Gauge, Labels: []string{"version", "commit", "go"}, Roles: every,
			Help: "Always 1; the labels say which build is running."},
		{Name: "netsim_release_level", Kind: Gauge, Labels: []string{"of"}, Roles: every,
			Help: "The level of the deployment, as the process last read it (of is deployment), and the newest that the process knows (of is release)."},
		{Name: "netsim_superseded", Kind: Gauge, Roles: every,
			Help: "1 if the process serves a superseded read model, because that of another release was promoted; else 0."},
		{Name: "netsim_collector_errors_total", Kind: Counter, Unit: "errors", Labels: []string{"collector"}, Roles: every,
			Help: "Queries for metrics that failed or timed out; the collector's metrics are missing from that scrape."},
		{Name: "netsim_ready", Kind: Gauge, Labels: []string{"role"}, Roles: every,
			Help: "For each role of the process: 1 if /readyz answers 200, 0 if it answers 503."},
		{Name: "netsim_check_failing", Kind: Gauge, Labels: []string{"check"}, Roles: every,
			Help: "1 if a check of /readyz fails or warns, 0 if it passes."},
		{Name: "netsim_certificate_expiry_timestamp_seconds", Kind: Gauge, Unit: "seconds", Labels: []string{"peer"}, Roles: every,
			Help: "Unix time when the first certificate expires that a peer has shown, or that is shown to it: postgres, kafka, objects, issuer, engine or schema_registry; absent for a peer without TLS."},
		{Name: "netsim_kafka_credential_failures_total", Kind: Counter, Unit: "failures", Labels: []string{"credential"}, Roles: every,
			Help: "Changed files of certificates for Kafka that cannot be used, and tokens for Kafka that could not be had; the former certificates stay in use."},
		{Name: "netsim_memory_limit_bytes", Kind: Gauge, Unit: "bytes", Roles: every,
			Help: "The lowest of GOMEMLIMIT and the limits of the process's control groups; absent if there is none."},
		{Name: "netsim_trace_spans_total", Kind: Counter, Unit: "spans", Labels: []string{"outcome"}, Roles: every,
			Help: "Trace spans by outcome: exported, or failed because the collector did not accept them."},
		{Name: "netsim_cache_entries", Kind: Gauge, Unit: "entries", Labels: []string{"cache"}, Roles: []string{RoleAPI, RoleProjector},
			Help: "Entries of an in-memory cache: verified tokens, stream states, or rows of projections."},
		{Name: "netsim_cache_bytes", Kind: Gauge, Unit: "bytes", Labels: []string{"cache"}, Roles: []string{RoleAPI, RoleProjector},
			Help: "Size of the entries of an in-memory cache, without the overhead of Go maps."},
		{Name: "db_client_operation_duration_seconds", Kind: Histogram, Unit: "seconds", Labels: []string{"db_operation_name", "error_type"}, Roles: every,
			Help: "Duration of PostgreSQL calls; error_type is empty on success.", buckets: fast()},
		{Name: "db_client_connections", Kind: Gauge, Unit: "connections", Labels: []string{pool, "db_client_connection_state"}, Roles: every,
			Help: "Connections of a pool, by state: used or idle."},
		{Name: "db_client_connections_max", Kind: Gauge, Unit: "connections", Labels: []string{pool}, Roles: every,
			Help: "Maximum number of connections of a pool."},
		{Name: "db_client_connection_acquires_total", Kind: Counter, Unit: "acquires", Labels: []string{pool}, Roles: every,
			Help: "Acquires of a connection from a pool."},
		{Name: "db_client_connection_acquire_seconds_total", Kind: Counter, Unit: "seconds", Labels: []string{pool}, Roles: every,
			Help: "Time spent waiting for a connection of a pool."},
		{Name: "db_client_connection_timeouts_total", Kind: Counter, Unit: "acquires", Labels: []string{pool}, Roles: every,
			Help: "Acquires that ended without a connection."},
		{Name: "netsim_object_store_operation_duration_seconds", Kind: Histogram, Unit: "seconds", Labels: []string{"operation", "error_type"}, Roles: append([]string{RoleLake, RoleArchiver}, writers...),
			Help: "Duration of object store calls up to the response header; error_type is empty on success.", buckets: slow()},
		{Name: "netsim_command_duration_seconds", Kind: Histogram, Unit: "seconds", Labels: []string{"command", "outcome", "code"}, Roles: writers,
			Help: "Duration of commands by outcome; code is the error code, empty without an error.", buckets: fast()},
		{Name: "netsim_command_attempts_total", Kind: Counter, Unit: "attempts", Labels: []string{"command"}, Roles: writers,
			Help: "Attempts of commands; a command takes more than one when another writer was first."},
		{Name: "netsim_log_requests_total", Kind: Counter, Unit: "requests", Labels: []string{"api"}, Roles: every,
			Help: "Requests to the brokers of the event log, by the name of the API in Kafka's protocol, such as Fetch or Produce."},
		{Name: "netsim_log_append_duration_seconds", Kind: Histogram, Unit: "seconds", Labels: []string{"topic", "outcome"}, Roles: writers,
			Help: "Time from the append of a record to its outcome: written, not_written or unknown.", buckets: fast()},
		{Name: "netsim_log_append_queue_records", Kind: Gauge, Unit: "records", Labels: []string{"topic", "partition"}, Roles: writers,
			Help: "Records queued for or in flight to a partition of the event log."},
		{Name: "netsim_log_append_queue_bytes", Kind: Gauge, Unit: "bytes", Labels: []string{"topic", "partition"}, Roles: writers,
			Help: "Size of the records queued for or in flight to a partition of the event log."},
		{Name: "netsim_verdicts_waiting", Kind: Gauge, Unit: "waits", Roles: writers,
			Help: "Callers in this process that wait for a verdict."},
	}
}

func apiMetrics() []Metric {
	api := []string{RoleAPI}
	return []Metric{
		{Name: "http_server_request_duration_seconds", Kind: Histogram, Unit: "seconds",
			Labels: []string{"http_request_method", "http_route", "http_response_status_code"}, Roles: api,
			Help: "Duration of requests by route pattern; status code 0 means that no response was begun.", buckets: fast()},
		{Name: "http_server_active_requests", Kind: Gauge, Unit: "requests", Roles: api,
			Help: "Requests in progress."},
		{Name: "netsim_http_refused_total", Kind: Counter, Unit: "requests", Labels: []string{"class", "code"}, Roles: api,
			Help: "Requests that were not admitted, by cost class and error code."},
		{Name: "netsim_http_slots", Kind: Gauge, Unit: "requests", Labels: []string{"class"}, Roles: api,
			Help: "Slots of a cost class in this process: how many requests it serves at a time."},
		{Name: "netsim_http_slots_used", Kind: Gauge, Unit: "requests", Labels: []string{"class"}, Roles: api,
			Help: "Slots of a cost class in use."},
		{Name: "netsim_http_slots_waiting", Kind: Gauge, Unit: "requests", Labels: []string{"class"}, Roles: api,
			Help: "Requests of a cost class that wait for a slot."},
		{Name: "netsim_http_body_bytes", Kind: Gauge, Unit: "bytes", Roles: api,
			Help: "Memory reserved for request bodies."},
		{Name: "netsim_token_reads_total", Kind: Counter, Unit: "requests", Labels: []string{"source"}, Roles: api,
			Help: "Reads with a Consistency-Token, by what answered them: standby, primary, or refused because the read model has not reached the token."},
		{Name: "netsim_standby_retries_total", Kind: Counter, Unit: "requests", Labels: []string{"reason"}, Roles: api,
			Help: "Reads that a standby failed and the primary answered, by reason: conflict with the replay, or failed."},
		{Name: "netsim_standby_used", Kind: Gauge, Labels: []string{"standby"}, Roles: api,
			Help: "1 while a standby answers reads, 0 while it is left out; the label is its place in NETSIM_POSTGRES_STANDBYS, from 0."},
		{Name: "netsim_standby_age_seconds", Kind: Gauge, Unit: "seconds", Labels: []string{"standby"}, Roles: api,
			Help: "How old the rows of a standby are at most; 0 while it is left out."},
		{Name: "netsim_streams_open", Kind: Gauge, Unit: "streams", Roles: api,
			Help: "Clients that follow a simulation or a study by server-sent events."},
		{Name: "netsim_feed_clients", Kind: Gauge, Unit: "feeds", Roles: api,
			Help: "Open feeds of events."},
		{Name: "netsim_feed_clients_behind", Kind: Gauge, Unit: "feeds", Roles: api,
			Help: "Open feeds of events that still read the log up to its end."},
		{Name: "netsim_feed_partitions", Kind: Gauge, Unit: "partitions", Roles: api,
			Help: "Partitions that the process follows for feeds of events."},
		{Name: "netsim_feed_events_total", Kind: Counter, Unit: "events", Roles: api,
			Help: "Events sent to clients of feeds."},
		{Name: "netsim_feed_ended_total", Kind: Counter, Unit: "feeds", Labels: []string{"reason"}, Roles: api,
			Help: "Feeds of events that ended, by reason: slow, lifetime, shutdown, unavailable, unauthorized or gone."},
		{Name: "netsim_feed_errors_total", Kind: Counter, Unit: "errors", Roles: api,
			Help: "Failed reads of the log or of the owners of streams for feeds of events."},
		{Name: "netsim_jwks_fetches_total", Kind: Counter, Unit: "fetches", Labels: []string{"outcome"}, Roles: api,
			Help: "Fetches of the token issuer's keys, by outcome: fetched or failed."},
		{Name: "netsim_jwks_age_seconds", Kind: Gauge, Unit: "seconds", Roles: api,
			Help: "Time since the last successful fetch of the token issuer's keys; absent before the first."},
	}
}

func projectorMetrics() []Metric {
	projector := []string{RoleProjector}
	return []Metric{
		{Name: "netsim_projector_lag_records", Kind: Gauge, Unit: "records", Labels: []string{"family", "partition"}, Roles: append([]string{RoleAPI}, projector...),
			Help: "Records of a partition of the event log that are not applied to the read model."},
		{Name: "netsim_projector_lag_seconds", Kind: Gauge, Unit: "seconds", Labels: []string{"family", "partition"}, Roles: append([]string{RoleAPI}, projector...),
			Help: "Age of the oldest record of the partition that is not applied; 0 if there is none."},
		{Name: "netsim_log_brokers_absent", Kind: Gauge, Unit: "brokers", Roles: append([]string{RoleAPI}, projector...),
			Help: "Brokers that have replicas of the event log and are not in the cluster."},
		{Name: "netsim_log_partitions", Kind: Gauge, Unit: "partitions", Labels: []string{"state"}, Roles: append([]string{RoleAPI}, projector...),
			Help: "Partitions of the event log by state: out_of_sync, with a replica that lags or whose broker does not answer, or leaderless."},
		{Name: "netsim_log_refused", Kind: Gauge, Roles: append([]string{RoleAPI}, projector...),
			Help: "1 if the service refuses the topics of the event log, because of their settings, their replicas or missing records; else 0."},
		{Name: "netsim_projector_batch_records", Kind: Histogram, Unit: "records", Roles: projector,
			Help: "Records in a batch, which is one transaction.", buckets: []float64{1, 4, 16, 64, 256, 1024, 4096, 8192, 16384}},
		{Name: "netsim_projector_batch_duration_seconds", Kind: Histogram, Unit: "seconds", Roles: projector,
			Help: "Time to judge and commit a batch.", buckets: fast()},
		{Name: "netsim_projector_records_total", Kind: Counter, Unit: "records", Labels: []string{"verdict"}, Roles: projector,
			Help: "Records that this process judged, by verdict."},
		{Name: "netsim_projector_parked_total", Kind: Counter, Unit: "records", Roles: projector,
			Help: "Facts that this process could not apply to the read model."},
		{Name: "netsim_projector_parked_streams", Kind: Gauge, Unit: "streams", Roles: projector,
			Help: "Streams with facts that cannot be applied."},
		{Name: "netsim_log_forged_records_total", Kind: Counter, Unit: "records", Roles: projector,
			Help: "Records that this process judged forged: a writer without a key reaches the event log."},
	}
}

func reactorMetrics() []Metric {
	reactor := []string{RoleReactor}
	return []Metric{
		{Name: "netsim_reactions_total", Kind: Counter, Unit: "records", Labels: []string{"handler", "outcome"}, Roles: reactor,
			Help: "Records by handler and outcome: done, not_a_fact, failed (and tried again), dead_letter."},
		{Name: "netsim_reaction_duration_seconds", Kind: Histogram, Unit: "seconds", Labels: []string{"handler"}, Roles: reactor,
			Help: "Duration of a handler's attempt to process a fact.", buckets: fast()},
		{Name: "netsim_reaction_lag_seconds", Kind: Gauge, Unit: "seconds", Labels: []string{"handler"}, Roles: reactor,
			Help: "Age of the oldest fact that the handler has not processed in any process; 0 if there is none."},
		{Name: "netsim_dead_letters_open", Kind: Gauge, Unit: "dead letters", Labels: []string{"handler"}, Roles: reactor,
			Help: "Dead letters of the handler that are not settled."},
	}
}

func workerMetrics() []Metric {
	worker := []string{RoleWorker}
	return []Metric{
		{Name: "netsim_temporary_free_bytes", Kind: Gauge, Unit: "bytes", Roles: worker,
			Help: "What the disk with the process's temporary files (TMPDIR) has left."},
		{Name: "netsim_jobs", Kind: Gauge, Unit: "jobs", Labels: []string{"kind", "state"}, Roles: worker,
			Help: "Jobs of all processes that have not ended."},
		{Name: "netsim_jobs_oldest_seconds", Kind: Gauge, Unit: "seconds", Labels: []string{"kind", "state"}, Roles: worker,
			Help: "Time since the oldest job that has not ended was enqueued."},
		{Name: "netsim_runs", Kind: Gauge, Unit: "simulations", Labels: []string{"engine", "state"}, Roles: worker,
			Help: "Simulations that have not ended; engine is none before the start."},
		{Name: "netsim_runs_ended_total", Kind: Counter, Unit: "simulations", Labels: []string{"outcome"}, Roles: worker,
			Help: "Simulations whose run this process ended, by outcome: completed or failed."},
		{Name: "netsim_runs_stalled", Kind: Gauge, Unit: "simulations", Roles: worker,
			Help: "Simulations that run and whose simulated time stands still for a third of NETSIM_RUN_STALL or longer."},
		{Name: "netsim_studies_running", Kind: Gauge, Unit: "studies", Roles: worker,
			Help: "Studies that are neither completed nor terminated."},
		{Name: "netsim_study_points", Kind: Gauge, Unit: "points", Labels: []string{"state"}, Roles: worker,
			Help: "Points of studies by state: waiting for their first run in a running study, or unfinished, with a run that has not ended."},
		{Name: "netsim_billing_accrual_age_seconds", Kind: Gauge, Unit: "seconds", Roles: worker,
			Help: "Time since the end of the last day whose costs are booked; absent before the first."},
		{Name: "netsim_log_checkpoint_age_seconds", Kind: Gauge, Unit: "seconds", Roles: worker,
			Help: "Time since the newest log checkpoint was signed; absent if there is none."},
	}
}

func lakeMetrics() []Metric {
	lake := []string{RoleLake}
	return []Metric{
		{Name: "netsim_lake_writing", Kind: Gauge, Roles: lake,
			Help: "1 in the process that writes the lake, 0 in others."},
		{Name: "netsim_lake_lag_facts", Kind: Gauge, Unit: "records", Roles: lake,
			Help: "Judged records that are not in the lake; 0 in a process that does not write it."},
		{Name: "netsim_lake_lag_seconds", Kind: Gauge, Unit: "seconds", Roles: lake,
			Help: "Age of the oldest record that waits for the lake's next snapshot; 0 in a process that does not write it."},
		{Name: "netsim_lake_commits_total", Kind: Counter, Unit: "snapshots", Roles: lake,
			Help: "Snapshots that this process committed."},
		{Name: "netsim_lake_facts_total", Kind: Counter, Unit: "facts", Roles: lake,
			Help: "Facts that this process committed to the lake."},
		{Name: "netsim_lake_files_total", Kind: Counter, Unit: "files", Labels: []string{"outcome"}, Roles: lake,
			Help: "Files of the lake that this process committed, replaced by merged ones (merged), and deleted."},
		{Name: "netsim_lake_failures_total", Kind: Counter, Unit: "failures", Roles: lake,
			Help: "Attempts to write the lake that failed and were repeated from the committed positions."},
	}
}

func archiverMetrics() []Metric {
	archiver := []string{RoleArchiver}
	return []Metric{
		{Name: "netsim_archive_writing", Kind: Gauge, Roles: archiver,
			Help: "1 in the process that archives the log, 0 in others."},
		{Name: "netsim_archive_lag_seconds", Kind: Gauge, Unit: "seconds", Roles: archiver,
			Help: "Age of the newest moment from which on records may be missing in the archive; 0 in a process that does not write it."},
		{Name: "netsim_archive_records_total", Kind: Counter, Unit: "records", Roles: archiver,
			Help: "Records that this process archived."},
		{Name: "netsim_archive_failures_total", Kind: Counter, Unit: "failures", Roles: archiver,
			Help: "Attempts to archive that failed and were repeated."},
	}
}

func publisherMetrics() []Metric {
	publisher := []string{RolePublisher}
	return []Metric{
		{Name: "netsim_publisher_facts_total", Kind: Counter, Unit: "facts", Labels: []string{"family"}, Roles: publisher,
			Help: "Facts that this process published."},
		{Name: "netsim_publisher_transaction_duration_seconds", Kind: Histogram, Unit: "seconds", Labels: []string{"outcome"}, Roles: publisher,
			Help: "Duration of the transactions of public topics by outcome: committed, or failed, which is aborted and repeated.", buckets: fast()},
		{Name: "netsim_publisher_failures_total", Kind: Counter, Unit: "failures", Roles: publisher,
			Help: "Attempts to publish that ended with an error and were repeated from the committed positions."},
		{Name: "netsim_publisher_lag_records", Kind: Gauge, Unit: "records", Roles: publisher,
			Help: "Judged records of the shards of this process that are not published."},
		{Name: "netsim_publisher_lag_seconds", Kind: Gauge, Unit: "seconds", Roles: publisher,
			Help: "Age of the oldest fact that this process has read and not published; 0 if there is none."},
		{Name: "netsim_schema_registry_schemas", Kind: Gauge, Unit: "schemas", Labels: []string{"state"}, Roles: publisher,
			Help: "Schemas of event types by state: registered in the schema registry, or missing; both are 0 without a registry."},
		{Name: "netsim_schema_registry_failures_total", Kind: Counter, Unit: "failures", Roles: publisher,
			Help: "Attempts to register every schema that failed because the schema registry did not answer or refused a schema."},
	}
}

// fast returns the buckets for durations of milliseconds, in seconds.
func fast() []float64 {
	return []float64{.0005, .001, .002, .004, .008, .016, .032, .064, .128, .256, .512, 1, 2, 5, 10}
}

// slow returns the buckets for transfers over a network, in seconds.
func slow() []float64 { return []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30} }
