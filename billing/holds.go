package billing

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/fault"
	"netsim/projections"
	"netsim/rating"
	"netsim/simulator/blueprint"
	"netsim/simulator/collective"
)

const (
	holdLife     = 24 * time.Hour   // completions 7.5
	holdPatience = 10 * time.Minute // far beyond the time between a hold and its request

	// creditCurrency is that of what has no price: the platform's own credit.
	creditCurrency = "CREDIT"

	releasedAtEnd     = "ended"
	releasedCancelled = "cancelled"
	releasedExpired   = "expired"
	releasedUnused    = "not requested"
	releasedPage      = 1000
)

// Hold sets aside what a simulation costs in an hour, before it is requested.
// It refuses with PaymentRequired when a prepaid account has not that much, or
// nothing, that is neither spent nor held. The account's stream decides, so
// requests that race never hold more than there is. Repeating it holds nothing
// more, unless what was held has been released since, or is about to be: then
// it is decided anew.
func (b *Books) Hold(ctx context.Context, simulation string, d events.SimulationRequested) error {
	ranks, err := b.ranksOf(ctx, d)
	if err != nil {
		return err
	}
	use := projections.Metered{AccountID: d.AccountID, RateName: meterCluster}
	list, err := projections.RatesOf(ctx, b.DB, use)
	if err != nil {
		return err
	}
	now := b.Now().UTC()
	price, err := rating.PriceOn(dayOf(now), use.AccountID, use.RateName, list)
	if err != nil {
		return err
	}
	amount, currency := price.OneHour(dayOf(now), max(clusterUnits(ranks), 1))
	hold := commands.HoldCredit{
		Held: events.CreditHeld{
			SimulationID: simulation, Amount: amount, Currency: cmp.Or(currency, creditCurrency), ExpiresAt: now.Add(holdLife),
		},
		Prepaid: !slices.Contains(b.Postpaid, d.AccountID),
	}
	to := handle.Target{Stream: d.AccountID, PartitionKey: d.AccountID}
	for id := "hold:" + simulation; ; {
		result, err := handle.Command(ctx, b.Commands, to, handle.Origin{Actor: events.System, CommandID: id}, hold)
		if err != nil || !result.Repeated {
			return err
		}
		last, err := projections.LastHold(ctx, b.DB, simulation)
		if err != nil || last == nil {
			return err
		}
		if last.ReleasedAt == nil {
			if last.ExpiresAt.After(now.Add(holdLife - holdPatience/2)) {
				return nil
			}
			// It may be released as unused before the request is there.
			if err := b.free(ctx, *last, releasedUnused, handle.Origin{Actor: events.System}); err != nil {
				return err
			}
		}
		id = fmt.Sprintf("hold:%s:%d", simulation, last.ExpiresAt.UnixMilli()) // the one after that
	}
}

// ranksOf returns how many ranks a simulation is going to have, as far as its
// request tells; 0 where that is not known yet.
func (b *Books) ranksOf(ctx context.Context, d events.SimulationRequested) (int64, error) {
	if d.Simple != "" {
		submission, err := blueprint.ParseSimple(d.Simple)
		return int64(collective.Ranks(submission.Groups)), err
	}
	if d.TracesetID == "" {
		return 0, nil
	}
	t, err := projections.FindTraceset(ctx, b.DB, d.TracesetID)
	if fault.Is(err, fault.NotFound) {
		return 0, nil
	}
	return t.RankCount, err
}

// release frees what is held for a simulation, if anything is.
func (b *Books) release(ctx context.Context, simulation, reason string, from handle.Origin) error {
	held, err := projections.LastHold(ctx, b.DB, simulation)
	if err != nil || held == nil || held.ReleasedAt != nil {
		return err
	}
	return b.free(ctx, *held, reason, from)
}

// free releases one hold, which is not the simulation's next one.
func (b *Books) free(ctx context.Context, h projections.CreditHold, reason string, from handle.Origin) error {
	from.CommandID = fmt.Sprintf("release:%s:%d", h.SimulationID, h.ExpiresAt.UnixMilli())
	return b.run(ctx, h.AccountID, from, commands.ReleaseCredit{Released: events.CreditReleased{
		SimulationID: h.SimulationID, Amount: h.Amount, Currency: h.Currency, Reason: reason,
	}})
}

// ReleaseHolds frees what is held too long: for 24 hours, or for some minutes
// while the simulation has not been requested, because whoever wanted to went
// away in between.
func (b *Books) ReleaseHolds(ctx context.Context) error {
	for {
		now := b.Now()
		over, err := projections.HoldsOver(ctx, b.DB, now, now.Add(holdLife-holdPatience), releasedPage)
		if err != nil {
			return err
		}
		for _, h := range over {
			reason := releasedExpired
			if h.ExpiresAt.After(now) {
				reason = releasedUnused
			}
			if err := b.free(ctx, h, reason, handle.Origin{Actor: events.System}); err != nil {
				return fmt.Errorf("release what is held for %s: %w", h.SimulationID, err)
			}
		}
		if len(over) < releasedPage {
			return nil
		}
	}
}
