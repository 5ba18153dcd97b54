// Package reactions says what follows from facts: each reaction takes one fact
// and runs commands on other streams. It sees facts only, in the order of
// their stream, and each at least once; the read model has them already.
// Doing a reaction twice is doing it once, because the ids of its commands, or
// of the streams that they write to, derive from the fact. How facts get here,
// and what becomes of one that cannot be dealt with, is infra/reactor's.
package reactions
