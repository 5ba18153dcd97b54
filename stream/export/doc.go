// Package export writes the facts of the log to files: Parquet, CSV, or CloudEvents as
// lines of JSON, in a directory or an object store.
//
// # What is in an export
//
// An export covers the records from offset 0 of each partition to the partition's end
// at the time that the export began, and of these the facts that the filters select.
// Its files depend on the log, the filters, the format and the size of files alone: two
// exports of the same range have the same files, byte for byte.
//
// Each file has facts of one partition, in the order of the log. It is named after its
// table and range:
//
//	billing-0003-000000000000-000000071204.parquet
//
// has the selected facts of partition 3 of the family billing with offsets from 0 up to
// but not including 71204. A file ends after the fact with which the records that it has
// reach the size of a file.
//
// # Why an interrupted export resumes exactly
//
// The manifest lists the finished files, and for each partition the offset that they
// reach. A file is written under another name, synchronised and renamed; then the manifest
// that lists it replaces the previous one, atomically. An object appears in a store as a
// whole, so there is no other name.
//
// If the export dies before the manifest is replaced, the file exists or not and is not
// listed. The next run removes what is not listed, before it does anything else, and
// writes it again from the offset in the manifest. It refuses other options than those
// in the manifest, another log, and a log that has lost records.
//
// # Why the read model judges
//
// Which records are facts is asked of the read model (facts.Reader). To judge the records
// itself, an export would need the heads of all streams in memory, and a resumed one would
// have to read the log from the beginning. So the read model must have judged the log up
// to the end of the export; the export waits for it.
package export
