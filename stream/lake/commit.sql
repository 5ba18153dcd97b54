-- name: durable
SET LOCAL synchronous_commit = on;

-- name: snapshot
-- Takes the next snapshot with room for $1 files. Another writer that has taken it
-- makes this a unique violation.
INSERT INTO lake.ducklake_snapshot
SELECT snapshot_id + 1, clock_timestamp(), schema_version, next_catalog_id, next_file_id + $1
FROM lake.ducklake_snapshot ORDER BY snapshot_id DESC LIMIT 1;

-- name: position
-- Moves the positions ($1 families, $2 partitions, from $3 to $4, with the anchors $5), if
-- this writer has the lease of subscriber $6 with the epoch $7 and the positions are where
-- it read them.
UPDATE lake.netsim_position p SET next = m.next, epoch = $7, anchor = m.anchor
FROM unnest($1::text[], $2::int[], $3::bigint[], $4::bigint[], $5::text[]) AS m (family, partition, was, next, anchor)
WHERE p.family = m.family AND p.partition = m.partition AND p.next = m.was
	AND EXISTS (SELECT FROM facts.leases l WHERE l.subscriber = $6 AND l.shard = 0 AND l.epoch = $7);

-- name: uploaded
-- The files ($1) are no longer being uploaded. A refused one must not be committed.
DELETE FROM lake.netsim_upload WHERE path = ANY ($1::text[]) AND NOT refused;

-- name: files
-- Adds files, one a table: $1 tables, $2 paths in the folder of the table, $3 rows, $4
-- bytes, $5 bytes of the footer.
WITH added AS (
	SELECT *, row_number() OVER (ORDER BY table_id) AS number
	FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[]) AS f (table_id, path, rows, bytes, footer)
), stats AS (
	INSERT INTO lake.ducklake_table_stats AS s
	SELECT table_id, rows, rows, bytes FROM added
	ON CONFLICT (table_id) DO UPDATE SET record_count = s.record_count + excluded.record_count,
		next_row_id = s.next_row_id + excluded.next_row_id, file_size_bytes = s.file_size_bytes + excluded.file_size_bytes
	RETURNING table_id, next_row_id
), snapshot AS (
	SELECT snapshot_id, next_file_id FROM lake.ducklake_snapshot ORDER BY snapshot_id DESC LIMIT 1
)
INSERT INTO lake.ducklake_data_file (data_file_id, table_id, begin_snapshot, path, path_is_relative, file_format,
	record_count, file_size_bytes, footer_size, row_id_start)
SELECT next_file_id - (SELECT count(*) FROM added) + number - 1, table_id, snapshot_id, path, true, 'parquet',
	rows, bytes, footer, next_row_id - rows
FROM added JOIN stats USING (table_id), snapshot;

-- name: file_columns
-- Adds the statistics of the columns of the files of the last snapshot: $1 tables, $2
-- columns, $3 bytes, $4 values, $5 nulls, $6 least and $7 largest values.
INSERT INTO lake.ducklake_file_column_stats (data_file_id, table_id, column_id, column_size_bytes, value_count, null_count, min_value, max_value)
SELECT f.data_file_id, c.* FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::text[])
	AS c (table_id, column_id, bytes, values, nulls, least, largest)
JOIN lake.ducklake_data_file f USING (table_id)
WHERE f.begin_snapshot = (SELECT max(snapshot_id) FROM lake.ducklake_snapshot);

-- name: table_columns
-- Merges them into the statistics of the tables ($1 tables, $2 columns, $3 nulls, $4
-- least and $5 largest values, $6 whether the values are numbers, $7 values). A bound is
-- null where there is no value yet, and where one is too long to be a bound; in the
-- second case it stays null, because readers take bounds for exact.
INSERT INTO lake.ducklake_table_column_stats AS s (table_id, column_id, contains_null, min_value, max_value)
SELECT c.table_id, c.column_id, c.nulls > 0 OR coalesce(old.contains_null, false),
	CASE WHEN unknown THEN NULL
		WHEN c.number THEN least(c.least::numeric, old.min_value::numeric)::text
		ELSE least(c.least COLLATE "C", old.min_value COLLATE "C") END,
	CASE WHEN unknown THEN NULL
		WHEN c.number THEN greatest(c.largest::numeric, old.max_value::numeric)::text
		ELSE greatest(c.largest COLLATE "C", old.max_value COLLATE "C") END
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::boolean[], $7::bigint[])
	AS c (table_id, column_id, nulls, least, largest, number, values)
LEFT JOIN lake.ducklake_table_column_stats old USING (table_id, column_id),
LATERAL (SELECT c.values > 0 AND c.least IS NULL OR old.min_value IS NULL AND c.least IS NOT NULL AND EXISTS (
	SELECT FROM lake.ducklake_file_column_stats f
	WHERE f.table_id = c.table_id AND f.column_id = c.column_id AND f.value_count > 0 AND f.min_value IS NULL
) AS unknown) AS bounds
ON CONFLICT (table_id, column_id) DO UPDATE SET contains_null = excluded.contains_null, min_value = excluded.min_value, max_value = excluded.max_value;

-- name: other_columns
-- The columns of the tables ($3) that the files do not have, because another release
-- added them, are null in their rows. $1 tables and $2 columns of the files.
UPDATE lake.ducklake_table_column_stats s SET contains_null = true
WHERE s.table_id = ANY ($3::bigint[]) AND NOT s.contains_null
	AND NOT EXISTS (SELECT FROM unnest($1::bigint[], $2::bigint[]) AS c (table_id, column_id)
		WHERE c.table_id = s.table_id AND c.column_id = s.column_id);

-- name: changes
-- Says what the snapshot changed ($1), and where it is in the log ($2).
INSERT INTO lake.ducklake_snapshot_changes (snapshot_id, changes_made, author, commit_extra_info)
SELECT max(snapshot_id), $1::text, 'netsim', $2::text FROM lake.ducklake_snapshot RETURNING snapshot_id;
