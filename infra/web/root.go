package web

import (
	"context"
	"net/http"
)

type rootKey struct{}

// Locate stores the URL under which the client reached the service, for Root.
func Locate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme := "http"
		if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
			scheme = "https"
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), rootKey{}, scheme+"://"+r.Host)))
	})
}

// Root returns the URL that Locate stored, such as https://netsim.example, or "" if
// there is none. The client chooses it, so use it only in the response to the same
// request.
func Root(ctx context.Context) string {
	root, _ := ctx.Value(rootKey{}).(string)
	return root
}
