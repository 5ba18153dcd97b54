package projections

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// OpenSimulations is how many simulations that have not ended are in a status.
type OpenSimulations struct {
	Remote bool // at a remote engine
	Status string
	Count  int64
}

// CountOpenSimulations counts the simulations that have not ended.
func CountOpenSimulations(ctx context.Context, db Reader) ([]OpenSimulations, error) {
	rows, err := db.Query(ctx, `SELECT base_url <> '' AS remote, status, count(*) FROM simulations
		WHERE status IN ('validating', 'provisioning', 'running') AND deleted = '' GROUP BY remote, status`)
	counts, err := collect(rows, err, pgx.RowToStructByPos[OpenSimulations])
	if err != nil {
		return nil, fmt.Errorf("count the simulations that have not ended: %w", err)
	}
	return counts, nil
}
