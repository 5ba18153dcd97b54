-- Studies, the deleted ones too: a worker still has to delete their runs.
CREATE TABLE studies (
    id           text        NOT NULL PRIMARY KEY,
    account_id   text        NOT NULL,
    workspace_id text        NOT NULL,
    name         text        NOT NULL,
    status       text        NOT NULL,
    reason       text        NOT NULL, -- of a termination
    kind         text        NOT NULL,
    base         text        NOT NULL, -- JSON
    axes         text        NOT NULL, -- JSON
    method       text        NOT NULL,
    points       bigint      NOT NULL,
    seed         bigint      NOT NULL,
    stop_dominated boolean   NOT NULL,
    replicates   bigint      NOT NULL, -- how many points in a row differ in their seeds only
    prices       text        NOT NULL, -- JSON; '' for the service's list
    servers      boolean     NOT NULL, -- whether a price includes those of the servers
    next         bigint      NOT NULL, -- the first point without a run or a result
    shared       bigint      NOT NULL, -- points that take the result of another run
    round        bigint      NOT NULL,
    created_by   text        NOT NULL,
    sandbox_id   text        NOT NULL,
    correlation_id text      NOT NULL, -- of the request that started it
    deleted      text        NOT NULL, -- why: '', request or workspace
    created_at   timestamptz NOT NULL,
    ended_at     timestamptz -- completed or terminated
);
CREATE INDEX studies_account ON studies (account_id, created_at DESC, id DESC) WHERE deleted = '';
CREATE INDEX studies_workspace ON studies (workspace_id, account_id, created_at DESC, id DESC) WHERE deleted = '';
CREATE INDEX studies_running ON studies (account_id, id) WHERE status = 'running' AND deleted = '';

-- The points that take the result of another run.
CREATE TABLE study_shares (
    study_id      text   NOT NULL,
    point         bigint NOT NULL,
    simulation_id text   NOT NULL, -- '': the run of point same_as
    same_as       bigint NOT NULL,
    PRIMARY KEY (study_id, point)
);
