package operate

import (
	"context"
	"errors"

	"netsim/cmd/connections"
	"netsim/infra/doctor"
	"netsim/infra/eventlog"
	"netsim/stream/lake"
)

// lake checks that the lake is of the log. It writes nothing.
func (x *examination) lake(ctx context.Context) doctor.Result {
	log, err := eventlog.Open(ctx, connections.EventLogConfig(&x.config, x.broker))
	if err != nil {
		return doctor.Failure("see the checks of Kafka", "%v", err)
	}
	defer log.Close()
	switch s, err := lake.ReadStatus(ctx, x.pool, log, nil); {
	case errors.Is(err, lake.ErrMissing):
		return doctor.Good("there is no lake yet")
	case err != nil:
		return doctor.Failure("see the checks of PostgreSQL and Kafka", "%v", err)
	case s.OtherLog != "":
		return doctor.Failure("'netsim lake drop'; the process with the role lake writes it again", "%s", s.OtherLog)
	default:
		return doctor.Good("snapshot %d, of the log", s.Snapshot)
	}
}
