// Package lake writes the facts of the log to a DuckLake: Parquet files in the object
// store, and a catalogue of version 1.0 of DuckLake's specification in the schema lake
// of PostgreSQL. Stock DuckDB attaches it and reads the tables of package tables.
//
// # The commit
//
// Readers of all partitions fill one Parquet file per table. When the interval is
// over, or the files are large, they are cut, and then:
//
//	intent    the paths of the files are recorded in netsim_upload
//	upload    the files are written to the object store
//	commit    one transaction moves the positions in the log from where this writer
//	          read them, adds a snapshot, the files and their statistics, and takes
//	          the intents back
//
// So a snapshot is, for each partition, exactly a prefix of the facts. Whatever fails,
// the writer drops what it has in memory and reads again from the positions that are
// committed: a fact is in the lake once. Files are named once and written before the
// commit, so a catalogue names no file that does not exist.
//
// # One writer
//
// The writer holds shard 0 of the leases of the subscriber lake. A commit is refused
// unless the lease has its epoch and the positions are where the writer read them.
// DuckDB may also write to the lake, for example to merge or to expire. Snapshots are
// numbered, so that one of two that commit at once is refused, and tries again.
//
// # Which log
//
// Each position has its anchor (events.Anchor). The writer proves all of them when it
// begins, and those that move before each commit. A log with other records is refused for
// ever, because the rows of the lost events stay in the snapshots. A dropped lake is made
// again.
//
// # Iceberg
//
// A minute after a change at the latest, the same files are published as Iceberg tables: an
// edition has the metadata of a table, with one snapshot, the list of its manifests, and a
// manifest for each day of files, which is kept while its files are the same. Intents and
// deletion are those of the data. The locations of all tables are committed in one
// transaction, to the table of Iceberg's JDBC catalogue. A file is deleted only after an
// edition without it was published.
//
// # Deletion
//
// A file whose intent is older than DeleteAfter belongs to an attempt that did not
// commit. It is refused first, which makes its commit impossible, and deleted then.
// Files that a merge has replaced are deleted DeleteAfter after the merge, because a
// reader may still read them. Nothing else is deleted.
package lake
