package console

import (
	"net/http"
	"strings"
)

// Policy returns the content security policy of the console. The application loads only what
// is served with it, and sends requests to the service and to the object store, "" for none.
func Policy(objectStore string) string {
	connect := strings.TrimSpace("connect-src 'self' " + objectStore)
	return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; " + connect +
		"; worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
}

// Harden returns the middleware that sets the headers of all pages of the console. What the
// API sends does not get them: its own policy allows a browser nothing at all.
func Harden(objectStore string) func(http.Handler) http.Handler {
	headers := map[string]string{
		"Content-Security-Policy": Policy(objectStore),
		"X-Content-Type-Options":  "nosniff",
		"X-Frame-Options":         "DENY",
		// With no-referrer a browser sends "Origin: null" with a form, which looks like
		// another origin.
		"Referrer-Policy":            "same-origin",
		"Permissions-Policy":         "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), midi=(), payment=(), usb=()",
		"Cross-Origin-Opener-Policy": "same-origin",
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for name, value := range headers {
				w.Header().Set(name, value)
			}
			next.ServeHTTP(w, r)
		})
	}
}
