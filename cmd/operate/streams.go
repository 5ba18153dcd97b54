package operate

import (
	"context"
	"time"

	"netsim/api"
	"netsim/infra/projector"
)

// retryTimeout bounds how long a retry waits for the projector.
const retryTimeout = 30 * time.Second

// RetryParked makes the projector apply the parked facts of a stream again, or of all
// streams for "". It returns the facts that are still parked.
func (t *Tools) RetryParked(ctx context.Context, stream string) (api.ParkedFactList, error) {
	if err := projector.RetryParked(ctx, t.conn.Pool, stream, retryTimeout); err != nil {
		return api.ParkedFactList{}, err
	}
	return t.Parked(ctx, projector.ParkedQuery{Schema: projector.Live, Stream: stream})
}
