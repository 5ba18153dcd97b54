-- The virtual time up to which each account was served (fair.go).
CREATE TABLE IF NOT EXISTS jobs.run_shares (
    queue   text   NOT NULL,
    account text   NOT NULL,
    began   bigint NOT NULL, -- the virtual time at which its last run started
    ended   bigint NOT NULL, -- that and the run's cost
    PRIMARY KEY (queue, account)
);
