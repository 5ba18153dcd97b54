package projections

import (
	"context"
	"errors"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgconn"

	"netsim/infra/sqlstate"
)

// Outage returns a client message for an error that is an outage of the read
// model: a lost connection, exhausted server resources, an operator's
// intervention, lost commits, or dropped tables. It returns "" for every other
// error.
func Outage(err error) string {
	switch {
	case errors.Is(err, ErrRebuilding), sqlstate.IsMissing(err):
		return "the read store has lost its tables; repeat the request when they are rebuilt"
	case errors.Is(err, ErrBehind):
		return "the read store is catching up after a restart; repeat the request"
	case unreachable(err):
		return "the read store does not answer; repeat the request"
	}
	return ""
}

// ErrRebuilding says that the read model was lost and is being rebuilt.
var ErrRebuilding = errors.New("the read model is being rebuilt")

// ErrBehind says that PostgreSQL has restarted, and that the read model may lack
// commits that it had before.
var ErrBehind = errors.New("the read model is catching up after a restart of PostgreSQL")

func unreachable(err error) bool {
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		const queryCanceled, readOnly = "57014", "25006"
		switch pg.Code[:2] {
		case "08", "53", "57": // connection, resources, operator intervention
			return pg.Code != queryCanceled
		}
		return pg.Code == readOnly
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return false
	}
	_, network := errors.AsType[net.Error](err)
	return network || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || pgconn.SafeToRetry(err)
}
