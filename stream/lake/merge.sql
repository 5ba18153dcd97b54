-- name: candidates
-- The files whose snapshots are older than $1, of each table and hour with more than
-- one, in the order of their rows. Files of different versions of a table are not
-- merged, because DuckDB reads a file with the columns of its first snapshot.
WITH files AS (
	SELECT f.data_file_id, f.table_id, t.table_name, f.begin_snapshot, f.row_id_start, f.record_count, f.path,
		date_trunc('hour', s.snapshot_time AT TIME ZONE 'UTC') AS hour,
		(SELECT max(v.schema_version) FROM lake.ducklake_schema_versions v
			WHERE v.table_id = f.table_id AND v.begin_snapshot <= f.begin_snapshot) AS version
	FROM lake.ducklake_data_file f
	JOIN lake.ducklake_table t ON t.table_id = f.table_id AND t.end_snapshot IS NULL
	JOIN lake.ducklake_snapshot s ON s.snapshot_id = f.begin_snapshot
	WHERE f.end_snapshot IS NULL AND s.snapshot_time < $1 AND f.path_is_relative AND f.file_format = 'parquet'
		AND f.encryption_key IS NULL AND f.mapping_id IS NULL AND f.partition_id IS NULL
		AND NOT EXISTS (SELECT FROM lake.ducklake_delete_file d WHERE d.data_file_id = f.data_file_id)
), counted AS (
	SELECT *, count(*) OVER (PARTITION BY table_id, hour, version) AS beside FROM files
)
SELECT table_name, hour::text || ' ' || version, data_file_id, begin_snapshot, row_id_start, record_count, path
FROM counted WHERE beside > 1
ORDER BY hour, table_id, version, row_id_start;

-- name: lease
-- Whether subscriber $1 has the lease with the epoch $2.
SELECT 1 FROM facts.leases WHERE subscriber = $1 AND shard = 0 AND epoch = $2;

-- name: schedule
-- Schedules the merged files ($1) for deletion.
INSERT INTO lake.ducklake_files_scheduled_for_deletion
SELECT f.data_file_id, 'main/' || t.path || f.path, true, clock_timestamp()
FROM lake.ducklake_data_file f JOIN lake.ducklake_table t ON t.table_id = f.table_id AND t.end_snapshot IS NULL
WHERE f.data_file_id = ANY ($1::bigint[]) AND f.end_snapshot IS NULL;

-- name: merged
-- Adds the file at the path $2 with the rows of the files $1; $3 bytes, $4 bytes of the
-- footer. Its rows say in which snapshot they were added, up to partial_max.
INSERT INTO lake.ducklake_data_file (data_file_id, table_id, begin_snapshot, path, path_is_relative, file_format,
	record_count, file_size_bytes, footer_size, row_id_start, partial_max)
SELECT (SELECT next_file_id - 1 FROM lake.ducklake_snapshot ORDER BY snapshot_id DESC LIMIT 1),
	table_id, min(begin_snapshot), $2, true, 'parquet', sum(record_count), $3, $4, min(row_id_start), max(coalesce(partial_max, begin_snapshot))
FROM lake.ducklake_data_file WHERE data_file_id = ANY ($1::bigint[]) GROUP BY table_id;

-- name: merged_columns
-- Adds the statistics of its columns: $2 columns, $3 bytes, $4 whether the values are
-- numbers. A bound that a file does not have is unknown.
INSERT INTO lake.ducklake_file_column_stats (data_file_id, table_id, column_id, column_size_bytes, value_count, null_count, min_value, max_value)
SELECT m.data_file_id, m.table_id, c.column_id, max(c.bytes), coalesce(sum(s.value_count), 0), max(m.record_count) - coalesce(sum(s.value_count), 0),
	CASE WHEN bool_or(s.value_count > 0 AND s.min_value IS NULL) THEN NULL
		WHEN c.number THEN min(CASE WHEN c.number THEN s.min_value::numeric END)::text ELSE min(s.min_value COLLATE "C") END,
	CASE WHEN bool_or(s.value_count > 0 AND s.max_value IS NULL) THEN NULL
		WHEN c.number THEN max(CASE WHEN c.number THEN s.max_value::numeric END)::text ELSE max(s.max_value COLLATE "C") END
FROM unnest($2::bigint[], $3::bigint[], $4::boolean[]) AS c (column_id, bytes, number)
CROSS JOIN (SELECT data_file_id, table_id, record_count FROM lake.ducklake_data_file
	WHERE data_file_id = (SELECT next_file_id - 1 FROM lake.ducklake_snapshot ORDER BY snapshot_id DESC LIMIT 1)) m
LEFT JOIN lake.ducklake_file_column_stats s ON s.column_id = c.column_id AND s.data_file_id = ANY ($1::bigint[])
GROUP BY m.data_file_id, m.table_id, c.column_id, c.number;

-- name: forget_columns
DELETE FROM lake.ducklake_file_column_stats WHERE data_file_id = ANY ($1::bigint[]);

-- name: forget
DELETE FROM lake.ducklake_data_file WHERE data_file_id = ANY ($1::bigint[]) AND end_snapshot IS NULL;
