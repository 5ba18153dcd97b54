// Package iceberg writes the metadata of Apache Iceberg tables, version 2 of the table
// format, for Parquet files that exist: manifests, lists of manifests, and the metadata of
// a table with one snapshot. It does no I/O.
//
// Tables have no partitions, and no rows are deleted. A file has the field ids of its
// columns, which are those of the schema.
package iceberg
