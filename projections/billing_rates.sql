-- The price list, every row that was ever recorded.
CREATE TABLE rates (
    id             bigint NOT NULL PRIMARY KEY,
    account_id     text   NOT NULL, -- '' for the whole platform
    platform       text   NOT NULL,
    rate_name      text   NOT NULL COLLATE "C",
    rate_type      text   NOT NULL,
    rate_type_raw  text   NOT NULL,
    amount         text   NOT NULL, -- decimal
    currency       text   NOT NULL,
    period         text   NOT NULL,
    minimum_period text   NOT NULL,
    tier_start     bigint NOT NULL,
    tier_end       bigint NOT NULL, -- 0: open
    package_size   bigint NOT NULL,
    unit_name      text   NOT NULL,
    unit_size      text   NOT NULL,
    note           text   NOT NULL,
    start_date     text   NOT NULL COLLATE "C", -- inclusive
    end_date       text   NOT NULL COLLATE "C"  -- exclusive, '' for none
);
CREATE INDEX rates_name ON rates (rate_name, tier_start, start_date, id);
