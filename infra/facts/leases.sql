-- Which process reads which shard of the log, and for what (Leases).

CREATE SCHEMA IF NOT EXISTS facts;

CREATE TABLE IF NOT EXISTS facts.leases (
    subscriber text        NOT NULL, -- what the facts are read for
    shard      int         NOT NULL,
    holder     text        NOT NULL, -- a process
    epoch      bigint      NOT NULL, -- of the last change of the holder; microseconds, so that no epoch recurs when the table was lost
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (subscriber, shard)
);

-- The processes that could hold leases.
CREATE TABLE IF NOT EXISTS facts.members (
    subscriber text        NOT NULL,
    process    text        NOT NULL,
    backend    int         NOT NULL, -- of the session in which it renews; when that ends, the process is gone
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (subscriber, process)
);
