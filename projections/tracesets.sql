-- Tracesets, the deleted ones too: libraries count live references.
CREATE TABLE tracesets (
    id           text        NOT NULL PRIMARY KEY,
    account_id   text        NOT NULL,
    workspace_id text        NOT NULL,
    partition_key text       NOT NULL, -- of its stream
    name         text        NOT NULL,
    description  text        NOT NULL,
    format       text        NOT NULL,
    files        text        NOT NULL, -- JSON array of events.TracesetFile
    library_hash text COLLATE "C" NOT NULL, -- of which prefixes are looked up
    library_id   text        NOT NULL, -- derives from the hash
    total_size   bigint      NOT NULL,
    ttl_days     bigint      NOT NULL,
    rank_count   bigint      NOT NULL,
    status       text        NOT NULL,
    scope        text        NOT NULL, -- workspace, tenant or public
    tags         text        NOT NULL, -- JSON array
    workload     text        NOT NULL, -- JSON
    layout       text        NOT NULL, -- cas or prefix
    ranges       text        NOT NULL, -- JSON array of events.RankRange
    file_count   bigint      NOT NULL,
    summary      text        NOT NULL, -- JSON
    warnings     text        NOT NULL, -- JSON array
    failure      text        NOT NULL,
    created_at   timestamptz NOT NULL,
    modified_at  timestamptz NOT NULL,
    expires_at   timestamptz
);
CREATE INDEX tracesets_day ON tracesets (account_id, created_at);
CREATE INDEX tracesets_library ON tracesets (library_hash, account_id, created_at, id) WHERE status <> 'deleted';
CREATE INDEX tracesets_billed ON tracesets (library_hash, account_id); -- the deleted ones too
CREATE INDEX tracesets_library_id ON tracesets (library_id);
-- A list merges one walk for each scope and status, over what is its own.
CREATE INDEX tracesets_scope ON tracesets (scope, status, created_at DESC, id DESC) WHERE status <> 'deleted';
CREATE INDEX tracesets_account ON tracesets (account_id, scope, status, created_at DESC, id DESC) WHERE status <> 'deleted';
CREATE INDEX tracesets_workspace ON tracesets (workspace_id, scope, status, created_at DESC, id DESC) WHERE status <> 'deleted';
CREATE INDEX tracesets_place ON tracesets (workspace_id, account_id, scope, status, created_at DESC, id DESC) WHERE status <> 'deleted';
CREATE INDEX tracesets_processing ON tracesets (id) WHERE status = 'processing';
CREATE INDEX tracesets_expiry ON tracesets (expires_at) WHERE status <> 'deleted' AND expires_at IS NOT NULL;
