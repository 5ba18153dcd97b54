package web

import (
	"context"
	"net/http"
)

type rootKey struct{}

// Locate notes under which URL the client reaches the service, for Root.
func Locate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme := "http"
		if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
			scheme = "https"
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), rootKey{}, scheme+"://"+r.Host)))
	})
}

// Root returns scheme and host of the request, such as https://netsim.example,
// or "" outside Locate. A client can only mislead itself by it: use it in
// answers to the request, and nowhere else.
func Root(ctx context.Context) string {
	root, _ := ctx.Value(rootKey{}).(string)
	return root
}
