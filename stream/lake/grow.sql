-- name: tables
-- The tables of the schema main.
SELECT table_id, table_name FROM lake.ducklake_table WHERE end_snapshot IS NULL AND schema_id = 0;

-- name: columns
SELECT table_id, column_id, column_name FROM lake.ducklake_column WHERE end_snapshot IS NULL;

-- name: views
SELECT view_id, view_name, sql FROM lake.ducklake_view WHERE end_snapshot IS NULL AND schema_id = 0;

-- name: snapshot
-- Takes the next snapshot, with another version of the schema and $1 new entries.
-- Returns its id, the version of the schema and the id of the first new entry.
INSERT INTO lake.ducklake_snapshot
SELECT snapshot_id + 1, clock_timestamp(), schema_version + 1, next_catalog_id + $1, next_file_id
FROM lake.ducklake_snapshot ORDER BY snapshot_id DESC LIMIT 1
RETURNING snapshot_id, schema_version, next_catalog_id - $1;

-- name: add_tables
-- $1 snapshot, $2 ids, $3 names.
INSERT INTO lake.ducklake_table
SELECT id, gen_random_uuid(), $1, NULL, 0, name, name || '/', true FROM unnest($2::bigint[], $3::text[]) AS t (id, name);

-- name: add_columns
-- $1 snapshot, $2 tables, $3 ids, $4 names, $5 types.
INSERT INTO lake.ducklake_column (column_id, begin_snapshot, table_id, column_order, column_name, column_type,
	default_value, nulls_allowed, default_value_type, default_value_dialect)
SELECT id, $1, table_id, id, name, type, 'NULL', true, 'literal', 'duckdb'
FROM unnest($2::bigint[], $3::bigint[], $4::text[], $5::text[]) AS c (table_id, id, name, type);

-- name: empty_columns
-- A column that is added to a table with rows is null in all of them. $1 tables, $2 columns.
INSERT INTO lake.ducklake_table_column_stats (table_id, column_id, contains_null)
SELECT c.table_id, c.column_id, true FROM unnest($1::bigint[], $2::bigint[]) AS c (table_id, column_id)
WHERE EXISTS (SELECT FROM lake.ducklake_table_stats s WHERE s.table_id = c.table_id)
ON CONFLICT DO NOTHING;

-- name: versions
-- $1 snapshot, $2 version of the schema, $3 the tables that are new or changed.
INSERT INTO lake.ducklake_schema_versions SELECT $1, $2, unnest($3::bigint[]);

-- name: end_views
-- $1 snapshot, $2 views.
UPDATE lake.ducklake_view SET end_snapshot = $1 WHERE view_id = ANY ($2::bigint[]) AND end_snapshot IS NULL;

-- name: add_views
-- $1 snapshot, $2 ids, $3 names, $4 queries.
INSERT INTO lake.ducklake_view
SELECT id, gen_random_uuid(), $1, NULL, 0, name, 'duckdb', sql, '' FROM unnest($2::bigint[], $3::text[], $4::text[]) AS v (id, name, sql);

-- name: commented
-- The tables, their columns, and the views: kind, id, id of the column or 0, name, name of
-- the column, comment.
SELECT 'table', t.table_id, 0, t.table_name, '', coalesce(g.value, '')
FROM lake.ducklake_table t LEFT JOIN lake.ducklake_tag g ON g.object_id = t.table_id AND g.key = 'comment' AND g.end_snapshot IS NULL
WHERE t.end_snapshot IS NULL AND t.schema_id = 0
UNION ALL
SELECT 'table', t.table_id, c.column_id, t.table_name, c.column_name, coalesce(g.value, '')
FROM lake.ducklake_table t JOIN lake.ducklake_column c ON c.table_id = t.table_id AND c.end_snapshot IS NULL
LEFT JOIN lake.ducklake_column_tag g ON g.table_id = c.table_id AND g.column_id = c.column_id AND g.key = 'comment' AND g.end_snapshot IS NULL
WHERE t.end_snapshot IS NULL AND t.schema_id = 0
UNION ALL
SELECT 'view', v.view_id, 0, v.view_name, '', coalesce(g.value, '')
FROM lake.ducklake_view v LEFT JOIN lake.ducklake_tag g ON g.object_id = v.view_id AND g.key = 'comment' AND g.end_snapshot IS NULL
WHERE v.end_snapshot IS NULL AND v.schema_id = 0;

-- name: end_comments
-- $1 snapshot, $2 tables and views.
UPDATE lake.ducklake_tag SET end_snapshot = $1 WHERE object_id = ANY ($2::bigint[]) AND key = 'comment' AND end_snapshot IS NULL;

-- name: add_comments
-- $1 snapshot, $2 tables and views, $3 texts.
INSERT INTO lake.ducklake_tag SELECT id, $1, NULL, 'comment', text FROM unnest($2::bigint[], $3::text[]) AS t (id, text);

-- name: end_column_comments
-- $1 snapshot, $2 tables, $3 columns.
UPDATE lake.ducklake_column_tag g SET end_snapshot = $1 FROM unnest($2::bigint[], $3::bigint[]) AS c (table_id, column_id)
WHERE g.table_id = c.table_id AND g.column_id = c.column_id AND g.key = 'comment' AND g.end_snapshot IS NULL;

-- name: add_column_comments
-- $1 snapshot, $2 tables, $3 columns, $4 texts.
INSERT INTO lake.ducklake_column_tag
SELECT table_id, column_id, $1, NULL, 'comment', text FROM unnest($2::bigint[], $3::bigint[], $4::text[]) AS c (table_id, column_id, text);

-- name: changes
INSERT INTO lake.ducklake_snapshot_changes (snapshot_id, changes_made, author) VALUES ($1, $2, 'netsim');

-- name: positions
-- Begins at offset 0 in partitions that are new: $1 families, $2 partitions.
INSERT INTO lake.netsim_position (family, partition, next, epoch) SELECT family, partition, 0, 0 FROM unnest($1::text[], $2::int[]) AS p (family, partition)
ON CONFLICT DO NOTHING;
