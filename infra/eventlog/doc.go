// Package eventlog appends records to the log and reads them back. It is the
// only code that writes event records to Kafka. What a record means, and
// whether it is a fact, is decided by package events; the event log promises
// only where a record lies.
//
// # Appending
//
// Every partition has a queue. Append puts a record at its end and returns; a
// loop takes everything that waits, up to about a mebibyte, and produces it as
// one batch (acks=all), one request in flight. So the order of Append is the
// order in the log, and the busier a partition is the larger its batches get,
// without any lingering.
//
// A batch is in one of these states:
//
//	waiting -> sent -> written       the broker said so: the offset is exact
//	             |  \-> refused      the broker said so: ErrNotWritten
//	             \-> in doubt -> sent again ...
//
// In doubt is a batch whose answer never came: it may be in the log, now or
// later. It is sent again, the same bytes, before anything behind it, until
// Config.AppendTimeout after its oldest record was queued. If the broker then
// acknowledges a copy at some offset, earlier copies can only lie between the
// end of the partition as it was known before the first try and that offset;
// the event log reads that range back and returns the offset of the first copy.
// A batch is written whole or not at all and its records are stored to the
// byte as they were sent, so a copy is recognised by comparing bytes. A copy
// that lands later still has a larger offset and is not the first.
//
// If time runs out in doubt, every record of the batch ends with ErrUnknown.
// If no try can have reached the log, they end with ErrNotWritten.
//
// # Reading
//
// Read asks for records from one offset on with an explicit long poll. It
// reads uncommitted: no part of this system uses Kafka transactions, and a
// record that somebody else wrote in one is judged like any other. Time is the
// broker's time of append, which kafka-go's own decoder does not give: it
// computes the producer's. That and its allocation per header are why the
// event log decodes fetched batches itself. The embedded broker of netsim-dev
// has no such time and keeps the producer's, which is the time of Append on
// the same machine.
package eventlog
