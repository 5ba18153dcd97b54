-- The catalogue of the tables for readers of Apache Iceberg. The first two tables are
-- those of Iceberg's JDBC catalogue.
CREATE TABLE IF NOT EXISTS lake.iceberg_tables (
	catalog_name varchar(255), table_namespace varchar(255), table_name varchar(255),
	metadata_location varchar(1000), previous_metadata_location varchar(1000), iceberg_type varchar(5),
	PRIMARY KEY (catalog_name, table_namespace, table_name)
);
CREATE TABLE IF NOT EXISTS lake.iceberg_namespace_properties (
	catalog_name varchar(255), namespace varchar(255), property_key varchar(255), property_value varchar(1000),
	PRIMARY KEY (catalog_name, namespace, property_key)
);
-- What is published of each table: a digest of its schema and files, and the files of the
-- metadata, relative to the path of the data.
CREATE TABLE IF NOT EXISTS lake.netsim_iceberg (
	table_id bigint PRIMARY KEY, digest text NOT NULL, metadata text NOT NULL, list text NOT NULL
);
-- The manifest of each table's files of a day.
CREATE TABLE IF NOT EXISTS lake.netsim_iceberg_manifest (
	table_id bigint, day date, digest text NOT NULL, path text NOT NULL, bytes bigint NOT NULL, snapshot bigint NOT NULL,
	files bigint NOT NULL, rows bigint NOT NULL,
	PRIMARY KEY (table_id, day)
);
-- Files of metadata that were replaced, and wait to be deleted.
CREATE TABLE IF NOT EXISTS lake.netsim_iceberg_replaced (path text PRIMARY KEY, replaced_at timestamptz NOT NULL DEFAULT clock_timestamp());

-- name: days
-- The files of each table by the day of their first snapshot: table, day, digest, files,
-- rows, bytes.
SELECT f.table_id, coalesce((s.snapshot_time AT TIME ZONE 'UTC')::date, '1970-01-01'),
	md5(string_agg(f.data_file_id::text, ',' ORDER BY f.data_file_id)), count(*), sum(f.record_count)::bigint, sum(f.file_size_bytes)::bigint
FROM lake.ducklake_data_file f LEFT JOIN lake.ducklake_snapshot s ON s.snapshot_id = f.begin_snapshot
WHERE f.end_snapshot IS NULL GROUP BY 1, 2 ORDER BY 1, 2;

-- name: manifests
SELECT table_id, day, digest, path, bytes, snapshot, files, rows FROM lake.netsim_iceberg_manifest;

-- name: published
SELECT table_id, digest, metadata, list FROM lake.netsim_iceberg;

-- name: newest
SELECT snapshot_id, snapshot_time FROM lake.ducklake_snapshot ORDER BY snapshot_id DESC LIMIT 1;

-- name: identity
SELECT table_id, table_uuid::text FROM lake.ducklake_table WHERE end_snapshot IS NULL AND schema_id = 0;

-- name: files
-- The files of table $1 of the day $2, with the statistics of their columns.
SELECT CASE WHEN f.path_is_relative THEN 'main/' || t.path || f.path ELSE f.path END, f.path_is_relative, f.record_count, f.file_size_bytes,
	array_agg(c.column_id::int ORDER BY c.column_id) FILTER (WHERE c.column_id IS NOT NULL),
	array_agg(c.value_count + c.null_count ORDER BY c.column_id) FILTER (WHERE c.column_id IS NOT NULL),
	array_agg(c.null_count ORDER BY c.column_id) FILTER (WHERE c.column_id IS NOT NULL),
	array_agg(c.min_value ORDER BY c.column_id) FILTER (WHERE c.column_id IS NOT NULL),
	array_agg(c.max_value ORDER BY c.column_id) FILTER (WHERE c.column_id IS NOT NULL)
FROM lake.ducklake_data_file f
JOIN lake.ducklake_table t ON t.table_id = f.table_id AND t.end_snapshot IS NULL
LEFT JOIN lake.ducklake_snapshot s ON s.snapshot_id = f.begin_snapshot
LEFT JOIN lake.ducklake_file_column_stats c ON c.data_file_id = f.data_file_id
WHERE f.end_snapshot IS NULL AND f.table_id = $1 AND coalesce((s.snapshot_time AT TIME ZONE 'UTC')::date, '1970-01-01') = $2
GROUP BY f.data_file_id, t.path ORDER BY f.data_file_id;

-- name: replace
-- The files of metadata at the paths $1 are replaced.
INSERT INTO lake.netsim_iceberg_replaced SELECT unnest($1::text[]) ON CONFLICT DO NOTHING;

-- name: forget_days
-- Forgets the manifests of table $1 but of the days $2.
DELETE FROM lake.netsim_iceberg_manifest WHERE table_id = $1 AND day <> ALL ($2::date[]);

-- name: manifest
INSERT INTO lake.netsim_iceberg_manifest VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (table_id, day) DO UPDATE SET digest = $3, path = $4, bytes = $5, snapshot = $6, files = $7, rows = $8;

-- name: table
INSERT INTO lake.netsim_iceberg VALUES ($1, $2, $3, $4) ON CONFLICT (table_id) DO UPDATE SET digest = $2, metadata = $3, list = $4;

-- name: location
-- The metadata of the table $1 is at $2.
INSERT INTO lake.iceberg_tables VALUES ('netsim', 'lake', $1, $2, NULL, 'TABLE')
ON CONFLICT (catalog_name, table_namespace, table_name) DO UPDATE SET metadata_location = $2, previous_metadata_location = iceberg_tables.metadata_location;

-- name: namespace
INSERT INTO lake.iceberg_namespace_properties VALUES ('netsim', 'lake', 'exists', 'true') ON CONFLICT DO NOTHING;

-- name: replaced
SELECT path FROM lake.netsim_iceberg_replaced WHERE replaced_at < clock_timestamp() - $1::interval LIMIT $2;

-- name: deleted
DELETE FROM lake.netsim_iceberg_replaced WHERE path = ANY ($1::text[]);
