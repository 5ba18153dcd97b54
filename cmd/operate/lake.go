package operate

import (
	"context"

	"github.com/jackc/pgx/v5"

	"netsim/events"
	"netsim/stream/lake"
)

// LakeStatus returns the status of the lake.
func (t *Tools) LakeStatus(ctx context.Context) (lake.Status, error) {
	live, err := t.live(ctx)
	if err != nil {
		return lake.Status{}, err
	}
	judged := map[events.Family][]int64{}
	for _, part := range live.Partitions { // ordered by family and partition
		of := judged[part.Family]
		for int(part.Partition) >= len(of) {
			of = append(of, 0)
		}
		of[part.Partition] = part.Next
		judged[part.Family] = of
	}
	return lake.ReadStatus(ctx, t.conn.Pool, judged)
}

// GrantLake lets a role of PostgreSQL read the lake, and creates it if it is missing.
func (t *Tools) GrantLake(ctx context.Context, role, password string) (created bool, err error) {
	return lake.Grant(ctx, t.conn.Pool, role, password)
}

// AttachLake returns the statements of DuckDB that attach the lake as a role; "" is the
// role of the settings. Secrets are left out unless they are asked for.
func (t *Tools) AttachLake(role string, secrets bool) (string, error) {
	c := t.conn.Config
	postgres, err := pgx.ParseConfig(c.Postgres)
	if err != nil {
		return "", err
	}
	a := lake.Access{Postgres: postgres, Role: role, Endpoint: c.S3Endpoint, Region: c.S3Region, Bucket: c.S3Bucket}
	if secrets {
		a.AccessKey, a.SecretKey = c.S3AccessKey, c.S3SecretKey
		if role == "" || role == postgres.User {
			a.Password = postgres.Password
		}
	}
	return lake.Attach(a), nil
}

// DropLake deletes the lake with its files.
func (t *Tools) DropLake(ctx context.Context) error {
	return lake.Drop(ctx, t.conn.Pool, t.conn.Objects, t.conn.Config.S3Bucket)
}
