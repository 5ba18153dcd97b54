-- Upload sessions, of tracesets and of mapping files.
CREATE TABLE uploads (
    id           text        NOT NULL PRIMARY KEY,
    account_id   text        NOT NULL,
    workspace_id text        NOT NULL,
    kind         text        NOT NULL, -- traceset or mapping_file
    result_id    text        NOT NULL, -- what it became, or is to become
    name         text        NOT NULL,
    description  text        NOT NULL,
    tags         text        NOT NULL, -- JSON array
    ttl_days     bigint      NOT NULL,
    workload     text        NOT NULL, -- JSON
    files        text        NOT NULL, -- JSON array of events.UploadFile
    status       text        NOT NULL, -- open, completed or aborted
    reason       text        NOT NULL, -- of an abort; deleted when its traceset is
    created_at   timestamptz NOT NULL,
    expires_at   timestamptz NOT NULL
);
CREATE INDEX uploads_day ON uploads (account_id, created_at);
CREATE INDEX uploads_open ON uploads (account_id) WHERE status = 'open';
CREATE INDEX uploads_expiry ON uploads (expires_at) WHERE status = 'open';
CREATE INDEX uploads_workspace ON uploads (workspace_id, id) WHERE status = 'open';
-- A traceset is listed from its upload on, and when nothing came of it.
CREATE INDEX uploads_result ON uploads (result_id) WHERE kind = 'traceset';
CREATE INDEX uploads_listed ON uploads (status, created_at DESC, result_id DESC)
    WHERE kind = 'traceset' AND status <> 'completed' AND reason <> 'deleted';
CREATE INDEX uploads_account ON uploads (account_id, status, created_at DESC, result_id DESC)
    WHERE kind = 'traceset' AND status <> 'completed' AND reason <> 'deleted';
CREATE INDEX uploads_place ON uploads (workspace_id, account_id, status, created_at DESC, result_id DESC)
    WHERE kind = 'traceset' AND status <> 'completed' AND reason <> 'deleted';
