-- +goose Up

-- The account of whose token a name came; '' of a token for every account, and
-- of a name that came before this column.
ALTER TABLE directory ADD COLUMN account_id text NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE directory DROP COLUMN account_id;
