-- The commands of operators that changed the deployment.
CREATE TABLE operations (
    id        text        NOT NULL PRIMARY KEY,
    operator  text        NOT NULL, -- an opaque id
    command   text        NOT NULL,
    arguments text        NOT NULL, -- JSON array of name=value
    release   text        NOT NULL,
    outcome   text        NOT NULL, -- succeeded or failed; empty before the end
    began_at  timestamptz NOT NULL,
    ended_at  timestamptz
);
CREATE INDEX operations_listed ON operations (began_at DESC, id DESC);
