package service

import (
	"net/http"

	"netsim/fault"
	"netsim/infra/web"
)

// refusal returns the error for a write in a deployment that only reads; nil in any other.
func (c *Config) refusal() error {
	switch {
	case !c.ReadOnly:
		return nil
	case c.PrimaryURL == "":
		return fault.New(fault.Forbidden, "this deployment only reads; send the request to the deployment that takes writes")
	}
	return fault.New(fault.Forbidden, "this deployment only reads; send the request to %s", c.PrimaryURL)
}

// onlyReads refuses, in a deployment that only reads, the requests that write and those
// that need what only the deployment that takes writes has.
func (d frontEnd) onlyReads(fail web.FailFunc) web.Middleware {
	refusal := d.config.refusal()
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if refusal != nil && d.needsPrimary(r) {
				fail(w, r, refusal)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// needsPrimary reports whether a request changes something, or reads what is neither made
// from the log nor in the object store.
func (d frontEnd) needsPrimary(r *http.Request) bool {
	op, ok := d.contract.Find(r)
	return ok && (d.changes(r) || op.Access.Records || op.Access.Primary)
}
