package billing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"netsim/commands/handle"
	"netsim/projections"
)

const (
	accrualDays    = 31 // how far back the accrual goes when no earlier one is known
	accrualBatches = 8  // batches that are booked at the same time
)

// AccrueDay books what every item that was active on a UTC day costs for that
// day. The day must be over. Days that earlier accruals missed are booked first.
//
// It may be repeated, and run for days in any order: a cost that is booked with
// the same result is left as it is.
func (b *Books) AccrueDay(ctx context.Context, date time.Time) error {
	day := dayOf(date)
	if b.Now().Before(day.AddDate(0, 0, 1)) {
		return fmt.Errorf("accrue %s: the day is not over", day.Format(time.DateOnly))
	}
	missed, err := b.firstMissed(ctx, day)
	if err != nil {
		return err
	}
	for ; !missed.After(day); missed = missed.AddDate(0, 0, 1) {
		if err := b.accrue(ctx, missed); err != nil {
			return err
		}
	}
	return noteAccrued(ctx, b.DB, day)
}

// firstMissed returns the first day that is not accrued, at the latest this one. If
// no accrual is known it is the day of the first item, at most accrualDays before
// this one.
func (b *Books) firstMissed(ctx context.Context, day time.Time) (missed time.Time, err error) {
	through, err := AccruedThrough(ctx, b.DB)
	if err != nil {
		return missed, err
	}
	missed = through.AddDate(0, 0, 1)
	if through.IsZero() {
		start, err := projections.FirstStart(ctx, b.DB)
		if err != nil {
			return missed, err
		}
		if missed = day.AddDate(0, 0, -accrualDays); missed.Before(start) {
			missed = dayOf(start)
		}
	}
	if missed.After(day) {
		missed = day
	}
	return missed, nil
}

// accrue books a day for all items. Batches of all accounts are booked at the
// same time, so that the log and the read model are both busy.
func (b *Books) accrue(ctx context.Context, day time.Time) error {
	uses, err := projections.MeteredBetween(ctx, b.DB, day, day.AddDate(0, 0, 1))
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(accrualBatches)
	for _, use := range uses {
		if err := b.accrueUse(ctx, group, use, day); err != nil {
			return errors.Join(err, group.Wait())
		}
	}
	return group.Wait()
}

func (b *Books) accrueUse(ctx context.Context, group *errgroup.Group, use projections.Metered, day time.Time) error {
	items, err := projections.ItemsBetween(ctx, b.DB, use, day, day.AddDate(0, 0, 1))
	if err != nil {
		return err
	}
	batches, err := b.batches(ctx, use, day, items, handle.System())
	for _, batch := range batches {
		group.Go(func() error {
			if err := b.book(ctx, batch); err != nil {
				return fmt.Errorf("accrue %s of %s on %s: %w", use.RateName, use.AccountID, day.Format(time.DateOnly), err)
			}
			return nil
		})
	}
	return err
}

// AccruedThrough returns the last day that is accrued, the zero time if none is
// known. Like the counters it is not part of the read model; if it is lost,
// accruals are repeated, which changes nothing.
func AccruedThrough(ctx context.Context, db projections.Reader) (day time.Time, err error) {
	var through *time.Time
	if err := db.QueryRow(ctx, `SELECT max(through) FROM accrual`).Scan(&through); err != nil {
		return day, fmt.Errorf("find the last accrual: %w", err)
	}
	if through != nil {
		day = through.UTC()
	}
	return day, nil
}

// noteAccrued records that the day and all days before it are accrued.
func noteAccrued(ctx context.Context, db projections.Reader, day time.Time) error {
	var through time.Time
	err := db.QueryRow(ctx, `
		INSERT INTO accrual AS a (through) VALUES ($1)
		ON CONFLICT (one) DO UPDATE SET through = greatest(a.through, excluded.through) RETURNING through`, day).Scan(&through)
	if err != nil {
		return fmt.Errorf("record the accrual of %s: %w", day.Format(time.DateOnly), err)
	}
	return nil
}
