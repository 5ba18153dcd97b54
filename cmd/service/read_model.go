package service

import (
	"context"
	"errors"
	"time"

	"netsim/cmd/settings"
	"netsim/infra/projector"
)

// The phases of a process.
const (
	starting int32 = iota
	waiting        // waits until a projector has created the read model
	serving
	ending
)

// openReadModel creates the tables of the read model in a process with the role
// projector. Other processes wait until they exist.
//
// While the live read model is of another release, and one of this release is beside it,
// the process waits for the promotion of that. Without one it is refused.
func (s *process) openReadModel(ctx context.Context) error {
	if s.config.Has(settings.RoleProjector) && s.config.Migrate {
		if err := s.projector.Create(ctx); !errors.Is(err, projector.ErrOtherSchema) {
			return err
		}
	}
	s.phase.Store(waiting)
	defer s.phase.Store(starting)
	poll, remind := time.NewTicker(200*time.Millisecond), time.NewTicker(30*time.Second)
	defer poll.Stop()
	defer remind.Stop()
	for logged := false; ; {
		exists, err := s.projector.Exists(ctx)
		reason := "the read model is missing: waiting for a process with the role projector to create it"
		switch {
		case errors.Is(err, projector.ErrOtherSchema):
			beside, failed := s.projector.Beside(ctx)
			if failed == nil && !beside {
				_, err = s.projector.Exists(ctx) // it may have been promoted meanwhile
			}
			if failed != nil || !beside {
				return errors.Join(err, failed)
			}
			reason = "the live read model is of another release: waiting for the promotion of the one of this release"
		case exists:
			return err
		}
		if !logged {
			logged = true
			s.log.WarnContext(ctx, reason, "error", err)
		}
		select {
		case <-poll.C:
		case <-remind.C:
			logged = false
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
