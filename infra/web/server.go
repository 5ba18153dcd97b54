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

// NewServer makes a server that slow or greedy clients cannot hold up. The
// header limit leaves room for a token of 16 KiB. A request has a minute to be
// sent, and answer is how long its response may take after that.
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

// CloseWhen asks clients to close their connection after each answer while the
// server is ending: their next request opens one elsewhere, and none is on its
// way when connections are closed.
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

// Serve answers connections until ctx ends, then lets the requests that have
// begun finish within grace, and cuts off those that do not. It returns nil
// after an orderly end.
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
