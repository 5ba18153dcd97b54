package readapi

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"netsim/commands"
	"netsim/fault"
	"netsim/infra/wait"
	"netsim/projections"
)

// Quotas are the quotas of accounts: those that an operator has set, and the
// configured defaults for the rest. The usage of an account comes from the read
// model, which lags by milliseconds. Stored bytes also lag by the reaction that
// meters them. Concurrent requests may therefore exceed a limit by their number.
type Quotas struct {
	DB       projections.Reader
	Defaults map[string]int64
	Changes  func() (changed <-chan struct{}, stop func()) // notifies that the read model has changed
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
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	set, err := projections.AccountQuotas(ctx, q.DB)
	if err == nil {
		q.set.Store(&set)
	}
	return err
}

// Run reads the quotas whenever operators change them, until ctx ends. If they
// cannot be read, the previous ones still apply.
func (q *Quotas) Run(ctx context.Context) error {
	changed, stop := q.Changes()
	defer stop()
	for {
		next := pollInterval
		if err := q.Load(ctx); err != nil && ctx.Err() == nil {
			q.Log.WarnContext(ctx, "quotas cannot be read", "error", err)
			next = pollRetry
		}
		if wait.For(ctx, next) != nil {
			return nil
		}
		if next == pollRetry {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
	}
}

// AdmitRun returns RateLimited if another run would exceed a quota of the
// account.
func (q *Quotas) AdmitRun(ctx context.Context, account string) error {
	most, bytes := q.Limit(account, commands.QuotaRuns), q.Limit(account, commands.QuotaStorage)
	unfinished, stored, err := projections.RunsOf(ctx, q.DB, account, most)
	switch {
	case err != nil:
		return err
	case unfinished >= most:
		return fault.Exceeded(fault.Quota{Name: commands.QuotaRuns, Limit: most}, 10*time.Second,
			"the account has %d unfinished runs; its limit is %d", unfinished, most)
	case stored >= bytes:
		return storageExceeded(stored, bytes)
	}
	return nil
}

// Room returns how many more runs the quotas of an account admit.
func (q *Quotas) Room(ctx context.Context, account string) (int64, error) {
	most, bytes := q.Limit(account, commands.QuotaRuns), q.Limit(account, commands.QuotaStorage)
	unfinished, stored, err := projections.RunsOf(ctx, q.DB, account, most)
	if err != nil || stored >= bytes {
		return 0, err
	}
	return most - unfinished, nil
}

// AdmitStudy returns RateLimited if another study would exceed a quota of the account,
// and if no run is admitted.
func (q *Quotas) AdmitStudy(ctx context.Context, account string) error {
	most := q.Limit(account, commands.QuotaStudies)
	running, err := projections.RunningStudies(ctx, q.DB, account, most)
	switch {
	case err != nil:
		return err
	case running >= most:
		return fault.Exceeded(fault.Quota{Name: commands.QuotaStudies, Limit: most}, 10*time.Second,
			"the account has %d running studies; its limit is %d", running, most)
	}
	return q.AdmitRun(ctx, account)
}

// AdmitUpload returns RateLimited if an upload of that size, in bytes, would
// exceed a quota of the account.
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
			"the account has begun %d uploads today; its limit is %d", begun, most)
	case stored+size > bytes:
		return storageExceeded(stored, bytes)
	}
	return nil
}

func storageExceeded(stored, limit int64) error {
	return fault.Exceeded(fault.Quota{Name: commands.QuotaStorage, Limit: limit, Unit: "content-bytes"}, time.Minute,
		"the account stores %d bytes; its limit is %d; delete stored data", stored, limit)
}
