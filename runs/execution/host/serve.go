package host

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// grace is the time that requests have to end during a shutdown.
const grace = 5 * time.Second

// Serve serves requests until ctx ends, and then completes those in progress. It
// does not stop runs; Close does.
func (h *Host) Serve(ctx context.Context, on net.Listener) error {
	server := &http.Server{
		Handler: h.Handler(), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute,
		WriteTimeout: time.Hour, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(on) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	err := server.Shutdown(ending)
	if errors.Is(err, context.DeadlineExceeded) {
		return server.Close()
	}
	return err
}
