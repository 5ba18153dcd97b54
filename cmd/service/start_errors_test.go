package service

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"netsim/fault"
	"netsim/infra/eventlog"
	"netsim/infra/postgres"
	"netsim/infra/projector"
)

// TestTransient lists the errors of servers that may answer later, and those of settings
// that are refused for good.
func TestTransient(t *testing.T) {
	t.Parallel()
	state := func(code string) error { return &pgconn.PgError{Code: code} }
	dialed := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	for name, test := range map[string]struct {
		err  error
		want bool
	}{
		"nothing":                    {nil, false},
		"PostgreSQL starts":          {state("57P03"), true},
		"PostgreSQL ends":            {state("57P01"), true},
		"too many sessions":          {state("53300"), true},
		"wrong password":             {state("28P01"), false},
		"unknown database":           {state("3D000"), false},
		"one host down, one refuses": {errors.Join(dialed, state("28P01")), false},
		"missing tables":             {fmt.Errorf("x %w", postgres.ErrNotMigrated), false},
		"connection refused":         {dialed, true},
		"connection reset":           {&net.OpError{Op: "read", Err: errors.New("connection reset by peer")}, true},
		"closed before the request":  {&url.Error{Op: "Head", Err: errors.New("http: server closed idle connection")}, true},
		"unexpected EOF":             {io.ErrUnexpectedEOF, true},
		"timeout":                    {context.DeadlineExceeded, true},
		"end of the process":         {context.Canceled, false},
		"alert of TLS":               {&net.OpError{Op: "remote error", Err: errors.New("tls: bad certificate")}, false},
		"unknown authority":          {&url.Error{Err: x509.UnknownAuthorityError{}}, false},
		"no leader":                  {fmt.Errorf("x: %w", eventlog.ErrNoLeader), true},
		"few brokers":                {eventlog.ErrFewBrokers, false},
		"another log":                {projector.ErrOtherLog, false},
		"read model is behind":       {projector.ErrNotRecovered, true},
		"no verdict":                 {fault.Unknown(nil), true},
		"refused command":            {fault.New(fault.Conflict, "x"), false},
	} {
		if got := transient(test.err); got != test.want {
			t.Errorf("%s: transient(%v) is %v, want %v", name, test.err, got, test.want)
		}
	}
}
