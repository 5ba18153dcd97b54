// Package uploads stores the bytes of tracesets and mapping files.
//
// # Object keys
//
// A client uploads parts to presigned links, under staging/<upload id>/. A
// completion joins the parts, reads the files once, and has the store copy them
// to a key of their content: libraries/<library id>/ for tracesets,
// mappingfiles/ for mapping files. Staged objects are removed when the upload is
// completed or aborted. In a direct upload this process stages the files instead
// of the client, and there is no session.
//
// # A completion
//
//  1. Take the session's lock: one completion runs at a time.
//  2. Compare the parts that the client names with the stored ones: numbers,
//     entity tags, sizes. A refusal up to here changes nothing, and the client
//     can upload parts again.
//  3. Join the parts. Files that are joined already are found at their keys.
//  4. Read each file: size, hash, and the content of a mapping file.
//  5. Take the content's lock: objects of one hash are stored, looked up and
//     removed by one process at a time.
//  6. Copy the objects, record upload.completed, and then record the event that
//     creates the result, with the id that was chosen when the session opened.
//
// Each step can be repeated. A process that dies between two steps leaves an open
// session, which can be completed, or a completed one without its result. The
// reaction to upload.completed creates the result then. The bytes are still
// there, because staged objects are removed only after the result exists. Staged
// objects of an expired session are removed with it, and objects of no session
// after twice the lifetime of a session.
//
// The locks belong to PostgreSQL sessions and end with them. Until a process
// notices that its session is broken, two processes may run the same completion.
// They copy the same bytes to the same keys, and the log accepts each event once.
//
// # Time
//
// Reading a large traceset takes longer than a request may. The completion
// continues after the request has been answered with 503. While it runs, a repeated
// request is answered with 409, or waits if it has an idempotency key. Afterwards a
// repeated request gets the result.
package uploads
