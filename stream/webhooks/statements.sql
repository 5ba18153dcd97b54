-- name: begin
-- The holder of the lease with the epoch $1 begins, once the last commit of the one before
-- has ended. There is no row when a later one has begun.
INSERT INTO webhooks.holder (epoch) VALUES ($1)
ON CONFLICT (one) DO UPDATE SET epoch = excluded.epoch WHERE holder.epoch <= excluded.epoch;

-- name: holder
-- Until the end of the transaction no holder with another epoch than $1 begins. There is no
-- row when one has begun.
SELECT FROM webhooks.holder WHERE epoch = $1 FOR SHARE;

-- name: kept
-- The position of each webhook, and how many messages wait.
SELECT webhook, replay, losses, offsets, (SELECT count(*) FROM webhooks.messages m WHERE m.webhook = p.webhook)
FROM webhooks.positions p;

-- name: done
-- Removes messages ($1), and returns how many there were of each webhook: fewer if a replay
-- has dropped them.
WITH gone AS (DELETE FROM webhooks.messages WHERE number = ANY ($1::bigint[]) RETURNING webhook)
SELECT webhook, count(*) FROM gone GROUP BY webhook;

-- name: again
-- Messages ($1) that have failed so many times ($2) are due at $3.
UPDATE webhooks.messages m SET attempts = f.attempts, due = f.due
FROM unnest($1::bigint[], $2::int[], $3::timestamptz[]) AS f (number, attempts, due) WHERE m.number = f.number;

-- name: next
-- The first messages of lanes ($1 webhooks, $2 streams) are due at $4, unless they are
-- already. They come after the removed ones ($3), so the search skips those that PostgreSQL
-- has not cleaned up yet.
UPDATE webhooks.messages m SET due = $4
FROM unnest($1::text[], $2::text[], $3::bigint[]) AS lane (webhook, stream, removed)
CROSS JOIN LATERAL (
	SELECT number FROM webhooks.messages n
	WHERE n.webhook = lane.webhook AND n.stream = lane.stream AND n.number > lane.removed ORDER BY number LIMIT 1
) AS first
WHERE m.number = first.number AND m.due IS NULL;

-- name: attempts
INSERT INTO webhooks.attempts (webhook, event, type, stream, attempt, began_at, duration, outcome, status, error, excerpt)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::int[], $6::timestamptz[], $7::interval[], $8::text[], $9::int[], $10::text[], $11::text[])
RETURNING number;

-- name: trim
-- Removes the attempts of webhooks ($1) except the last $2 of each.
DELETE FROM webhooks.attempts a
USING unnest($1::text[]) AS w (webhook)
CROSS JOIN LATERAL (
	SELECT number FROM webhooks.attempts k WHERE k.webhook = w.webhook ORDER BY number DESC OFFSET $2 LIMIT 1
) AS last
WHERE a.webhook = w.webhook AND a.number <= last.number;

-- name: drop
-- Removes the messages of webhooks ($1), because they are replayed.
DELETE FROM webhooks.messages WHERE webhook = ANY ($1::text[]);

-- name: insert
-- Adds messages in the given order: $1 webhooks, $2 streams, $3 events, $4 types, $5 times
-- of recording, $6 bodies. The first of an empty lane is due at $7.
INSERT INTO webhooks.messages (webhook, stream, event, type, recorded_at, body, due)
SELECT webhook, stream, event, type, recorded_at, body, CASE
	WHEN row_number() OVER (PARTITION BY webhook, stream ORDER BY ordinality) = 1
		AND NOT EXISTS (SELECT FROM webhooks.messages m WHERE m.webhook = n.webhook AND m.stream = n.stream) THEN $7::timestamptz END
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::bytea[])
	WITH ORDINALITY AS n (webhook, stream, event, type, recorded_at, body, ordinality)
ORDER BY ordinality;

-- name: positions
-- Stores positions: $1 webhooks, $2 replays, $3 losses, $4 offsets, at $5.
INSERT INTO webhooks.positions (webhook, replay, losses, offsets, seen_at)
SELECT webhook, replay, losses, offsets::jsonb, $5 FROM unnest($1::text[], $2::int[], $3::text[], $4::text[]) AS p (webhook, replay, losses, offsets)
ON CONFLICT (webhook) DO UPDATE SET replay = excluded.replay, losses = excluded.losses, offsets = excluded.offsets, seen_at = excluded.seen_at;

-- name: due
-- The messages of webhooks ($1) that are due first: of each one more than it may send ($2),
-- because the last says when to look again. Those being sent ($3) are left out. Bodies are
-- only of those due at $4.
SELECT m.webhook, m.number, m.stream, m.event, m.type, m.recorded_at, m.attempts, m.due, CASE WHEN m.due <= $4 THEN m.body END
FROM unnest($1::text[], $2::int[]) AS w (webhook, room)
CROSS JOIN LATERAL (
	SELECT * FROM webhooks.messages q
	WHERE q.webhook = w.webhook AND q.due IS NOT NULL AND q.number <> ALL ($3::bigint[]) ORDER BY q.due LIMIT w.room + 1
) AS m;

-- name: seen
-- Webhooks ($1) exist at $2.
UPDATE webhooks.positions SET seen_at = $2 WHERE webhook = ANY ($1::text[]);

-- name: deleted
-- Removes the positions of webhooks that have not been seen since $1.
DELETE FROM webhooks.positions WHERE seen_at < $1;

-- name: messages without
DELETE FROM webhooks.messages m WHERE NOT EXISTS (SELECT FROM webhooks.positions p WHERE p.webhook = m.webhook);

-- name: attempts without
-- Those of tests of other webhooks ($1) stay.
DELETE FROM webhooks.attempts a
WHERE webhook <> ALL ($1::text[]) AND NOT EXISTS (SELECT FROM webhooks.positions p WHERE p.webhook = a.webhook);
