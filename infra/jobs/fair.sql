-- The virtual time up to which each account was served (fair.go).
CREATE TABLE IF NOT EXISTS jobs.run_shares (
    queue   text   NOT NULL,
    account text   NOT NULL,
    began   bigint NOT NULL, -- the virtual time at which its last run started
    ended   bigint NOT NULL, -- that and the run's cost
    PRIMARY KEY (queue, account)
);

-- The workers of each process for runs (fair.go). A process writes its rows at each
-- reconciliation.
CREATE TABLE IF NOT EXISTS jobs.run_workers (
    process text        NOT NULL,
    queue   text        NOT NULL,
    workers bigint      NOT NULL,
    until   timestamptz NOT NULL, -- when they no longer count
    PRIMARY KEY (process, queue)
);
