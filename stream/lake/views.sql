-- The views for analysts. Each begins with a line that has its name.

-- view: simulation_runs
-- One row a simulation, the deleted ones too. Times are those of the events.
SELECT
	r.stream AS simulation_id, r.name, r.origin, r.account_id, r.workspace_id, r.configuration_id, r.configuration_version,
	r.sandbox_id, r.traceset_id, r.mapping_file_id, r.actor AS requested_by,
	s.engine, s.ranks,
	r.time AS requested_at, s.time AS started_at, e.time AS ended_at,
	CASE e.type
		WHEN 'netsim.simulation.completed.v1' THEN 'completed'
		WHEN 'netsim.simulation.failed.v1' THEN 'failed'
		WHEN 'netsim.simulation.terminated.v1' THEN 'terminated'
		WHEN 'netsim.simulation.invalidated.v1' THEN 'invalid'
		ELSE CASE WHEN s.stream IS NULL THEN 'waiting' ELSE 'running' END
	END AS outcome,
	e.reason AS failure_reason,
	epoch_us(coalesce(s.time, e.time) - r.time) / 1000000 AS queue_seconds,
	epoch_us(e.time - s.time) / 1000000 AS run_seconds,
	e.simulated_time_ns, e.events_processed, e.delivered_bytes,
	d.time AS deleted_at
FROM simulations r
LEFT JOIN (
	SELECT stream, min_by(engine, sequence) AS engine, min_by(ranks, sequence) AS ranks, min_by(time, sequence) AS time
	FROM simulations WHERE type = 'netsim.simulation.started.v1' GROUP BY stream
) s ON s.stream = r.stream
LEFT JOIN (
	SELECT * FROM simulations WHERE type IN ('netsim.simulation.completed.v1', 'netsim.simulation.failed.v1',
		'netsim.simulation.terminated.v1', 'netsim.simulation.invalidated.v1')
) e ON e.stream = r.stream
LEFT JOIN (SELECT * FROM simulations WHERE type = 'netsim.simulation.deleted.v1') d ON d.stream = r.stream
WHERE r.type = 'netsim.simulation.requested.v1';

-- view: cost_lines
-- The rows of /billing/costs: of each item, day and rate the newest version, and every
-- correction.
SELECT
	stream AS account_id, workspace_id, date, rate_name, currency, cost, daily_cost_id, billing_item_id, item_name, rate_id,
	rate_amount, quantity, unit_days, day_price, period, tier_start, tier_end, sandbox_id, user_id, segments,
	engine_version, version, supersedes, correction_of, time AS rated_at, source_partition, source_offset
FROM billing
WHERE type = 'netsim.billing.daily_cost_rated.v1'
QUALIFY row_number() OVER (
	PARTITION BY stream, CASE WHEN correction_of IS NULL THEN 'item' ELSE 'correction ' || daily_cost_id END,
		CASE WHEN correction_of IS NULL THEN billing_item_id END, CASE WHEN correction_of IS NULL THEN date END,
		CASE WHEN correction_of IS NULL THEN rate_id END
	ORDER BY sequence DESC) = 1;

-- view: daily_costs
-- What each workspace cost on each day at each rate. The sums are exact, and those of
-- /billing/costs and /billing/costs/summary.
SELECT account_id, date, workspace_id, rate_name, currency, sum(cost) AS cost, count(*) AS lines
FROM cost_lines
GROUP BY ALL;

-- view: configuration_versions_in_use
-- The versions of configurations that simulations were requested with.
SELECT
	r.configuration_id, r.configuration_version, any_value(c.name) AS configuration_name, r.workspace_id,
	count(*) AS simulations, min(r.time) AS first_requested_at, max(r.time) AS last_requested_at,
	bool_or(d.stream IS NOT NULL) AS configuration_deleted
FROM simulations r
LEFT JOIN (
	SELECT stream, max_by(name, sequence) AS name FROM configurations WHERE name IS NOT NULL
		AND type IN ('netsim.configuration.created.v1', 'netsim.configuration.updated.v1') GROUP BY stream
) c ON c.stream = r.configuration_id
LEFT JOIN (SELECT DISTINCT stream FROM configurations WHERE type = 'netsim.configuration.deleted.v1') d ON d.stream = r.configuration_id
WHERE r.type = 'netsim.simulation.requested.v1'
GROUP BY r.configuration_id, r.configuration_version, r.workspace_id;
