// Package archive copies the log: to files, from files, and from one Kafka cluster to
// another. It copies every record of the internal topics, facts and others, because the
// verdict of a record depends on all records before it.
//
// # The files
//
// An archive is a sequence of segments. Segment n has the records that were appended
// since segment n-1: a note (000000000001.note) and, unless it has no records, a file
// (000000000001-DIGEST.zst). The file is a sequence of sections, each of one partition: Kafka's
// record batches of format 2 with the offset, time, key, value and headers of each
// record, compressed with Zstandard. The note is signed like a log checkpoint:
//
//	netsim log segment v1
//	segment <number>
//	cluster <id of the Kafka cluster>
//	previous <SHA-256 of the signed note before, or none>
//	topic <family> <topic id> <partitions>
//	section <family> <partition> <from> <to> <at> <bytes> <SHA-256 of these bytes>
//	position <family> <partition> <next> [<events.Sum of the record before>]
//	group <consumer group> <family> <partition> <next> <metadata, or none>
//
// A section has the records from the offset from up to but not including to, and is at
// the byte at of the file. The positions are those after the segment, of every partition.
// Groups are in the last segment of a run: what reactions had committed before the run
// read the ends of the log.
//
// # Why an interrupted run continues exactly
//
// The file is complete before its note is written, and appears as a whole, as the note
// does. So the last note says what is archived. A file without a note is not of the
// archive. If the log has the same records, the next run writes it again: a segment is a function
// of the positions at which it begins, the ends of the log when the run began, and the
// size at which segments end. Nothing in it depends on when it was made.
//
// # Why several archivers do not disturb each other
//
// The name of a file has a digest of its sections, so no archiver replaces the file of
// another. A note is published only if there is none with its number: of several
// archivers one commits a segment, and the others read the archive again. An archiver
// reads the archive before the ends of the log, so it never takes what another one has
// archived meanwhile for a lost tail.
//
// # Why one signature is enough
//
// Every note names the SHA-256 of the note before and of its own sections. The last
// note's signature therefore covers everything. A missing last segment cannot be seen in
// the archive itself: the signed log checkpoints and the read model show it.
//
// # Restoring
//
// A copy is appended to topics that keep the time of each record. The service refuses
// such topics, so it cannot use a copy that is not finished. What a killed run has
// appended is a prefix of the log; the next run compares it and continues. Runs that copy one
// log at the same time append as one producer, with offsets as sequences, so the brokers
// append no batch twice, and a run that finds its batch appended ends. When all is
// there, it is read back and compared, the groups' positions are committed, and the
// topics get the settings of a log.
package archive
