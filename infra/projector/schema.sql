-- The projector's own tables, in the schema of a read model.

CREATE TABLE log (
    only_row   boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    cluster_id text NOT NULL
);

CREATE TABLE offsets (
    family      text   NOT NULL,
    partition   int    NOT NULL,
    topic_id    text   NOT NULL,
    next        bigint NOT NULL,  -- the first offset not yet judged
    last_record bytea  NOT NULL,  -- SHA-256 of the record before it, empty at 0
    facts       bigint NOT NULL,  -- how many were accepted so far
    digest      bytea  NOT NULL,  -- running digest over their hashes
    sealing     text   NOT NULL,  -- what is demanded of seals (events.Sealing)
    PRIMARY KEY (family, partition)
);

CREATE TABLE streams (
    stream    text    NOT NULL,
    family    text    NOT NULL,
    partition int     NOT NULL,
    sequence  bigint  NOT NULL,
    hash      bytea   NOT NULL,
    state     text,             -- what decisions need, as JSON
    parked    boolean NOT NULL,
    PRIMARY KEY (stream, family, partition)
) WITH (fillfactor = 80);

-- Facts whose command may be sent again under the same id.
CREATE TABLE command_ids (
    stream     text   COLLATE "C" NOT NULL,
    command_id text   COLLATE "C" NOT NULL,
    sequence   bigint NOT NULL,
    digest     text   NOT NULL,
    PRIMARY KEY (stream, command_id)
);

-- Where each fact is in the log, and which request led to it.
CREATE TABLE facts (
    stream         text   COLLATE "C" NOT NULL,
    family         text   NOT NULL,
    partition      int    NOT NULL,
    sequence       bigint NOT NULL,
    "offset"       bigint NOT NULL,
    bytes          int    NOT NULL,            -- of its data
    happened_at    timestamptz NOT NULL,       -- the time in its frame
    correlation_id text   COLLATE "C" NOT NULL  -- '' for none
);
-- Not unique: that costs a third of the index, and the offsets let no batch in twice.
CREATE INDEX facts_stream ON facts (stream, sequence);
CREATE INDEX facts_correlation ON facts (correlation_id, happened_at) WHERE correlation_id <> '';

CREATE TABLE rejected (
    family     text   NOT NULL,
    partition  int    NOT NULL,
    "offset"   bigint NOT NULL,
    verdict    text   NOT NULL,
    stream     text   NOT NULL,
    event_id   text   NOT NULL,
    PRIMARY KEY (family, partition, "offset")
);

CREATE TABLE parked (
    family     text   NOT NULL,
    partition  int    NOT NULL,
    "offset"   bigint NOT NULL,
    stream     text   NOT NULL,
    sequence   bigint NOT NULL,
    event_type text   NOT NULL,
    reason     text   NOT NULL,
    retry      boolean NOT NULL DEFAULT false, -- an operator asks for another try
    PRIMARY KEY (family, partition, "offset")
);
CREATE INDEX parked_stream ON parked (stream, sequence);
