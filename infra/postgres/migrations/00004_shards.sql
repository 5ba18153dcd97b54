-- +goose Up

-- Which process reads which shard of the log for a subscriber (package facts).
CREATE TABLE shard_leases (
    subscriber text        NOT NULL, -- what the facts are read for
    shard      int         NOT NULL,
    holder     text        NOT NULL, -- a process
    epoch      bigint      NOT NULL, -- larger with every change of the holder
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (subscriber, shard)
);

-- The processes that could hold leases.
CREATE TABLE shard_members (
    subscriber text        NOT NULL,
    process    text        NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (subscriber, process)
);

CREATE SEQUENCE shard_epochs;

-- +goose Down
DROP TABLE shard_leases, shard_members;
DROP SEQUENCE shard_epochs;
