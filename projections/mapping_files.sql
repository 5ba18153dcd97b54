-- Mapping files, the deleted ones too: configurations refer to them.
CREATE TABLE mapping_files (
    id                   text        NOT NULL PRIMARY KEY,
    account_id           text        NOT NULL,
    workspace_id         text        NOT NULL,
    name                 text        NOT NULL,
    description          text        NOT NULL,
    hash                 text        NOT NULL, -- crc64nvme:…
    content_hash         text        NOT NULL, -- sha256:…
    size_bytes           bigint      NOT NULL,
    rank_count           bigint      NOT NULL,
    scale_up_group_count bigint      NOT NULL,
    object_key           text        NOT NULL,
    deleted              boolean     NOT NULL,
    created_at           timestamptz NOT NULL
);
CREATE INDEX mapping_files_workspace ON mapping_files (workspace_id, account_id, created_at DESC, id DESC) WHERE NOT deleted;
CREATE INDEX mapping_files_content ON mapping_files (workspace_id, hash) WHERE NOT deleted;
CREATE INDEX mapping_files_object ON mapping_files (object_key);
