-- Webhooks, the deleted ones too.
CREATE TABLE webhooks (
    id            text        NOT NULL PRIMARY KEY,
    account_id    text        NOT NULL,
    created_by    text        NOT NULL,
    url           text        NOT NULL,
    description   text        NOT NULL,
    types         text        NOT NULL, -- JSON array; empty for every type
    family        text        NOT NULL,
    stream        text        NOT NULL,
    workspace_id  text        NOT NULL, -- of the filter
    all_workspaces boolean    NOT NULL, -- whether the reach has all of the account
    workspaces    text        NOT NULL, -- else those of the reach, a JSON array
    billing       boolean     NOT NULL,
    status        text        NOT NULL, -- active, paused or disabled
    reason        text        NOT NULL, -- why it is disabled
    stopped_at    timestamptz,          -- since when it is not active
    generation    bigint      NOT NULL, -- of the secret
    key_id        text        NOT NULL, -- from which the secret is derived
    former_key_id text        NOT NULL,
    former_until  timestamptz,          -- until when the former secret signs too
    replays       bigint      NOT NULL,
    replayed_from timestamptz,          -- of the last replay, if it began at a time
    start_since   timestamptz,          -- where the last replay begins, or at creation; NULL with a position
    position      text        NOT NULL, -- of a feed, base64
    version       bigint      NOT NULL, -- of the entity tag
    deleted       boolean     NOT NULL,
    created_at    timestamptz NOT NULL,
    modified_at   timestamptz NOT NULL
);
CREATE INDEX webhooks_listed ON webhooks (account_id, created_at DESC, id DESC) WHERE NOT deleted;
CREATE INDEX webhooks_created ON webhooks (created_at DESC, id DESC) WHERE NOT deleted;
