-- Credit set aside for simulations, the released holds too.
-- revision 2: the accounts' write states know their credit
CREATE TABLE credit_holds (
    simulation_id text        NOT NULL PRIMARY KEY,
    account_id    text        NOT NULL,
    amount        text        NOT NULL, -- decimal
    currency      text        NOT NULL,
    expires_at    timestamptz NOT NULL,
    released_at   timestamptz           -- null while open
);
CREATE INDEX credit_holds_open ON credit_holds (account_id, expires_at) WHERE released_at IS NULL;
