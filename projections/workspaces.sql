-- Workspaces, the deleted ones too: what belongs to them asks.
CREATE TABLE workspaces (
    id                text        NOT NULL PRIMARY KEY,
    account_id        text        NOT NULL, -- '' for the built-in ones, which everyone sees
    name              text        NOT NULL,
    description       text        NOT NULL,
    owner             text        NOT NULL,
    legacy_project_id text        NOT NULL,
    version           bigint      NOT NULL, -- of the entity tag
    state             text        NOT NULL, -- live, deleting, deleted
    created_at        timestamptz NOT NULL,
    modified_at       timestamptz NOT NULL
);
CREATE INDEX workspaces_created ON workspaces (account_id, created_at DESC, id DESC) WHERE state = 'live';
CREATE INDEX workspaces_name ON workspaces (account_id, name);
CREATE INDEX workspaces_gone ON workspaces (account_id, id) WHERE state <> 'live';
