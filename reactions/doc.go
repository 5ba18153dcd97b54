// Package reactions reacts to facts: each reaction takes one fact and runs commands
// on other streams. It gets facts only, in the order of their stream and each at
// least once, when the read model has them. A reaction is idempotent, because the
// ids of its commands, or of the streams that they write to, derive from the
// fact. Package infra/reactor delivers the facts and handles failures. Table lists every
// handler, also those that are with their domain.
package reactions
