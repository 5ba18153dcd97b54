-- The signed checkpoints of the log.
CREATE TABLE checkpoints (
    id           text        NOT NULL PRIMARY KEY, -- the stream and the sequence
    stream       text        NOT NULL,
    sequence     bigint      NOT NULL,
    name         text        NOT NULL,
    published_at timestamptz NOT NULL,
    hash         text        NOT NULL, -- SHA-256 of the note, hex
    note         text        NOT NULL
);
CREATE INDEX checkpoints_listed ON checkpoints (stream, sequence DESC);
CREATE INDEX checkpoints_named ON checkpoints (stream, name, sequence DESC);
