package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"netsim/infra/auth"
	"netsim/infra/web"
)

// With these arguments the program runs one of the servers that the service is
// compared with:
//
//	bench child NAME ADDRESS ISSUER JWKS BROKER POSTGRES
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
		Issuer: issuer, JWKSURL: jwks, Audience: "netsim", Platform: "netsim", Algorithms: []string{"ES256", "RS256"}, ServiceClaim: "token_use", ServiceValue: "service", KeysMaxAge: 10 * time.Minute,
	})
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	p, err := newProgram(ctx, name, broker, database)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return verifier.Run(ctx) })
	if p.run != nil {
		group.Go(func() error { return p.run(ctx) })
	}
	routes := http.NewServeMux()
	routes.HandleFunc(readyPath, func(http.ResponseWriter, *http.Request) {})
	routes.Handle("/", verifier.Authenticate(web.Errors{Log: log}.Fail)(p))
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	group.Go(func() error {
		return web.Serve(ctx, web.NewServer(routes, answerWithin, log), listener, time.Second)
	})
	return group.Wait()
}

// childServer is the work of a child. Its handler runs behind the check of the token.
type childServer struct {
	http.Handler
	run func(context.Context) error // runs beside the requests; may be nil
}

func newProgram(ctx context.Context, name, broker, database string) (childServer, error) {
	switch name {
	case "empty":
		return childServer{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })}, nil
	case "watermill":
		return newWatermill(ctx, broker, database)
	case "outbox":
		return newOutbox(ctx, broker, database)
	case "durable", "asynchronous":
		return newInserting(ctx, database, name == "durable")
	}
	return childServer{}, fmt.Errorf("child: no program is called %q", name)
}
