package service

import (
	"context"
	"errors"
	"io"
	"time"

	"netsim/audit"
	"netsim/commands"
	"netsim/events"
	"netsim/fault"
)

const (
	bundleBytes = 16 << 20 // of the log that a bundle holds at a time, over all partitions
	bundleCosts = 100_000  // of a bundle; each takes some 300 bytes of memory
)

// openBundle implements readapi.OpenBundle: it is what netsim audit bundle does.
func (s *process) openBundle(ctx context.Context, account, from, to string, preliminary bool) (func(context.Context, io.Writer) error, error) {
	if s.auditKey == nil {
		return nil, fault.New(fault.Unavailable, "the service has no audit key: it signs no checkpoints and seals no bundles")
	}
	log, err := s.AuditLog(ctx)
	if err != nil {
		return nil, bundleFault(ctx, err)
	}
	for _, t := range log.Topics {
		if t.Family == events.Billing {
			log.ReadBytes = max(bundleBytes/max(len(t.Ends), 1), 64<<10)
		}
	}
	b, err := audit.OpenBundle(ctx, log, audit.Request{
		Account: account, From: from, To: to, Platform: commands.PlatformStream(s.config.Platform),
		Preliminary: preliminary, MostCosts: bundleCosts,
	}, s.auditKey)
	if err != nil {
		return nil, bundleFault(ctx, err)
	}
	return func(ctx context.Context, out io.Writer) error { return b.Write(ctx, out) }, nil
}

// bundleFault returns the fault that a client sees if no bundle can be written. A log that
// is not what its checkpoints have seen is an internal error.
func bundleFault(ctx context.Context, err error) error {
	refused := func(code fault.Code, message string) error {
		return &fault.Fault{Code: code, Message: message, Cause: err}
	}
	switch {
	case ctx.Err() != nil, errors.Is(err, audit.ErrDiffers):
		return err
	case errors.Is(err, audit.ErrNotCovered):
		return refused(fault.Conflict, "no checkpoint of the log has been made since the period ended: one is made every night after midnight UTC, and preliminary=true accepts one of the last day")
	case errors.Is(err, audit.ErrNoEvents):
		return refused(fault.Conflict, "the account had no billing event before the last checkpoint of the log")
	case errors.Is(err, audit.ErrTooManyCosts):
		return refused(fault.Unprocessable, "the period has too many costs for one bundle; ask for fewer days")
	case errors.Is(err, audit.ErrOtherKey):
		return refused(fault.Unavailable, "the audit key of the service was succeeded by another one, which can seal the bundle")
	}
	return &fault.Fault{Code: fault.Unavailable, Message: "the log cannot be read at the moment", RetryAfter: 5 * time.Second, Cause: err}
}
