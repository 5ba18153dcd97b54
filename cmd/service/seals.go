package service

import (
	"context"
	"fmt"

	"netsim/cmd/connections"
	"netsim/events"
	"netsim/infra/health"
	"netsim/infra/projector"
)

// beginSeals demands seals in a new log before the first record is written, and
// continues an interrupted first start. In a log that is older than seals, the operator
// demands them (netsim log seal) once all processes write seals. In development
// beginSeals demands them in such a log, too.
func (s *process) beginSeals(ctx context.Context, w *connections.Writer) error {
	if s.Keys == nil {
		return nil
	}
	log, err := s.EventLog.Describe(ctx)
	if err != nil {
		return err
	}
	sealed, all, err := s.countSealed(ctx)
	if err != nil || sealed == all || sealed == 0 && !log.Empty() && !s.config.Development {
		return err
	}
	_, err = w.Seal(ctx)
	return err
}

// countSealed returns how many partitions demand seals, and how many there are.
func (s *process) countSealed(ctx context.Context) (sealed, all int, err error) {
	sealings, err := projector.Sealings(ctx, s.verified)
	for _, demanded := range sealings {
		if len(demanded) > 0 {
			sealed++
		}
	}
	return sealed, len(sealings), err
}

// probeSeals warns while records without a seal are facts, and after a record
// was judged forged.
func (s *process) probeSeals(ctx context.Context) health.State {
	sealed, all, err := s.countSealed(ctx)
	if err != nil {
		return health.Failed(err)
	}
	switch forged := s.forged(); {
	case sealed < all && s.Keys == nil:
		return health.State{Message: "there is no writer key: any client of the event log can write to it"}
	case sealed < all:
		return health.State{Message: fmt.Sprintf("%d of %d partitions accept records without a seal: netsim log seal ends that", all-sealed, all)}
	case forged > 0:
		return health.State{Message: fmt.Sprintf("%d forged records came since the start", forged)}
	}
	return health.State{}
}

// forged returns how many records this process has judged forged.
func (s *process) forged() int64 { return s.projector.Report().Verdicts[events.Forged] }
