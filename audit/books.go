package audit

import (
	"fmt"
	"time"

	"netsim/events"
	"netsim/rating"
)

// books holds the folded facts of billing in memory: all billing events and all
// current costs. The facts of an account are folded in the order of its stream.
type books struct {
	rates    []events.RateSet // the price list; a later row with the same id replaces the earlier
	rateAt   map[int64]int    // index in rates, by rate id
	spare    []cost           // allocated ahead, many at a time
	readers  readers
	accounts map[string]*account
	prices   map[priceKey]rating.Price
	findings []Finding
	facts    int64 // number of billing facts
	closed   bool  // accounts were rated and dropped
}

type priceKey struct {
	account, rateName string
	day               int64
}

// account is the folded stream of an account.
type account struct {
	id      string
	items   map[int64]*item
	names   map[string][]*item // by rate name, in the order of the log
	units   map[string]int64   // active units by rate name, after the last event
	byID    map[int64]*cost    // rows by daily cost id; filled at the first correction
	fixes   []*cost            // corrections
	credits map[string]*credit // by currency
	holds   map[string]*hold   // by simulation
}

// item is a billing item, its events and its costs.
type item struct {
	id    int64
	usage []events.UsageRecorded
	at    []usageAt // the positions of the events in usage
	ended time.Time // when it stopped; zero while active
	costs []*cost   // the current rows, in the order of the log
	mixed bool      // costs are not in the order of their dates

	looked int // index of the row that cost returned last
}

// usageAt is the position of a billing event.
type usageAt struct {
	sequence int64
	recorded time.Time
	hash     events.Hash
	previous events.Hash
	cause    string
}

func (i *item) opened() *events.UsageRecorded { return &i.usage[0] }

// cost is a daily cost, or a correction of one.
type cost struct {
	events.DailyCostRated
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
	released time.Time // zero while held
}

func newBooks() *books {
	return &books{rateAt: map[int64]int{}, accounts: map[string]*account{}, prices: map[priceKey]rating.Price{}}
}

func (b *books) find(at Where, format string, args ...any) {
	b.findings = append(b.findings, Finding{at, fmt.Sprintf(format, args...)})
}

// fold folds one fact of billing.
func (b *books) fold(f *Fact) error {
	b.facts++
	if f.PartitionKey != f.Stream {
		b.find(f.Where, "the event is in the partition of %s: netsim writes each billing stream to the stream's own partition", f.PartitionKey)
	}
	if f.Type == costType {
		c := b.newCost()
		if err := b.readers.decodeCost(f.Value, &c.DailyCostRated); err != nil {
			b.find(f.Where, "the event cannot be read: %v", err)
			return nil
		}
		c.at, c.sequence, c.ratedAt = f.Where, f.Sequence, f.Time
		b.account(f.Stream).charge(b, c)
		return nil
	}
	data, err := b.readers.decode(f.Type, f.Value)
	if err != nil {
		b.find(f.Where, "the event cannot be read: %v", err)
		return nil
	}
	switch d := data.(type) {
	case *events.UsageRecorded:
		b.account(f.Stream).use(b, f, d)
	case events.CreditGranted:
		c := b.account(f.Stream).credit(d.Currency)
		if err := c.granted.Add(d.Amount); err != nil {
			b.find(f.Where, "the amount of a grant: %v", err)
		}
		c.at = latest(c.at, f.Time)
	case events.CreditHeld:
		b.account(f.Stream).holds[d.SimulationID] = &hold{held: d}
	case events.CreditHoldChanged:
		h := b.account(f.Stream).holds[d.SimulationID]
		if h == nil {
			b.find(f.Where, "the hold changed for %s was never made", d.SimulationID)
			return nil
		}
		h.held.Amount, h.held.ExpiresAt = d.Amount, d.ExpiresAt
	case events.CreditReleased:
		h := b.account(f.Stream).holds[d.SimulationID]
		if h == nil {
			b.find(f.Where, "the credit released for %s was never held", d.SimulationID)
			return nil
		}
		h.released = f.Time
	case events.RateSet:
		if b.closed {
			b.find(f.Where, "a rate is not in the platform's stream: accounts were rated without it")
		}
		if at, known := b.rateAt[d.RateID]; known {
			b.rates[at] = d
		} else {
			b.rateAt[d.RateID] = len(b.rates)
			b.rates = append(b.rates, d)
		}
	}
	return nil
}

// forget drops all accounts once they have been rated.
func (b *books) forget() {
	b.accounts, b.spare, b.closed = map[string]*account{}, nil, true
}

// newCost returns an empty cost.
func (b *books) newCost() *cost {
	if len(b.spare) == 0 {
		b.spare = make([]cost, 256)
	}
	c := &b.spare[0]
	b.spare = b.spare[1:]
	return c
}

func (b *books) account(id string) *account {
	a := b.accounts[id]
	if a == nil {
		a = &account{
			id: id, items: map[int64]*item{}, names: map[string][]*item{}, units: map[string]int64{},
			credits: map[string]*credit{}, holds: map[string]*hold{},
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

// use records a billing event.
func (a *account) use(b *books, f *Fact, u *events.UsageRecorded) {
	if want := a.units[u.RateName] + u.CurrentCount - u.PreviousCount; u.BillableCount != want {
		b.find(f.Where, "billing event %d says that %d units of %s are active; by the events before it, %d are",
			u.BillingEventID, u.BillableCount, u.RateName, want)
	}
	a.units[u.RateName] = u.BillableCount
	i := a.item(u.BillingItemID)
	if len(i.usage) == 0 {
		i.usage, i.at = make([]events.UsageRecorded, 0, 2), make([]usageAt, 0, 2)
		a.names[u.RateName] = append(a.names[u.RateName], i)
	}
	if u.Action == "stop" && i.ended.IsZero() {
		i.ended = u.OccurredAt
	}
	i.usage = append(i.usage, *u)
	i.at = append(i.at, usageAt{f.Sequence, f.RecordedAt, f.Hash, f.PreviousHash, f.CauseID})
}

func (a *account) item(id int64) *item {
	i := a.items[id]
	if i == nil {
		i = &item{id: id}
		a.items[id] = i
	}
	return i
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
