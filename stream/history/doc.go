// Package history reads what has happened: the facts of a stream with the states
// between them, and the facts that a request led to. The read model says where they are
// in the log, so a page is read with one query or two and with few fetches, however long
// the log is. The package keeps nothing between two pages.
//
// A record is read only at the position of a fact, and must have the stream, the
// sequence and the previous hash that the chain has there.
package history
