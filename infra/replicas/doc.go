// Package replicas lets reads be answered by other databases than the one that is
// projected into, and keeps what clients were told: a read with a token shows at least all
// that the reply with this token said.
//
// # Tokens
//
// A token is a position in the event log: for some partitions, the first offset that is
// not covered. The reply to a write has the positions of the write's events, and where a
// write made no event, the position of the read model that it read. The reply to a read
// with a token has the position of the read model after the read, joined with the
// position that was asked for. So a client that sends the tokens of its last replies
// neither misses its own writes nor goes back in time.
//
// A token names the log (LogID), and is sealed with keys that all processes derive from
// the writer keys. A token of one region is valid in every other one.
//
// # Which database answers
//
// Without a token, a read is answered by the process's own database, which has every
// acknowledged write (package projector). A read with a token is answered by
//
//  1. a standby that has reached the token and is not further behind than the bound
//  2. a standby that reaches the token within a short time
//  3. the process's own database, once it has reached the token
//
// and is refused with 503 when that takes too long. A read on a standby that fails, as by
// a conflict with the replay, is repeated on the process's own database before anything
// is sent.
//
// # Why a read on a standby misses nothing
//
// The rows of a read model are a function of the log up to its offsets, and both are
// committed in one transaction. So it is enough that the offsets of the standby have
// reached the token when the read begins; it does not matter what the primary lost or has
// not sent yet. The position that a Standby has polled stays true, because:
//
//   - Within a run of the standby's server, replay does not go back. A pool belongs to one
//     run: a session is refused when it finds another start time of the server. After a
//     restart, replay can begin before what was visible; the position is then polled again.
//   - A promotion of another read model changes the table of the offsets, by its oid. The
//     pool is then replaced. The promoted read model has reached what the previous one had.
//   - A standby that was promoted to a primary, that belongs to another log, or whose read
//     model is of another release, is left out.
//
// A live read model that an operator drops is found by polling, within pollEvery, as on
// the primary (projector.Watcher.Behind).
package replicas
