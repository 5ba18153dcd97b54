-- +goose Up

-- How far the nights have booked the costs of days.
CREATE TABLE accrual (
    one     boolean PRIMARY KEY DEFAULT true CHECK (one),
    through date    NOT NULL
);

-- +goose Down
DROP TABLE accrual;
