-- Tracesets, the deleted ones too: libraries count live references.
CREATE TABLE tracesets (
    id           text        NOT NULL PRIMARY KEY,
    account_id   text        NOT NULL,
    workspace_id text        NOT NULL,
    name         text        NOT NULL,
    description  text        NOT NULL,
    format       text        NOT NULL,
    files        text        NOT NULL, -- JSON array of events.TracesetFile
    library_hash text        NOT NULL,
    total_size   bigint      NOT NULL,
    ttl_days     bigint      NOT NULL,
    rank_count   bigint      NOT NULL,
    status       text        NOT NULL,
    created_at   timestamptz NOT NULL
);
CREATE INDEX tracesets_library ON tracesets (account_id, library_hash);
