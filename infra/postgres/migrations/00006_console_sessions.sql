-- +goose Up

-- The sessions of the console (package console/login). A cookie has 32 random bytes; the row
-- has their SHA-256 and the sealed tokens. Losing a row logs a browser out.
CREATE TABLE console_sessions (
    hash          bytea       PRIMARY KEY CHECK (length(hash) = 32),
    user_id       text        NOT NULL, -- the opaque id in events
    tokens        bytea       NOT NULL, -- sealed: access, refresh and ID token
    generation    bigint      NOT NULL DEFAULT 1, -- counts the refreshes
    refresh_at    timestamptz NOT NULL, -- when the access token is to be refreshed
    token_ends_at timestamptz NOT NULL, -- when the access token expires
    leased_until  timestamptz NOT NULL DEFAULT '-infinity', -- until then one process refreshes it
    used_at       timestamptz NOT NULL, -- within a minute
    ends_at       timestamptz NOT NULL, -- however much it is used
    expires_at    timestamptz NOT NULL, -- ends_at, or earlier without use
    created_at    timestamptz NOT NULL
);
CREATE INDEX console_sessions_user ON console_sessions (user_id, used_at);
CREATE INDEX console_sessions_expiry ON console_sessions (expires_at);

-- +goose Down
DROP TABLE console_sessions;
