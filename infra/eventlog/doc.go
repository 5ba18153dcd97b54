// Package eventlog appends records to the event log in Kafka and reads them. It is
// the only code that writes event records to Kafka. Package events decides what a
// record means and whether it is a fact; this package knows only its offset.
//
// # Appending
//
// Every partition has a queue. Append adds a record to its end and returns. A
// loop sends all queued records, up to about 1 MB, as one batch (acks=all),
// with one request in flight. Records are therefore in the log in the order of
// their Append, and batches grow with the load, without a linger time.
//
// A batch is in one of these states:
//
//	waiting -> sent -> written       acknowledged by the broker: the offset is exact
//	             |  \-> refused      rejected by the broker: ErrNotWritten
//	             \-> in doubt -> sent again ...
//
// A batch is in doubt when its answer is lost: it may be in the log, now or later.
// The same bytes are sent again, before any later batch, until
// Config.AppendTimeout after its oldest record was queued. When the broker
// acknowledges a copy, earlier copies can only lie between the end of the
// partition before the first try and the acknowledged offset. The event log reads
// that range and returns the offset of the first copy.
//
// The broker writes a batch as a whole or not at all, and stores its records byte
// for byte, so a copy is recognised by comparing bytes. A copy that is written
// later has a larger offset and is not the first.
//
// If the time runs out while the batch is in doubt, each of its records ends with
// ErrUnknown. If no try can have reached the log, each ends with ErrNotWritten.
//
// # Reading
//
// Read fetches records from an offset with a long poll. It reads uncommitted:
// this system uses no Kafka transactions, and a record that another writer wrote
// in one is checked like any other. A record's time is the broker's time of
// append. kafka-go's decoder returns the producer's time instead, and allocates
// for each header, so this package decodes fetched batches itself. The embedded
// broker of netsim-dev keeps the producer's time, which is the time of Append on
// the same machine.
//
// Follow and Recall return the records that this process appended itself, and still
// has, from memory, with the offsets and times that the broker acknowledged, and fetch
// all others. Follow waits for the next record of the partition, Recall is for records
// that are in the log already. Only Read shows what the broker has.
package eventlog
