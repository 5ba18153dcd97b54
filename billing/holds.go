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
	"netsim/simulator/collective"
	"netsim/simulator/presets"
)

// Holds sets credit aside for simulations, and releases it (completions 7.5).
type Holds struct {
	Commands *handle.Handler
	DB       projections.Reader
	Now      func() time.Time
	Postpaid []string // accounts that may run without credit; all others are prepaid
}

const (
	holdTTL        = 24 * time.Hour   // completions 7.5
	requestTimeout = 10 * time.Minute // within which a simulation with a hold must be requested

	releasedAtEnd     = "ended"
	releasedCancelled = "cancelled"
	releasedExpired   = "expired"
	releasedUnused    = "not requested"
	releasePage       = 1000 // holds
)

// Hold sets aside the cost of one hour of a simulation before it is requested. If
// a prepaid account has less free credit, all of it is held; if it has none, the
// error is PaymentRequired. The account's stream decides, so concurrent requests
// never hold more than the balance. The hold belongs to the request with the
// correlation id.
//
// Repeating it holds nothing more while the hold is open and not about to be
// released. Otherwise it makes a new hold.
func (h *Holds) Hold(ctx context.Context, simulation, correlationID string, d events.SimulationRequested) error {
	ranks, err := h.ranksOf(ctx, d)
	if err != nil {
		return err
	}
	use := projections.Metered{AccountID: d.AccountID, RateName: events.MeterCluster}
	now := h.Now().UTC()
	price, err := priceOn(ctx, h.DB, use, dayOf(now))
	if err != nil {
		return err
	}
	amount, currency := price.OneHour(dayOf(now), max(clusterUnits(ranks), 1))
	hold := commands.HoldCredit{
		Held: events.CreditHeld{
			SimulationID: simulation, Amount: amount, Currency: cmp.Or(currency, rating.Credit), ExpiresAt: now.Add(holdTTL),
		},
		Prepaid: !slices.Contains(h.Postpaid, d.AccountID),
	}
	for id := nextHold(simulation, nil); ; {
		result, err := onAccount(ctx, h.Commands, d.AccountID, handle.Origin{Actor: events.System, CommandID: id, CorrelationID: correlationID}, hold)
		if err != nil || !result.Repeated {
			return err
		}
		last, err := projections.LastHold(ctx, h.DB, simulation)
		if err != nil || last == nil {
			return err
		}
		if last.ReleasedAt == nil {
			if last.ExpiresAt.After(now.Add(holdTTL - requestTimeout/2)) {
				return nil
			}
			// ReleaseOverdue could release it before the request is recorded.
			if _, err := h.free(ctx, *last, releasedUnused, handle.System()); err != nil {
				return err
			}
		}
		id = nextHold(simulation, last)
	}
}

// nextHold returns the id of the command that makes the hold of a simulation after its
// last one, which was released; nil for none.
func nextHold(simulation string, last *projections.CreditHold) string {
	if last == nil {
		return "hold:" + simulation
	}
	return fmt.Sprintf("hold:%s:%d", simulation, last.ExpiresAt.UnixMilli())
}

// ranksOf returns the ranks that a simulation will have, 0 if its request does
// not say yet.
func (h *Holds) ranksOf(ctx context.Context, d events.SimulationRequested) (int64, error) {
	if d.Simple != "" {
		submission, err := presets.ParseSimple(d.Simple)
		return int64(collective.Ranks(submission.Groups)), err
	}
	if d.TracesetID == "" {
		return 0, nil
	}
	t, err := projections.FindTraceset(ctx, h.DB, d.TracesetID)
	if fault.Is(err, fault.NotFound) {
		return 0, nil
	}
	return t.RankCount, err
}

// release releases the open hold of a simulation, if it has one, because of a
// fact.
func (m *Metering) release(ctx context.Context, f events.Fact, reason string) error {
	for range maxConflicts {
		held, err := m.lookups.LastHold(ctx, f.Stream)
		if err != nil || held == nil || held.ReleasedAt != nil {
			return err
		}
		changed, err := m.Holds.free(ctx, *held, reason, handle.System().CausedBy(&f))
		if err != nil || !changed {
			return err
		}
	}
	return fmt.Errorf("release the hold of %s: it was changed %d times", f.Stream, maxConflicts)
}

// endOf returns the id of the command that ends exactly this hold: it has the hold's
// expiry, so a later hold of the same simulation stays.
func endOf(hold *projections.CreditHold) string {
	return fmt.Sprintf("release:%s:%d", hold.SimulationID, hold.ExpiresAt.UnixMilli())
}

// free releases a hold. changed reports that the hold had ended before: it was released,
// or changed to another one.
func (h *Holds) free(ctx context.Context, hold projections.CreditHold, reason string, from handle.Origin) (changed bool, err error) {
	from.CommandID = endOf(&hold)
	result, err := onAccount(ctx, h.Commands, hold.AccountID, from, commands.ReleaseCredit{Released: events.CreditReleased{
		SimulationID: hold.SimulationID, Amount: hold.Amount, Currency: hold.Currency, Reason: reason,
	}})
	return result.Repeated, err
}

// ReleaseOverdue releases holds that have expired, and holds whose simulation was
// not requested within requestTimeout, for example because the client
// disconnected.
func (h *Holds) ReleaseOverdue(ctx context.Context) error {
	for {
		now := h.Now()
		overdue, err := projections.HoldsOver(ctx, h.DB, now, now.Add(holdTTL-requestTimeout), releasePage)
		if err != nil {
			return err
		}
		for _, hold := range overdue {
			reason := releasedExpired
			if hold.ExpiresAt.After(now) {
				reason = releasedUnused
			}
			if _, err := h.free(ctx, hold, reason, handle.System()); err != nil {
				return fmt.Errorf("release the hold of %s: %w", hold.SimulationID, err)
			}
		}
		if len(overdue) < releasePage {
			return nil
		}
	}
}
