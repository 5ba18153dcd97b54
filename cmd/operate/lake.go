package operate

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"netsim/stream/lake"
)

// GrantLake lets a role of PostgreSQL read the lake, and creates it if it is missing.
func (t *Tools) GrantLake(ctx context.Context, role, password string) (created bool, err error) {
	return lake.Grant(ctx, t.conn.Pool, role, password)
}

// AttachLake returns the statements of DuckDB that attach the lake as a role; "" is the
// role of the settings. With the password of the role they have the keys of the object store
// too, else places for both. The password of the settings is the service's, and not printed.
func (t *Tools) AttachLake(role, password string) (string, error) {
	c := t.conn.Config
	postgres, err := pgx.ParseConfig(c.Postgres)
	if err != nil {
		return "", err
	}
	a := lake.Access{Postgres: postgres, Role: role, Password: password, Endpoint: c.S3Endpoint, Region: c.S3Region, Bucket: c.S3Bucket}
	switch {
	case password != "" && password == postgres.Password:
		return "", errors.New("the password is the service's, which can write: give the reader a role and a password of its own")
	case password != "":
		a.AccessKey, a.SecretKey = c.S3AccessKey, c.S3SecretKey
	}
	return lake.Attach(a), nil
}

// DropLake deletes the lake with its files.
func (t *Tools) DropLake(ctx context.Context) error {
	return lake.Drop(ctx, t.conn.Pool, t.conn.Objects, t.conn.Config.S3Bucket)
}
