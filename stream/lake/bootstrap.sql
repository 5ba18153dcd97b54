-- The first rows of a catalogue: snapshot 0 with an empty schema main. $1 is the path
-- of the data, which ends with a slash. A catalogue that has them is left alone.
WITH metadata AS (
	INSERT INTO lake.ducklake_metadata (key, value)
	SELECT key, value FROM (VALUES
		('version', '1.0'), ('created_by', 'netsim'), ('data_path', $1::text), ('encrypted', 'false'), ('data_inlining_row_limit', '0')
	) AS rows (key, value)
	WHERE NOT EXISTS (SELECT FROM lake.ducklake_metadata)
	RETURNING key
), schema AS (
	INSERT INTO lake.ducklake_schema
	SELECT 0, gen_random_uuid(), 0, NULL, 'main', 'main/', true WHERE EXISTS (SELECT FROM metadata)
), changes AS (
	INSERT INTO lake.ducklake_snapshot_changes
	SELECT 0, 'created_schema:"main"', 'netsim', NULL, NULL WHERE EXISTS (SELECT FROM metadata)
)
INSERT INTO lake.ducklake_snapshot
SELECT 0, clock_timestamp(), 0, 1, 0 WHERE EXISTS (SELECT FROM metadata)
