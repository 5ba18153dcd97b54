package audit

import (
	"fmt"
	"time"

	"netsim/events"
	"netsim/rating"
)

// books are what the facts of billing tell, in memory: every billing event,
// every current cost. An account's facts come in the order of its stream.
type books struct {
	rates    []events.RateSet // the price list; a later row of an id replaces the earlier
	rateAt   map[int64]int    // by rate id
	accounts map[string]*account
	prices   map[priceKey]rating.Price
	findings []Finding
	facts    int64 // of billing
}

type priceKey struct {
	account, rateName string
	day               int64
}

// account is what an account's stream tells.
type account struct {
	id      string
	items   map[int64]*item
	names   map[string][]*item // by rate name, in the order of the log
	units   map[string]int64   // as the last event of a rate name says
	costs   map[place]*cost    // current rows
	byID    map[int64]*cost    // those, and superseded ones that a correction may name
	fixes   []*cost            // corrections
	credits map[string]*credit // by currency
	holds   map[string]*hold   // by simulation
}

// place is what a row of the daily costs is about.
type place struct {
	item, rate int64
	date       string
}

// usage is a billing event at its place.
type usage struct {
	*events.UsageRecorded
	sequence int64
	recorded time.Time
	hash     events.Hash
	previous events.Hash
	cause    string
}

type item struct {
	id    int64
	usage []usage
	ended time.Time // of a stop; zero while active
}

func (i *item) opened() *events.UsageRecorded { return i.usage[0].UsageRecorded }

// cost is a daily cost, or a correction of one.
type cost struct {
	*events.DailyCostRated
	at       Where
	sequence int64
	ratedAt  time.Time
	fixes    []*cost
	judged   bool
}

type credit struct {
	granted, debited rating.Sum
	at               time.Time
}

type hold struct {
	held     events.CreditHeld
	released time.Time // zero while open
}

func newBooks() *books {
	return &books{rateAt: map[int64]int{}, accounts: map[string]*account{}, prices: map[priceKey]rating.Price{}}
}

func (b *books) find(at Where, format string, args ...any) {
	b.findings = append(b.findings, Finding{at, fmt.Sprintf(format, args...)})
}

// tell folds one fact of billing.
func (b *books) tell(f *Fact) error {
	b.facts++
	data, err := decode(f.Type, f.Value)
	if err != nil {
		b.find(f.Where, "the event cannot be read: %v", err)
		return nil
	}
	switch d := data.(type) {
	case *events.UsageRecorded:
		b.account(f.Stream).use(b, f, d)
	case *events.DailyCostRated:
		b.account(f.Stream).charge(b, f, d)
	case events.CreditGranted:
		c := b.account(f.Stream).credit(d.Currency)
		if err := c.granted.Add(d.Amount); err != nil {
			b.find(f.Where, "the amount of a grant: %v", err)
		}
		c.at = latest(c.at, f.Time)
	case events.CreditHeld:
		b.account(f.Stream).holds[d.SimulationID] = &hold{held: d}
	case events.CreditReleased:
		h := b.account(f.Stream).holds[d.SimulationID]
		if h == nil {
			b.find(f.Where, "credit is released that is not held for %s", d.SimulationID)
			return nil
		}
		h.released = f.Time
	case events.RateSet:
		if at, known := b.rateAt[d.RateID]; known {
			b.rates[at] = d
		} else {
			b.rateAt[d.RateID] = len(b.rates)
			b.rates = append(b.rates, d)
		}
	}
	return nil
}

func (b *books) account(id string) *account {
	a := b.accounts[id]
	if a == nil {
		a = &account{
			id: id, items: map[int64]*item{}, names: map[string][]*item{}, units: map[string]int64{},
			costs: map[place]*cost{}, byID: map[int64]*cost{}, credits: map[string]*credit{},
			holds: map[string]*hold{},
		}
		b.accounts[id] = a
	}
	return a
}

func (a *account) credit(currency string) *credit {
	c := a.credits[currency]
	if c == nil {
		c = &credit{}
		a.credits[currency] = c
	}
	return c
}

// use takes down a billing event.
func (a *account) use(b *books, f *Fact, u *events.UsageRecorded) {
	if want := a.units[u.RateName] + u.CurrentCount - u.PreviousCount; u.BillableCount != want {
		b.find(f.Where, "billing event %d says that %d units of %s are active, the events before it make %d",
			u.BillingEventID, u.BillableCount, u.RateName, want)
	}
	a.units[u.RateName] = u.BillableCount
	i := a.items[u.BillingItemID]
	if i == nil {
		i = &item{id: u.BillingItemID}
		a.items[u.BillingItemID] = i
		a.names[u.RateName] = append(a.names[u.RateName], i)
	}
	if u.Action == "stop" && i.ended.IsZero() {
		i.ended = u.OccurredAt
	}
	i.usage = append(i.usage, usage{u, f.Sequence, f.RecordedAt, f.Hash, f.PreviousHash, f.CauseID})
}

// charge takes down a daily cost: the first version of its row, the next one,
// or a correction.
func (a *account) charge(b *books, f *Fact, d *events.DailyCostRated) {
	c := &cost{DailyCostRated: d, at: f.Where, sequence: f.Sequence, ratedAt: f.Time}
	if d.CorrectionOf != 0 {
		of := a.byID[d.CorrectionOf]
		if of == nil {
			b.find(f.Where, "daily cost %d corrects %d, which is not there", d.DailyCostID, d.CorrectionOf)
			return
		}
		of.fixes = append(of.fixes, c)
		a.fixes = append(a.fixes, c)
		return
	}
	at := place{d.BillingItemID, d.RateID, d.Date}
	if before := a.costs[at]; before != nil {
		if d.Version != before.Version+1 || d.Supersedes != before.DailyCostID {
			b.find(f.Where, "daily cost %d is version %d and supersedes %d; the one before it is %d, version %d",
				d.DailyCostID, d.Version, d.Supersedes, before.DailyCostID, before.Version)
		}
		if d.PreviousCost != "" && !rating.Equal(d.PreviousCost, before.Cost) {
			b.find(f.Where, "daily cost %d supersedes a cost of %s, and says %s", d.DailyCostID, before.Cost, d.PreviousCost)
		}
		c.ratedAt = latest(c.ratedAt, before.ratedAt)
	} else if d.Version > 1 {
		b.find(f.Where, "daily cost %d is version %d of a row that is not there", d.DailyCostID, d.Version)
	}
	a.costs[at], a.byID[d.DailyCostID] = c, c
	credit := a.credit(d.Currency)
	credit.at = latest(credit.at, c.ratedAt)
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
