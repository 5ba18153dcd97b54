package reactions

import (
	"context"
	"fmt"
	"slices"
	"time"

	"netsim/commands"
	"netsim/events"
	"netsim/fault"
	"netsim/projections"
	"netsim/rating"
	"netsim/simulator/blueprint"
	"netsim/simulator/collective"
)

const (
	holdLife = 24 * time.Hour // completions 7.5

	// creditCurrency is what the gate looks at: the platform's own credit.
	creditCurrency = "CREDIT"

	releasedAtEnd   = "ended"
	releasedExpired = "expired"
	expiredPage     = 1000
)

// Gate refuses with PaymentRequired when a prepaid account has no credit that
// is not held. It reads the view: of two requests within milliseconds both may
// pass (completions 7.5).
func (b *Billing) Gate(ctx context.Context, account string) error {
	if slices.Contains(b.Postpaid, account) {
		return nil
	}
	has, err := projections.HasCredit(ctx, b.DB, account, creditCurrency, b.Now())
	if err != nil {
		return err
	}
	if !has {
		return fault.New(fault.PaymentRequired, "the credit of account %s is exhausted", account)
	}
	return nil
}

// hold sets aside what a simulation costs in an hour. Nothing is held when
// there is no price.
func (b *Billing) hold(ctx context.Context, f events.Fact, d events.SimulationRequested) error {
	ranks, err := b.ranksOf(ctx, d)
	if err != nil {
		return err
	}
	use := projections.Metered{AccountID: d.AccountID, RateName: meterCluster}
	list, err := projections.RatesOf(ctx, b.DB, use)
	if err != nil {
		return err
	}
	day := dayOf(f.Time)
	price, err := rating.PriceOn(day, use.AccountID, use.RateName, list)
	if err != nil {
		return err
	}
	amount, currency := price.OneHour(day, max(clusterUnits(ranks), 1))
	if amount == "0" {
		return nil
	}
	from := causedBy(f)
	from.CommandID = "hold:" + f.Stream
	return b.run(ctx, d.AccountID, from, commands.HoldCredit{Held: events.CreditHeld{
		SimulationID: f.Stream, Amount: amount, Currency: currency, ExpiresAt: f.Time.Add(holdLife),
	}})
}

// ranksOf returns how many ranks a simulation is going to have, as far as its
// request tells; 0 where that is not known yet.
func (b *Billing) ranksOf(ctx context.Context, d events.SimulationRequested) (int64, error) {
	if d.Simple != "" {
		submission, err := blueprint.ParseSimple(d.Simple)
		return int64(collective.Ranks(submission.Groups)), err
	}
	if d.TracesetID == "" {
		return 0, nil
	}
	t, err := projections.TracesetByID(ctx, b.DB, d.TracesetID)
	if err != nil || t == nil {
		return 0, err
	}
	return t.RankCount, nil
}

// release frees what is held for a simulation, if anything is.
func (b *Billing) release(ctx context.Context, simulation, reason string, from commands.Origin) error {
	held, err := projections.OpenHold(ctx, b.DB, simulation)
	if err != nil || held == nil {
		return err
	}
	from.CommandID = "release:" + simulation
	return b.run(ctx, held.AccountID, from, commands.ReleaseCredit{Released: events.CreditReleased{
		SimulationID: simulation, Amount: held.Amount, Currency: held.Currency, Reason: reason,
	}})
}

// ReleaseExpired frees the holds whose 24 hours are over. The gate does not
// count them any more; this tells the log.
func (b *Billing) ReleaseExpired(ctx context.Context) error {
	for {
		expired, err := projections.ExpiredHolds(ctx, b.DB, b.Now(), expiredPage)
		if err != nil {
			return err
		}
		for _, h := range expired {
			if err := b.release(ctx, h.SimulationID, releasedExpired, commands.Origin{Actor: systemActor}); err != nil {
				return fmt.Errorf("release what is held for %s: %w", h.SimulationID, err)
			}
		}
		if len(expired) < expiredPage {
			return nil
		}
	}
}
