-- Billing items, folded from billing events; closed ones too.
CREATE TABLE billing_items (
    id            bigint      NOT NULL PRIMARY KEY,
    account_id    text        NOT NULL,
    event_type    text        NOT NULL, -- cluster, storage, workspace
    event_action  text        NOT NULL, -- the last one
    rate_name     text        NOT NULL,
    item_name     text        NOT NULL,
    quantity      bigint      NOT NULL, -- units now
    workspace_id  text        NOT NULL,
    sandbox_id    text        NOT NULL,
    user_id       text        NOT NULL, -- who opened it, '' for the service
    resource_type text        NOT NULL,
    resource_id   text        NOT NULL,
    ranks         bigint      NOT NULL,
    size_bytes    bigint      NOT NULL,
    engine        text        NOT NULL,
    started_at    timestamptz NOT NULL,
    changed_at    timestamptz NOT NULL, -- when the cause of the last event happened
    ended_at      timestamptz,          -- null while active
    opened_by     bigint      NOT NULL, -- billing events
    changed_by    bigint      NOT NULL,
    closed_by     bigint      NOT NULL  -- 0 while active
) WITH (fillfactor = 85);

CREATE INDEX billing_items_key ON billing_items ((id::text)); -- how a batch finds its rows
CREATE INDEX billing_items_account ON billing_items (account_id, started_at, id);
CREATE INDEX billing_items_started ON billing_items (started_at, id);
CREATE INDEX billing_items_workspace ON billing_items (workspace_id, started_at, id);
CREATE INDEX billing_items_active ON billing_items (account_id, started_at, id) WHERE ended_at IS NULL;
CREATE INDEX billing_items_resource ON billing_items (resource_id, resource_type, id);
CREATE INDEX billing_items_rated ON billing_items (account_id, rate_name, coalesce(ended_at, 'infinity'), id);
CREATE INDEX billing_items_ended ON billing_items (coalesce(ended_at, 'infinity'));

-- The bytes of all active items of storage.
CREATE TABLE account_storage (
    account_id text   NOT NULL PRIMARY KEY,
    bytes      bigint NOT NULL
);

-- Billing events as they stand in the log.
CREATE TABLE billing_events (
    id             bigint      NOT NULL PRIMARY KEY,
    item_id        bigint      NOT NULL,
    account_id     text        NOT NULL,
    event_type     text        NOT NULL,
    event_action   text        NOT NULL,
    rate_name      text        NOT NULL,
    item_name      text        NOT NULL,
    previous_count bigint      NOT NULL,
    current_count  bigint      NOT NULL,
    billable_count bigint      NOT NULL,
    workspace_id   text        NOT NULL,
    sandbox_id     text        NOT NULL,
    user_id        text        NOT NULL,
    resource_type  text        NOT NULL,
    resource_id    text        NOT NULL,
    cause_type     text        NOT NULL,
    cause_id       text        NOT NULL,
    ranks          bigint      NOT NULL,
    size_bytes     bigint      NOT NULL,
    engine         text        NOT NULL,
    occurred_at    timestamptz NOT NULL,
    received_at    timestamptz NOT NULL,
    sequence       bigint      NOT NULL, -- in the account's stream
    hash           text        NOT NULL, -- hex
    previous_hash  text        NOT NULL  -- hex, '' for the first
);
CREATE INDEX billing_events_account ON billing_events (account_id, occurred_at, id);
CREATE INDEX billing_events_occurred ON billing_events (occurred_at, id);
CREATE INDEX billing_events_workspace ON billing_events (workspace_id, occurred_at, id);
CREATE INDEX billing_events_user ON billing_events (user_id, occurred_at, id);
CREATE INDEX billing_events_item ON billing_events (item_id, sequence);
CREATE INDEX billing_events_cause ON billing_events (cause_id);
