// Package contract checks requests and responses against api/openapi.yaml.
//
// The server refuses a request that the contract does not allow before a handler
// runs, with messages in the forms of completions.md section 4.1. The tests check
// every response, too.
//
// The schemas are compiled once into a checker of this package. kin-openapi reads
// the document, but its validation of OpenAPI 3.1 compiles a schema again for every
// value (v0.152.0: 2 ms and 12,000 allocations for one simple submission; the
// checker takes about 10 us and 46), and its messages do not have the required
// forms. The checker knows exactly the keywords that the contract uses. Load refuses
// any other, so that none is ignored by accident. A test compares its results with
// kin-openapi's.
//
// Checking a request reads a JSON body into memory, so web.LimitBody must limit its
// size first. An operation can have another limit: x-netsim-max-bytes beside its
// request body. A form is checked while the handler reads it, file by file.
package contract
