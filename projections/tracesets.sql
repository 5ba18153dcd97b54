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
CREATE INDEX tracesets_library ON tracesets (library_hash, account_id);
CREATE INDEX tracesets_workspace ON tracesets (workspace_id, created_at DESC, id DESC) WHERE status <> 'deleted';
CREATE INDEX tracesets_account ON tracesets (account_id, created_at DESC, id DESC) WHERE status <> 'deleted';
CREATE INDEX tracesets_tenant ON tracesets (account_id, created_at DESC, id DESC) WHERE status <> 'deleted' AND scope = 'tenant';
CREATE INDEX tracesets_public ON tracesets (created_at DESC, id DESC) WHERE status <> 'deleted' AND scope = 'public';
CREATE INDEX tracesets_expiry ON tracesets (expires_at) WHERE status <> 'deleted' AND expires_at IS NOT NULL;
