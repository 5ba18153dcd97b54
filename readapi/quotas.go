package readapi

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"netsim/commands"
	"netsim/fault"
	"netsim/internal/wait"
	"netsim/projections"
)

// Quotas are the quotas of accounts: those of the settings, where an operator
// has not set others. What an account uses is read from the read model, which
// is some milliseconds behind, and a reaction behind for stored bytes: requests
// at the same time may go beyond a limit by as many as they are.
type Quotas struct {
	DB       projections.Reader
	Defaults map[string]int64
	Changes  func() (changed <-chan struct{}, stop func()) // says that the read model has changed
	Now      func() time.Time
	Log      *slog.Logger

	set atomic.Pointer[map[string]map[string]int64] // by account and name
}

// Limit returns the limit of an account's quota.
func (q *Quotas) Limit(account, name string) int64 {
	if set := q.set.Load(); set != nil {
		if limit, ok := (*set)[account][name]; ok {
			return limit
		}
	}
	return q.Defaults[name]
}

// Load reads the quotas that operators have set.
func (q *Quotas) Load(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	set, err := projections.AccountQuotas(ctx, q.DB)
	if err == nil {
		q.set.Store(&set)
	}
	return err
}

// Run follows the quotas that operators set until ctx ends. While they cannot
// be read, those that were read last hold.
func (q *Quotas) Run(ctx context.Context) error {
	changed, stop := q.Changes()
	defer stop()
	for {
		next := lookEvery
		if err := q.Load(ctx); err != nil && ctx.Err() == nil {
			q.Log.WarnContext(ctx, "quotas cannot be read", "error", err)
			next = lookAgain
		}
		if wait.For(ctx, next) != nil {
			return nil
		}
		if next == lookAgain {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
	}
}

// AdmitRun refuses a run of the account that is beyond a quota.
func (q *Quotas) AdmitRun(ctx context.Context, account string) error {
	most, bytes := q.Limit(account, commands.QuotaRuns), q.Limit(account, commands.QuotaStorage)
	unfinished, stored, err := projections.RunsOf(ctx, q.DB, account, most)
	switch {
	case err != nil:
		return err
	case unfinished >= most:
		return fault.Exceeded(fault.Quota{Name: commands.QuotaRuns, Limit: most}, 10*time.Second,
			"the account has %d unfinished runs, and %d are its limit", unfinished, most)
	case stored >= bytes:
		return storageExceeded(stored, bytes)
	}
	return nil
}

// AdmitUpload refuses an upload of so many bytes by the account that is beyond
// a quota.
func (q *Quotas) AdmitUpload(ctx context.Context, account string, size int64) error {
	most, bytes := q.Limit(account, commands.QuotaUploads), q.Limit(account, commands.QuotaStorage)
	now := q.Now().UTC()
	midnight := now.Truncate(24 * time.Hour)
	begun, stored, err := projections.UploadsOf(ctx, q.DB, account, midnight)
	switch {
	case err != nil:
		return err
	case begun >= most:
		return fault.Exceeded(fault.Quota{Name: commands.QuotaUploads, Limit: most, Window: 24 * time.Hour}, midnight.Add(24*time.Hour).Sub(now),
			"the account has begun %d uploads today, and %d are its limit", begun, most)
	case stored+size > bytes:
		return storageExceeded(stored, bytes)
	}
	return nil
}

func storageExceeded(stored, limit int64) error {
	return fault.Exceeded(fault.Quota{Name: commands.QuotaStorage, Limit: limit, Unit: "content-bytes"}, time.Minute,
		"the account stores %d bytes, and %d are its limit; delete some", stored, limit)
}
