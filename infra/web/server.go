package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// NewServer returns a server with limits against slow clients and large headers.
// The header limit leaves room for a token of 16 KiB. A request may take a minute to
// arrive, and its response may take the time answer after that.
func NewServer(handler http.Handler, answer time.Duration, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       time.Minute,
		WriteTimeout:      time.Minute + answer,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// CloseWhen asks clients to close their connection after each response while ending
// returns true. Their next request then goes to another server, and none is lost
// when this server closes its connections.
func CloseWhen(ending func() bool) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if ending() {
				w.Header().Set("Connection", "close")
			}
			next.ServeHTTP(w, r)
		})
	}
}

// Serve serves until ctx ends. Requests in progress may then take up to grace, after
// which their connections are closed. Serve returns nil if all requests ended in
// time.
func Serve(ctx context.Context, server *http.Server, listener net.Listener, grace time.Duration) error {
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return fmt.Errorf("serve http on %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	err := server.Shutdown(ending)
	if err != nil {
		err = errors.Join(fmt.Errorf("end http on %s: %w", listener.Addr(), err), server.Close())
	}
	<-served
	return err
}
