// Package eventlog appends records to the log and reads them. It is the only code
// that writes event records to Kafka. Package events decides what a record means
// and whether it is a fact; this package knows only its offset.
//
// # Appending
//
// Every partition has a queue. Append adds a record to its end and returns. A
// loop produces all queued records, up to about 1 MiB, as one batch (acks=all),
// with one request in flight. So the order of Append is the order in the log, and
// batches grow with the load, without a linger time.
//
// A batch is in one of these states:
//
//	waiting -> sent -> written       the broker said so: the offset is exact
//	             |  \-> refused      the broker said so: ErrNotWritten
//	             \-> in doubt -> sent again ...
//
// A batch is in doubt when its answer is lost: it may be in the log, now or later.
// The same bytes are sent again, before any later batch, until
// Config.AppendTimeout after its oldest record was queued. When the broker
// acknowledges a copy, earlier copies can only lie between the end of the
// partition before the first try and the acknowledged offset. The event log reads
// that range and returns the offset of the first copy.
// A batch is written whole or not at all and its records are stored to the
// byte as they were sent, so a copy is recognised by comparing bytes. A copy
// that lands later still has a larger offset and is not the first.
//
// If time runs out in doubt, every record of the batch ends with ErrUnknown.
// If no try can have reached the log, they end with ErrNotWritten.
//
// # Reading
//
// Read fetches records from an offset on with a long poll. It reads uncommitted:
// this system uses no Kafka transactions, and a record that another writer wrote
// in one is judged like any other. A record's time is the broker's time of
// append. kafka-go's decoder returns the producer's time instead, and allocates
// for each header, so this package decodes fetched batches itself. The embedded
// broker of netsim-dev keeps the producer's time, which is the time of Append on
// the same machine.
package eventlog
