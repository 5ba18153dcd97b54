package service

import (
	"context"

	"netsim/content/traces"
	"netsim/projections"
	"netsim/simulator/chakra"
)

// inspect reads the traces of a traceset.
func (s *core) inspect(ctx context.Context, t *projections.Traceset) (*chakra.Report, error) {
	workload, err := traces.Open(ctx, s.objects, t)
	if err != nil {
		return nil, err
	}
	return chakra.Inspect(workload.Files, workload.Groups, chakra.Limits{})
}
