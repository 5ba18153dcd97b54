package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"netsim/infra/auth"
	web "netsim/infra/web"
)

// With these arguments the program runs one of the servers that the service is
// compared with:
//
//	bench child empty|peer ADDRESS ISSUER JWKS BROKER POSTGRES
const (
	childCommand = "child"
	readyPath    = "/ready"
)

func child(args []string) error {
	if len(args) != 6 {
		return errors.New("child: want 6 arguments; only bench itself runs this command")
	}
	name, address, issuer, jwks, broker, database := args[0], args[1], args[2], args[3], args[4], args[5]
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	verifier, err := auth.New(auth.Config{
		Issuer: issuer, JWKSURL: jwks, Audience: "netsim", ServiceClaim: "token_use", ServiceValue: "service", KeysMaxAge: 10 * time.Minute,
	})
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	serve := http.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return verifier.Run(ctx) })
	if name == "peer" {
		p, err := newPeer(ctx, broker, database)
		if err != nil {
			return err
		}
		serve = p
		group.Go(func() error { return p.router.Run(ctx) })
	}
	routes := http.NewServeMux()
	routes.HandleFunc(readyPath, func(http.ResponseWriter, *http.Request) {})
	routes.Handle("/", verifier.Authenticate(web.Errors{Log: log}.Fail)(serve))
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	group.Go(func() error {
		return web.Serve(ctx, web.NewServer(routes, answerWithin, log), listener, time.Second)
	})
	return group.Wait()
}
