// Package uploads takes the bytes of tracesets and mapping files.
//
// # Where bytes are
//
// A client puts parts to links of the object store, under staging/<upload id>/.
// A completion joins them, reads them once, and has the store copy them to
// where content of this hash is kept: libraries/<library id>/ for tracesets,
// mappingfiles/ for mapping files. What is staged goes when the upload has
// become something, or nothing. A direct upload is staged by this process
// instead of the client, and has no session.
//
// # A completion
//
//  1. The session's lock: one completion at a time.
//  2. The parts that the client names are compared with those that the store
//     has: numbers, tags, sizes. Until here a refusal changes nothing, and parts
//     can be put again.
//  3. The parts are joined. What is joined already is found at its key.
//  4. Each file is read to its end: size, hash, and what a mapping file says.
//  5. The content's lock: what is stored under one hash is stored, looked up
//     and removed by one at a time.
//  6. Copies, upload.completed, and then the event that creates the result,
//     with the id that the session was opened with.
//
// Each step can be done again, so a process that dies between any two of them
// leaves either an open session, which can be completed, or a completed one
// without its result, which the reaction to upload.completed makes good. It
// finds the bytes, because what is staged is removed only once the result is
// there. What a client or a dead process left behind in staging goes with the
// session's expiry, and what belongs to no session after two lives of one.
//
// The locks are sessions of PostgreSQL and end with their holder. Between a
// broken session and its notice two processes may be at one completion: they
// copy the same bytes to the same keys, and of their events the log accepts
// one each.
//
// # Time
//
// A large traceset takes longer to read than a request may. Its completion goes
// on when the request has been answered with 503, and who asks again is told
// that it goes on (409) or what came of it (200).
package uploads
