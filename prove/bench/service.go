package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// service is a running service, or a server that it is compared with.
type service struct {
	*process
	target
	ops string // address of the operations listener; "" if the server is not netsim
}

// services are the processes that share the work.
type services []*service

// processes returns the processes of the services.
func (all services) processes() (processes []*process) {
	for _, s := range all {
		processes = append(processes, s.process)
	}
	return processes
}

// dial opens connections, spread evenly over the services.
func (all services) dial(count int) (conns []*conn, hangUp func(), err error) {
	var closers []func()
	hangUp = func() {
		for _, hangUp := range closers {
			hangUp()
		}
	}
	for i, s := range all {
		some, closer, err := s.target.dial((count + i) / len(all))
		if err != nil {
			hangUp()
			return nil, nil, err
		}
		conns, closers = append(conns, some...), append(closers, closer)
	}
	return conns, hangUp, nil
}

// stop ends the services in order.
func (all services) stop() (err error) {
	for _, s := range all {
		err = errors.Join(err, s.process.stop())
	}
	return err
}

// settings returns the environment of the service and its tools.
func (s *stack) settings(more ...string) []string {
	objects, issuer := s.parts["objects"], s.parts["issuer"]
	return append(append(os.Environ(),
		"NETSIM_DATA_DEV=1", "NETSIM_LOG_LEVEL=WARN", "NETSIM_DRAIN=0s", "NETSIM_QUOTAS=runs.running=1000", "NETSIM_WRITER_KEYS="+writerKey, fmt.Sprint("NETSIM_PARTITIONS=", s.shards),
		"NETSIM_KAFKA="+s.parts["broker"].Addr, "NETSIM_POSTGRES="+s.parts["postgres"].URL,
		"NETSIM_S3_ENDPOINT="+objects.URL, "NETSIM_S3_REGION="+objects.Region,
		"NETSIM_S3_ACCESS_KEY="+objects.AccessKey, "NETSIM_S3_SECRET_KEY="+objects.SecretKey,
		"NETSIM_OIDC_ISSUER="+issuer.Issuer, "NETSIM_OIDC_JWKS_URL="+issuer.JWKSURL, "NETSIM_OIDC_AUDIENCE="+issuer.Audience,
	), more...)
}

// allRoles are those of one process that does everything.
const allRoles = "api,projector,reactor,worker"

// serve starts the service with some of its roles and waits until it is ready.
func (s *stack) serve(ctx context.Context, roles string) (*service, error) {
	web, ops, err := freeAddress(), freeAddress(), error(nil)
	s.serves++
	p := &process{cmd: exec.Command(s.binaries.service, "serve"), said: filepath.Join(s.dir, fmt.Sprintf("service-%d.log", s.serves))}
	p.cmd.Env = s.settings("NETSIM_HTTP="+web, "NETSIM_OPS="+ops, "NETSIM_PROFILES=true", "NETSIM_ROLES="+roles)
	if err = p.start(); err != nil {
		return nil, err
	}
	started := &service{process: p, target: target{web, s.token}, ops: ops}
	if err := awaitReady(ctx, "http://"+ops+"/readyz"); err != nil {
		return nil, fmt.Errorf("the service: %w", errors.Join(err, p.stop()))
	}
	return started, nil
}

func awaitReady(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			resp.Body.Close() //nolint:errcheck // only its status matters
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w", url, ctx.Err())
		}
	}
}

// freeAddress returns a loopback address that was free a moment ago.
func freeAddress() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "127.0.0.1:0"
	}
	defer l.Close() //nolint:errcheck // nothing was written
	return l.Addr().String()
}
