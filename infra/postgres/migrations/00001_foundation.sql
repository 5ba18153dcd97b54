-- +goose Up

-- Names behind the opaque ids of events, as tokens bring them. A row can be
-- deleted: whoever it was is forgotten, and no event changes.
CREATE TABLE directory (
    kind       text        NOT NULL CHECK (kind IN ('user', 'account', 'sandbox')),
    id         text        NOT NULL,
    name       text        NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (kind, id)
);
CREATE INDEX directory_name ON directory (kind, name);

-- Keys that seal cursors, newest first in use; two days are kept.
CREATE TABLE cursor_keys (
    id         bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key        bytea       NOT NULL CHECK (length(key) = 32),
    created_at timestamptz NOT NULL
);

-- Counters of the integer ids of billing. They are raised above what the read
-- model holds at every start, so a lost database repeats no id.
CREATE SEQUENCE billing_items_id;
CREATE SEQUENCE billing_events_id;
CREATE SEQUENCE daily_costs_id;

CREATE TABLE simulation_logs (
    simulation_id text        NOT NULL,
    line          bigint      NOT NULL, -- 1, 2, 3 … within the simulation
    logged_at     timestamptz NOT NULL,
    level         smallint    NOT NULL, -- 0 debug, 1 info, 2 warn, 3 error
    component     text        NOT NULL,
    message       text        NOT NULL,
    PRIMARY KEY (simulation_id, line)
);

-- +goose Down
DROP TABLE simulation_logs;
DROP SEQUENCE daily_costs_id;
DROP SEQUENCE billing_events_id;
DROP SEQUENCE billing_items_id;
DROP TABLE cursor_keys;
DROP TABLE directory;
