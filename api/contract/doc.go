// Package contract holds the server and the tests to api/openapi.yaml.
//
// The server refuses what the contract does not allow, before a handler sees
// it, with messages in the forms of completions.md section 4.1. The tests hold
// every response to the contract, too.
//
// The schemas are compiled once into a checker of our own. kin-openapi reads
// the document, but its validation of OpenAPI 3.1 compiles a schema anew for
// every value it looks at (v0.152.0: 2 ms and 12,000 allocations for one simple
// submission, where the checker takes about 10 us and 46), and its messages name
// neither the path nor the value the way the documents want them. The checker
// knows exactly the keywords that the contract uses; Load refuses any other, so
// that none is ignored by accident. A test holds its verdicts to kin-openapi's.
//
// Checking a request reads a JSON body into memory, so a limit on its size must
// be in place before: web.LimitBody. An operation may take less than that, or
// more: x-netsim-max-bytes beside its request body. A form is checked while the
// handler reads it, file by file.
package contract
