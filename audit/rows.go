package audit

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"netsim/events"
	"netsim/rating"
)

// Table is a table of the read model that follows from the facts of billing.
type Table struct {
	Name    string
	Columns []Column
	Keys    int // how many of the first columns form the row's key
}

// Column is a column whose values are compared as text: a time as
// 2006-01-02T15:04:05.000000Z, null as "".
type Column struct {
	Name string
	Time bool
}

// Tables lists the tables that are compared, with all their columns.
func Tables() []Table {
	return []Table{
		table("rates", 1, `id account_id platform rate_name rate_type rate_type_raw amount currency period minimum_period
			tier_start tier_end package_size unit_name unit_size note start_date end_date`),
		table("billing_items", 1, `id account_id event_type event_action rate_name item_name quantity workspace_id sandbox_id
			user_id resource_type resource_id ranks size_bytes engine started_at changed_at ended_at opened_by changed_by closed_by`),
		table("billing_events", 1, `id item_id account_id event_type event_action rate_name item_name previous_count current_count
			billable_count workspace_id sandbox_id user_id resource_type resource_id cause_type cause_id ranks size_bytes engine
			occurred_at received_at sequence hash previous_hash`),
		table("daily_costs", 1, `slot id account_id item_id item_name date rate_id rate_name rate_amount cost currency quantity
			workspace_id sandbox_id user_id segments day_price unit_days period tier_start tier_end engine_version
			first_event_id last_event_id version supersedes correction_of rated_at`),
		table("cost_totals", 5, `account_id period currency rate_name workspace_id total`),
		table("balances", 2, `account_id currency credits debits updated_at`),
		table("credit_holds", 1, `simulation_id account_id amount currency expires_at released_at`),
	}
}

func table(name string, keys int, columns string) Table {
	t := Table{Name: name, Keys: keys}
	for _, c := range strings.Fields(columns) {
		t.Columns = append(t.Columns, Column{c, strings.HasSuffix(c, "_at")})
	}
	return t
}

// rows are the rows of a table by key, each computed on demand.
type rows map[string]func() []string

// keyOf joins the values of a key with a character that none of them has.
func keyOf(values []string) string { return strings.Join(values, keyMark) }

const keyMark = "\x1f"

// tables returns the rows that follow from the facts, by table.
func (b *books) tables() map[string]rows {
	all := map[string]rows{}
	for _, t := range Tables() {
		all[t.Name] = rows{}
	}
	for i := range b.rates {
		r := &b.rates[i]
		all["rates"][number(r.RateID)] = func() []string { return rateRow(r) }
	}
	for _, a := range b.accounts {
		for _, i := range a.items {
			if len(i.usage) == 0 {
				continue
			}
			all["billing_items"][number(i.id)] = func() []string { return itemRow(a, i) }
			for n := range i.usage {
				all["billing_events"][number(i.usage[n].BillingEventID)] = func() []string { return eventRow(a, i, n) }
			}
		}
		totals := map[string]*rating.Sum{}
		for _, i := range a.items {
			for _, c := range i.costs {
				slot := fmt.Sprintf("%d/%s/%d", c.BillingItemID, c.Date, c.RateID)
				all["daily_costs"][slot] = func() []string { return costRow(a, slot, c) }
				a.sum(b, totals, c)
			}
		}
		for _, c := range a.fixes {
			slot := fmt.Sprintf("correction/%d", c.DailyCostID)
			all["daily_costs"][slot] = func() []string { return costRow(a, slot, c) }
			a.sum(b, totals, c)
			credit := a.credit(c.Currency)
			credit.at = latest(credit.at, c.ratedAt)
		}
		for key, total := range totals {
			all["cost_totals"][key] = func() []string { return append(strings.Split(key, keyMark), total.String()) }
		}
		for currency, c := range a.credits {
			all["balances"][keyOf([]string{a.id, currency})] = func() []string {
				return []string{a.id, currency, c.granted.String(), c.debited.String(), instant(c.at)}
			}
		}
		for id, h := range a.holds {
			all["credit_holds"][id] = func() []string {
				return []string{id, a.id, h.held.Amount, h.held.Currency, instant(h.held.ExpiresAt), instant(h.released)}
			}
		}
	}
	return all
}

