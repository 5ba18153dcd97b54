-- revision 2
-- Configurations as they are now, the deleted ones too: simulations name them.
CREATE TABLE configurations (
    id                      text        NOT NULL PRIMARY KEY,
    account_id              text        NOT NULL,
    workspace_id            text        NOT NULL,
    name                    text        NOT NULL,
    status                  text        NOT NULL,
    version                 bigint      NOT NULL,
    component_count         bigint      NOT NULL,
    document                text        NOT NULL, -- of the newest version, canonical JSON
    findings                text        NOT NULL,
    traceset_id             text        NOT NULL,
    mapping_file_id         text        NOT NULL,
    parent_configuration_id text        NOT NULL,
    category                text        NOT NULL,
    description             text        NOT NULL,
    visibility              text        NOT NULL, -- of templates: account or public
    deleted                 boolean     NOT NULL,
    created_at              timestamptz NOT NULL,
    modified_at             timestamptz NOT NULL
);
CREATE INDEX configurations_created ON configurations (account_id, created_at DESC, id DESC) WHERE NOT deleted;
CREATE INDEX configurations_workspace ON configurations (workspace_id, account_id, created_at DESC, id DESC) WHERE NOT deleted;
CREATE INDEX configurations_templates ON configurations (created_at DESC, id DESC)
    WHERE NOT deleted AND workspace_id = 'workspace_0000000000e008000000000002';

-- Every version, readable for ever.
CREATE TABLE configuration_versions (
    configuration_id text        NOT NULL,
    version          bigint      NOT NULL,
    status           text        NOT NULL,
    document         text        NOT NULL,
    traceset_id      text        NOT NULL,
    mapping_file_id  text        NOT NULL,
    created_at       timestamptz NOT NULL,
    PRIMARY KEY (configuration_id, version)
);

CREATE TABLE configuration_counts (
    workspace_id text   NOT NULL,
    account_id   text   NOT NULL,
    total        bigint NOT NULL, -- not deleted
    active       bigint NOT NULL, -- of these, neither a draft nor ended; 0 here
    PRIMARY KEY (workspace_id, account_id)
);
