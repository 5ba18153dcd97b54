// Command cases is the faulty proxy of the SDKs' table of cases: a reverse proxy in front of
// a service that cuts, refuses and delays the requests it is told to, and lists what passed.
//
//	go run ./cases --target http://127.0.0.1:8080 --listen 127.0.0.1:0
//
// It prints its URL as the first line of standard output.
//
// POST /__case with a [Fault] arms it, DELETE /__case disarms all. GET /__log is the list of
// [Passed] requests, DELETE /__log empties it. Links to the object store in JSON answers lead
// through the proxy too, below /__store/, so that faults match uploads and downloads.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	log.SetFlags(0)
	target := flag.String("target", "http://127.0.0.1:8080", "base `URL` of the service")
	listen := flag.String("listen", "127.0.0.1:0", "`address` to listen on")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *target, *listen); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, target, listen string) error {
	to, err := url.Parse(target)
	if err != nil || to.Host == "" {
		return fmt.Errorf("--target %q is not the URL of a service", target)
	}
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	here := &url.URL{Scheme: "http", Host: listener.Addr().String()}
	server := &http.Server{Handler: NewProxy(to, here), ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	fmt.Println(here)
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