// sum adds a cost to the account's totals of its day, of the days with the same first
// digit (2026-11-2) and of its month, and to the account's debits.
func (a *account) sum(b *books, totals map[string]*rating.Sum, c *cost) {
	for _, period := range []string{c.Date, c.Date[:min(len(c.Date), len("2026-11-2"))], c.Date[:min(len(c.Date), len("2026-11"))]} {
		key := keyOf([]string{a.id, period, c.Currency, c.RateName, c.WorkspaceID})
		if totals[key] == nil {
			totals[key] = &rating.Sum{}
		}
		if err := totals[key].Add(c.Cost); err != nil {
			b.find(c.at, "%s: %v", c.name(), err)
		}
	}
	if err := a.credit(c.Currency).debited.Add(c.Cost); err != nil {
		b.find(c.at, "%s: %v", c.name(), err)
	}
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000000Z")
}

func rateRow(r *events.RateSet) []string {
	return []string{number(r.RateID), r.AccountID, r.Platform, r.RateName, r.RateType, r.RateTypeRaw, r.Amount, r.Currency,
		r.Period, r.MinimumPeriod, number(r.TierStart), number(r.TierEnd), number(r.PackageSize), r.UnitName, r.UnitSize,
		r.Note, r.StartDate, r.EndDate}
}

func itemRow(a *account, i *item) []string {
	o, last := i.opened(), i.usage[len(i.usage)-1]
	size, closed := int64(0), int64(0)
	var ended time.Time
	for _, u := range i.usage {
		if u.SizeBytes > 0 {
			size = u.SizeBytes
		}
		if u.Action == "stop" {
			ended, closed = u.OccurredAt, u.BillingEventID
		}
	}
	return []string{number(i.id), a.id, o.Meter, last.Action, o.RateName, o.ItemName, number(last.CurrentCount), o.WorkspaceID,
		o.SandboxID, o.UserID, o.ResourceType, o.ResourceID, number(o.Ranks), number(size), o.Engine, instant(o.OccurredAt),
		instant(last.OccurredAt), instant(ended), number(o.BillingEventID), number(last.BillingEventID), number(closed)}
}

func eventRow(a *account, i *item, n int) []string {
	u, at := &i.usage[n], &i.at[n]
	return []string{number(u.BillingEventID), number(u.BillingItemID), a.id, u.Meter, u.Action, u.RateName, u.ItemName,
		number(u.PreviousCount), number(u.CurrentCount), number(u.BillableCount), u.WorkspaceID, u.SandboxID, u.UserID,
		u.ResourceType, u.ResourceID, u.CauseType, at.cause, number(u.Ranks), number(u.SizeBytes), u.Engine,
		instant(u.OccurredAt), instant(at.recorded), number(at.sequence), at.hash.String(), at.previous.String()}
}

func costRow(a *account, slot string, c *cost) []string {
	segments, _ := json.Marshal(c.Segments) //nolint:errchkjson // strings, numbers and times always encode
	return []string{slot, number(c.DailyCostID), a.id, number(c.BillingItemID), c.ItemName, c.Date, number(c.RateID), c.RateName,
		c.RateAmount, c.Cost, c.Currency, number(c.Quantity), c.WorkspaceID, c.SandboxID, c.UserID, string(segments), c.DayPrice,
		c.UnitDays, c.Period, number(c.TierStart), number(c.TierEnd), c.EngineVersion, number(c.FirstEventID),
		number(c.LastEventID), number(c.Version), number(c.Supersedes), number(c.CorrectionOf), instant(c.ratedAt)}
}
