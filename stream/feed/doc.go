// Package feed sends the facts of the log to clients as they are recorded, from any
// position on, filtered by what the client asks for and may see.
//
// # Positions
//
// A feed reads a fixed list of partitions: those that its query can touch. Its
// position has one offset for each of them: every visible fact before it was sent, and
// none from it on. After each fact the position grows by that fact. So a client that
// resumes from any position that it got receives each later fact once. A stream is in
// one partition, therefore its facts come in order; facts of different partitions come
// in any order.
//
// # Hub
//
// For each partition that some feed follows, the hub runs one follower, which reads
// each batch once for all feeds. The follower encodes a fact once, when the first feed
// wants it, and appends a reference to the queue of every feed that does. A fact of an
// account is offered only to the feeds of that account and to those of all accounts,
// so what a fact costs does not depend on the feeds of others. A feed that nothing is
// sent to is not woken; its position grows to the hub's at its next heartbeat.
//
// A queue is bounded. A feed whose queue is full ends: it sends what is queued and the
// position to resume from.
//
// # History and the join
//
// A feed that begins before the hub's position first reads the log by itself, at a
// bounded rate that all such feeds share, until it is almost at the end. Then it joins:
// under the hub's lock it notes each follower's position, from which on its queue gets
// every fact. It reads the log up to the noted positions, and goes on with the queue. The
// two parts meet at an offset, so nothing is missing and nothing comes twice.
package feed
