-- The quotas of accounts that an operator has set.
CREATE TABLE account_quotas (
    account_id text NOT NULL PRIMARY KEY,
    quotas     text NOT NULL -- JSON array of events.AccountQuota
);
