package service

import (
	"net/http"

	"netsim/api/contract"
	"netsim/infra/web"
)

// onlyReads refuses, in a deployment that only reads, the requests that write and those
// that need what only the deployment that takes writes has.
func (d frontEnd) onlyReads(fail web.FailFunc) web.Middleware {
	refusal := d.config.Refusal()
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if refusal != nil && needsPrimary(r) {
				fail(w, r, refusal)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// needsPrimary reports whether a request changes something, or reads what is neither made
// from the log nor in the object store.
func needsPrimary(r *http.Request) bool {
	op, ok := contract.OperationOf(r)
	return ok && (changes(r) || op.Access.Records || op.Access.Primary)
}
