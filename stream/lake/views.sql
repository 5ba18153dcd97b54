-- The views for analysts. Each begins with a line that has its name, what it is, and its
-- columns in their order: what each means, or the table whose columns they are.

-- view: simulation_runs
-- One row a simulation, the deleted ones too. Times are those of the events.
-- | simulation_id | id of the simulation
-- | of simulations | name origin account_id workspace_id configuration_id configuration_version sandbox_id traceset_id mapping_file_id
-- | requested_by | id of the user who requested it
-- | of simulations | engine ranks
-- | requested_at | when it was requested
-- | started_at | when it started; null before
-- | ended_at | when it ended; null before
-- | outcome | waiting, running, completed, failed, terminated or invalid
-- | failure_reason | why it failed, was terminated or is invalid
-- | queue_seconds | from the request to the start
-- | run_seconds | from the start to the end
-- | of simulations | simulated_time_ns events_processed delivered_bytes
-- | deleted_at | when it was deleted; null before
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
-- correction, with the resource that the item is for.
-- | account_id | id of the account that pays
-- | of billing | workspace_id date rate_name currency cost daily_cost_id billing_item_id item_name rate_id rate_amount quantity unit_days day_price period tier_start tier_end sandbox_id user_id segments engine_version version supersedes correction_of
-- | rated_at | when this version was booked
-- | of billing | source_partition source_offset resource_type resource_id
SELECT
	c.stream AS account_id, c.workspace_id, c.date, c.rate_name, c.currency, c.cost, c.daily_cost_id, c.billing_item_id, c.item_name,
	c.rate_id, c.rate_amount, c.quantity, c.unit_days, c.day_price, c.period, c.tier_start, c.tier_end, c.sandbox_id, c.user_id, c.segments,
	c.engine_version, c.version, c.supersedes, c.correction_of, c.time AS rated_at, c.source_partition, c.source_offset,
	i.resource_type, i.resource_id
FROM (
	SELECT * FROM billing
	WHERE type = 'netsim.billing.daily_cost_rated.v1'
	QUALIFY row_number() OVER (
		PARTITION BY stream, CASE WHEN correction_of IS NULL THEN 'item' ELSE 'correction ' || daily_cost_id END,
			CASE WHEN correction_of IS NULL THEN billing_item_id END, CASE WHEN correction_of IS NULL THEN date END,
			CASE WHEN correction_of IS NULL THEN rate_id END
		ORDER BY sequence DESC) = 1
) c
LEFT JOIN (
	SELECT stream, billing_item_id, min_by(resource_type, sequence) AS resource_type, min_by(resource_id, sequence) AS resource_id
	FROM billing WHERE type = 'netsim.billing.usage_recorded.v1' GROUP BY stream, billing_item_id
) i ON i.stream = c.stream AND i.billing_item_id = c.billing_item_id;

-- view: daily_costs
-- What each workspace cost on each day at each rate. The sums are exact, and those of
-- /billing/costs and /billing/costs/summary.
-- | account_id | id of the account that pays
-- | of billing | date workspace_id rate_name currency
-- | cost | the sum of the lines
-- | lines | how many rows of cost_lines
SELECT account_id, date, workspace_id, rate_name, currency, sum(cost) AS cost, count(*) AS lines
FROM cost_lines
GROUP BY ALL;

-- view: simulation_costs
-- What each simulation cost in a currency: its run, and the storage of its results.
-- | simulation_id | id of the simulation
-- | of simulations | name
-- | account_id | id of the account that pays
-- | of simulations | workspace_id configuration_id configuration_version
-- | currency | of the costs
-- | run_cost | what the run cost
-- | results_cost | what the storage of the results has cost
-- | cost | the sum of both
-- | first_date | the first day with a cost
-- | last_date | the last day with a cost
SELECT
	l.resource_id AS simulation_id, any_value(r.name) AS name, l.account_id, any_value(r.workspace_id) AS workspace_id,
	any_value(r.configuration_id) AS configuration_id, any_value(r.configuration_version) AS configuration_version, l.currency,
	sum(CASE WHEN l.resource_type = 'simulation' THEN l.cost ELSE 0 END) AS run_cost,
	sum(CASE WHEN l.resource_type = 'results' THEN l.cost ELSE 0 END) AS results_cost,
	sum(l.cost) AS cost, min(l.date) AS first_date, max(l.date) AS last_date
FROM cost_lines l
LEFT JOIN simulations r ON r.stream = l.resource_id AND r.type = 'netsim.simulation.requested.v1'
WHERE l.resource_type IN ('simulation', 'results')
GROUP BY l.resource_id, l.account_id, l.currency;

-- view: configuration_costs
-- What the simulations of each version of a configuration cost in a currency.
-- | of simulations | configuration_id configuration_version
-- | account_id | id of the account that pays
-- | of simulations | workspace_id
-- | currency | of the costs
-- | simulations | how many have costs
-- | run_cost | what the runs cost
-- | results_cost | what the storage of the results has cost
-- | cost | the sum of both
-- | first_date | the first day with a cost
-- | last_date | the last day with a cost
SELECT
	configuration_id, configuration_version, account_id, workspace_id, currency, count(*) AS simulations,
	sum(run_cost) AS run_cost, sum(results_cost) AS results_cost, sum(cost) AS cost,
	min(first_date) AS first_date, max(last_date) AS last_date
FROM simulation_costs
GROUP BY configuration_id, configuration_version, account_id, workspace_id, currency;

-- view: configuration_versions
-- Each version of each configuration, and when it was the newest one. valid_to is null
-- while it is.
-- | configuration_id | id of the configuration
-- | configuration_version | the version, 1 for the first
-- | name | of the configuration, in this version
-- | of configurations | account_id workspace_id
-- | change | what made the version, such as created or reference_set
-- | changed_by | id of the user who made it
-- | valid_from | when the version was made
-- | valid_to | when the next one was made, or the configuration was deleted
SELECT * FROM (
	SELECT
		stream AS configuration_id, coalesce(version, 1) AS configuration_version,
		last_value(CASE WHEN event IN ('created', 'updated') THEN name END IGNORE NULLS) OVER until_then AS name,
		first_value(account_id) OVER until_then AS account_id, first_value(workspace_id) OVER until_then AS workspace_id,
		event AS change, actor AS changed_by, time AS valid_from,
		lead(time) OVER (PARTITION BY stream ORDER BY sequence) AS valid_to
	FROM (
		SELECT *, split_part(type, '.', 3) AS event FROM configurations
		WHERE starts_with(type, 'netsim.configuration.') AND type <> 'netsim.configuration.validated.v1'
	)
	WINDOW until_then AS (PARTITION BY stream ORDER BY sequence ROWS UNBOUNDED PRECEDING)
)
WHERE change <> 'deleted';

-- view: configuration_versions_in_use
-- The versions of configurations that simulations were requested with.
-- | of simulations | configuration_id configuration_version
-- | configuration_name | the newest name
-- | of simulations | workspace_id
-- | simulations | how many were requested
-- | first_requested_at | when the first was requested
-- | last_requested_at | when the last was requested
-- | configuration_deleted | whether the configuration was deleted
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
