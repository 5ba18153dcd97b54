-- What the deliverer keeps. It is derived from nothing: a lost table is made again, and
-- each webhook is read again from its begin.

CREATE SCHEMA IF NOT EXISTS webhooks;

-- The lease of the process that delivers. Only it changes the other tables.
CREATE TABLE IF NOT EXISTS webhooks.holder (
	one   bool   PRIMARY KEY DEFAULT true CHECK (one),
	epoch bigint NOT NULL
);

-- How far each webhook has been read.
CREATE TABLE IF NOT EXISTS webhooks.positions (
	webhook text        PRIMARY KEY,
	replay  int         NOT NULL, -- the last replay that was begun
	losses  text        NOT NULL, -- of the log, when it was begun
	offsets jsonb       NOT NULL, -- by family and partition, the first offset that is not read
	seen_at timestamptz NOT NULL  -- when the webhook was last known to exist
);

-- The messages that wait for delivery. A lane is the messages of a webhook for a stream,
-- in the order of their numbers; only the first of a lane is attempted.
CREATE TABLE IF NOT EXISTS webhooks.messages (
	number      bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	webhook     text        NOT NULL,
	stream      text        NOT NULL,
	event       text        NOT NULL, -- its id
	type        text        NOT NULL, -- of the event
	recorded_at timestamptz NOT NULL, -- by the log
	body        bytea       NOT NULL,
	attempts    int         NOT NULL DEFAULT 0, -- that have failed
	due         timestamptz           -- when the first of a lane is attempted; NULL for the others
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

CREATE INDEX IF NOT EXISTS messages_lane ON webhooks.messages (webhook, stream, number);
CREATE INDEX IF NOT EXISTS messages_due ON webhooks.messages (webhook, due) WHERE due IS NOT NULL;

-- The last attempts of each webhook.
CREATE TABLE IF NOT EXISTS webhooks.attempts (
	number   bigint      GENERATED ALWAYS AS IDENTITY,
	webhook  text        NOT NULL,
	event    text        NOT NULL,
	type     text        NOT NULL,
	stream   text        NOT NULL,
	attempt  int         NOT NULL, -- 1 for the first; 0 for a test
	began_at timestamptz NOT NULL,
	duration interval    NOT NULL,
	outcome  text        NOT NULL,
	status   int         NOT NULL, -- 0 for no answer
	error    text        NOT NULL,
	excerpt  text        NOT NULL,
	PRIMARY KEY (webhook, number)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
