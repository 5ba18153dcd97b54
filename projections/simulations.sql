-- Simulations, the deleted ones too: billing and terminate ask for them.
-- PostgreSQL finds a column by walking over those before it, unless these have a fixed
-- length and are not null. So these come first, then what indexes read.
CREATE TABLE simulations (
    created_at             timestamptz NOT NULL,
    configuration_version  bigint      NOT NULL,
    duration_ns            bigint      NOT NULL,
    checkpoint_interval_ns bigint      NOT NULL, -- 0: no checkpoints
    ranks                  bigint      NOT NULL,
    simulated_time_ns      bigint      NOT NULL,
    events_processed       bigint      NOT NULL,
    delivered_bytes        bigint      NOT NULL,
    finished_ranks         bigint      NOT NULL,
    unfinished_ranks       bigint      NOT NULL,
    total_bytes            bigint      NOT NULL, -- of the whole workload; 0: not known
    finished_collectives   bigint      NOT NULL,
    total_collectives      bigint      NOT NULL,
    checkpoint             bigint      NOT NULL, -- index of the last, 0 before the first
    results_bytes          bigint      NOT NULL,
    total_packets          bigint      NOT NULL,
    avg_latency_ps         bigint      NOT NULL,
    study_point            bigint      NOT NULL, -- 0 without a study
    study_round            bigint      NOT NULL,
    time_ps                bigint      NOT NULL, -- this and the next four: of whole results
    goodput_bps            bigint      NOT NULL,
    mean_link_ppm          bigint      NOT NULL,
    bottleneck_ppm         bigint      NOT NULL,
    exposed_ppm            bigint      NOT NULL,
    dominated_by           bigint      NOT NULL, -- point of the study that dominates it, if there is a reason
    started_at             timestamptz,
    completed_at           timestamptz,
    id                     text        NOT NULL PRIMARY KEY,
    account_id             text        NOT NULL,
    workspace_id           text        NOT NULL,
    status                 text        NOT NULL,
    deleted                text        NOT NULL, -- why: '', request, workspace or study
    name                   text        NOT NULL,
    configuration_id       text        NOT NULL,
    study_id               text        NOT NULL, -- '' without a study
    input_hash             text        NOT NULL, -- '' until it is known
    item                   text        NOT NULL, -- the row of a list, as JSON
    origin                 text        NOT NULL,
    duration               text        NOT NULL,
    mapping_file_id        text        NOT NULL,
    traceset_id            text        NOT NULL,
    simple                 text        NOT NULL,
    created_by             text        NOT NULL,
    sandbox_id             text        NOT NULL,
    engine                 text        NOT NULL,
    run_id                 text        NOT NULL,
    base_url               text        NOT NULL, -- of a remote engine
    capabilities           text        NOT NULL, -- of a remote engine, joined by spaces
    failure_reason         text        NOT NULL,
    domination_reason      text        NOT NULL, -- why its study stopped it; '' if it did not
    last_collective        text        NOT NULL, -- that finished, in words
    progressed_at          timestamptz, -- when this was so
    stalled_since          timestamptz, -- since when simulated time stands still
    checkpoint_key         text        NOT NULL, -- its object
    earlier_checkpoint     text        NOT NULL, -- the object of the one before
    results_prefix         text        NOT NULL,
    results_manifest       text        NOT NULL, -- '' until published
    engine_version         text        NOT NULL, -- of whole results
    busiest_tier           text        NOT NULL,
    bottleneck             text        NOT NULL
) WITH (fillfactor = 85);

-- The orders that may change with the status, or are asked for together with it.
-- Each index makes every change of the status more expensive, so each has a query
-- that needs it.
CREATE INDEX simulations_status ON simulations (account_id, status, created_at, id) WHERE deleted = '';
CREATE INDEX simulations_workspace ON simulations (workspace_id, account_id, status, created_at, id) WHERE deleted = '';
CREATE INDEX simulations_name ON simulations (account_id, name COLLATE "C", id) WHERE deleted = '';
CREATE INDEX simulations_by_status ON simulations (account_id, status, id) WHERE deleted = '';
CREATE INDEX simulations_by_start ON simulations (account_id, (coalesce(started_at, 'infinity')), id) WHERE deleted = '';
CREATE INDEX simulations_by_end ON simulations (account_id, (coalesce(completed_at, 'infinity')), id) WHERE deleted = '';
CREATE INDEX simulations_study ON simulations (study_id, study_point, study_round) WHERE study_id <> '';
CREATE INDEX simulations_input ON simulations (account_id, input_hash) WHERE input_hash <> '' AND deleted = '';
CREATE INDEX simulations_open ON simulations (id) WHERE status IN ('validating', 'provisioning', 'running');

-- The orders that stay, of those that are not deleted. A change of the status
-- changes the item alone: it stays on its page and costs no index anything.
CREATE TABLE simulation_items (
    account_id   text        NOT NULL,
    created_at   timestamptz NOT NULL,
    id           text        NOT NULL,
    workspace_id text        NOT NULL,
    name         text        NOT NULL,
    folded       text        NOT NULL GENERATED ALWAYS AS (lower(name)) STORED,
    item         text        NOT NULL,
    grams        int4[]      NOT NULL, -- of the folded name, with its account and day
    PRIMARY KEY (account_id, created_at, id)
) WITH (fillfactor = 70);
CREATE INDEX simulation_items_workspace ON simulation_items (workspace_id, account_id, created_at, id);
CREATE INDEX simulation_items_workspace_name ON simulation_items (workspace_id, account_id, name COLLATE "C", id);

-- A search reads the whole list of entries that are not in the index yet, once
-- for each day, so that list is kept short (in kB).
CREATE INDEX simulation_items_grams ON simulation_items USING gin (grams) WITH (gin_pending_list_limit = 64);

CREATE TABLE simulation_counts (
    workspace_id text   NOT NULL,
    account_id   text   NOT NULL,
    total        bigint NOT NULL, -- not deleted
    active       bigint NOT NULL, -- validating, provisioning or running
    PRIMARY KEY (workspace_id, account_id)
);

-- What became of a simulation, and how far it came, one after the other: what
-- GET /simulations/{sim_id}/events tells. It goes with the simulation.
CREATE TABLE simulation_history (
    simulation_id text        NOT NULL,
    sequence      bigint      NOT NULL, -- of the fact in its stream
    moment_at     timestamptz NOT NULL,
    progressed    boolean     NOT NULL, -- or else the status changed
    status        text        NOT NULL,
    reason        text        NOT NULL, -- of a failure
    progress      text        NOT NULL, -- as JSON; '' before there is any
    PRIMARY KEY (simulation_id, sequence)
);
