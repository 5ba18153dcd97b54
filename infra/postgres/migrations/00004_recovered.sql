-- +goose Up

-- The start of PostgreSQL after which the read model had again all that was
-- committed before (projector.Recovery). A crash empties an unlogged table.
CREATE UNLOGGED TABLE recovered (
    one     boolean     PRIMARY KEY DEFAULT true CHECK (one),
    started timestamptz NOT NULL
);

-- +goose Down
DROP TABLE recovered;
