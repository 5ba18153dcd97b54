-- +goose Up

-- The level of the deployment: which forms of events, checkpoints, cursors and tokens its
-- processes may write (docs/upgrading.md). Without a row it is 1.
CREATE TABLE release_level (
    one       boolean     PRIMARY KEY DEFAULT true CHECK (one),
    level     int         NOT NULL CHECK (level > 1),
    raised_at timestamptz NOT NULL
);

-- +goose Down
DROP TABLE release_level;
