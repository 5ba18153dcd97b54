-- Daily costs in their newest version, and corrections. Amounts are text, as
-- they stand in the log.
CREATE TABLE daily_costs (
    slot           text        COLLATE "C" NOT NULL PRIMARY KEY, -- item/date/rate, or correction/id
    id             bigint      NOT NULL,
    account_id     text        COLLATE "C" NOT NULL,
    item_id        bigint      NOT NULL,
    item_name      text        NOT NULL,
    date           text        NOT NULL COLLATE "C", -- YYYY-MM-DD
    rate_id        bigint      NOT NULL,
    rate_name      text        NOT NULL,
    rate_amount    text        NOT NULL,
    cost           text        NOT NULL,
    currency       text        NOT NULL,
    quantity       bigint      NOT NULL,
    workspace_id   text        NOT NULL,
    sandbox_id     text        NOT NULL,
    user_id        text        NOT NULL,
    segments       text        NOT NULL, -- JSON array of events.CostSegment
    day_price      text        NOT NULL,
    unit_days      text        NOT NULL,
    period         text        NOT NULL,
    tier_start     bigint      NOT NULL,
    tier_end       bigint      NOT NULL, -- 0: open
    engine_version text        NOT NULL,
    first_event_id bigint      NOT NULL,
    last_event_id  bigint      NOT NULL,
    version        bigint      NOT NULL,
    supersedes     bigint      NOT NULL,
    correction_of  bigint      NOT NULL,
    rated_at       timestamptz NOT NULL
);
CREATE INDEX daily_costs_account ON daily_costs (account_id, date, id);
CREATE INDEX daily_costs_date ON daily_costs (date, id);
CREATE INDEX daily_costs_item ON daily_costs (item_id, date);
CREATE INDEX daily_costs_corrections ON daily_costs (correction_of) WHERE correction_of <> 0;

-- Sums of the daily costs by day, by the days of a month that begin with the same
-- digit, and by month, so that a summary never scans them and that of a year reads
-- its months, and at its ends a few days, instead of all its days.
CREATE TABLE cost_totals (
    account_id   text    NOT NULL,
    period       text    NOT NULL COLLATE "C", -- the first 10, 9 or 7 characters of a date
    currency     text    NOT NULL,
    rate_name    text    NOT NULL,
    workspace_id text    NOT NULL,
    total        numeric NOT NULL,
    PRIMARY KEY (account_id, period, currency, rate_name, workspace_id)
);
CREATE INDEX cost_totals_period ON cost_totals (period);

CREATE TABLE balances (
    account_id text        NOT NULL,
    currency   text        NOT NULL,
    credits    numeric     NOT NULL, -- granted
    debits     numeric     NOT NULL, -- daily costs
    updated_at timestamptz NOT NULL, -- of the last event counted
    PRIMARY KEY (account_id, currency)
);
