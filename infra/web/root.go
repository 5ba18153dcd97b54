package web

import (
	"context"
	"net/http"
)

// Locate notes the URL under which the client reached the service, for Root. It
// must be inside Identify.
func Locate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme := "http"
		if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
			scheme = "https"
		}
		note(r.Context(), func(n *request) { n.scheme, n.host = scheme, r.Host })
		next.ServeHTTP(w, r)
	})
}

// Root returns the URL that Locate noted, such as https://netsim.example, or "" if
// there is none. The client chooses it, so use it only in the response to the same
// request.
func Root(ctx context.Context) (root string) {
	note(ctx, func(r *request) {
		if r.scheme != "" {
			root = r.scheme + "://" + r.host
		}
	})
	return root
}
