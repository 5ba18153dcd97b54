// Package webhooks delivers the facts of the log to receivers over HTTP, by Standard
// Webhooks 1.0.0: each fact as the feed's CloudEvent, signed, at least once, and those of a
// stream in order.
//
// # From the log to a receiver
//
// A webhook is a client of the feed: it has a feed of its own, with its filter and what its
// account may see. What the feed sends becomes messages:
//
//	read     a reader commits the messages of a webhook together with the position after
//	         them, so each fact becomes a message once
//	send     the first message of each lane is sent when it is due
//	record   the attempt is committed; a message that was delivered is removed, and the
//	         next one of its lane is due
//
// A lane is the messages of a webhook for a stream. Only the first of a lane is attempted,
// so a failing message delays its lane and no other. After MaxAttempts attempts, over three
// days, it is dropped, and its lane goes on.
//
// When the process ends between send and record, the message is sent again. It has the same
// webhook-id in all attempts and replays, which depends on the webhook and the event only.
//
// # One process
//
// The process that delivers holds shard 0 of the leases of the subscriber webhooks. Its
// changes are committed one transaction at a time, each with all that was submitted during
// the one before, in a handful of statements whatever their number. The holder of a later
// lease first stores its epoch. That waits for the end of a transaction of the one before,
// whose next one is refused.
// Whatever fails, the process drops what it knows and begins with what is committed.
//
// Commits are asynchronous, as all of the service's: a crash of PostgreSQL can lose the
// last of them, but none before another. Then positions are older too, and what was
// delivered is delivered again.
//
// # Bounds
//
// A webhook has Limits.Messages messages, give or take one write of its feed; then its
// reading waits, and nothing is dropped. A process has Limits.PerProcess attempts at a time.
// A webhook has one at first, one more after each success up to Limits.PerWebhook, and half
// as many after a failure, so receivers that do not answer take little of the process. Retry-After with 429 and 503
// is respected up to an hour, for the whole webhook. An attempt has a timeout from the
// resolving of the name to the end of the answer; little of an answer is read.
//
// # Receivers
//
// The URL is a client's, and must not reach what only this machine can reach. A name is
// resolved for each connection; if any of its addresses is not public, there is none, and
// else it goes to one of those addresses. Redirects are not followed and proxies not used.
// What a refused name resolves to is not shown, and the begin of an answer only if a public
// address sent it.
//
// # Secrets
//
// A secret is derived from a master key, the webhook's id and a generation, and stored
// nowhere.
//
// # Positions
//
// A position is not resumed from after a loss of the log's records: the webhook is disabled,
// and its owner replays it from a time. When the tables are lost, every webhook is read from
// its begin again.
package webhooks
