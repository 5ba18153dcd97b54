package operate

import (
	"context"
	"errors"

	"netsim/audit"
	"netsim/cmd/connections"
	"netsim/stream/lake"
)

// Lake compares the lake with the facts of the log.
func (a *Auditor) Lake(ctx context.Context) (audit.LakeReport, error) {
	c := a.config.Config()
	switch {
	case a.pool == nil:
		return audit.LakeReport{}, errors.New("NETSIM_POSTGRES is not set: the catalogue of the lake is in PostgreSQL")
	case c.S3Endpoint == "":
		return audit.LakeReport{}, errors.New("NETSIM_S3_ENDPOINT is not set: the files of the lake are in the object store")
	}
	contents, err := lake.OpenContents(ctx, a.pool, connections.Objects(&c, connections.Observer{}), c.S3Bucket)
	if err != nil {
		return audit.LakeReport{}, err
	}
	log, err := a.log(ctx)
	if err != nil {
		return audit.LakeReport{}, err
	}
	return audit.CompareLake(ctx, log, contents)
}
