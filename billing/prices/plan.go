package prices

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/fault"
	"netsim/rating"
)

// Plan lists the changes that make the rates of a platform equal to a list.
type Plan struct {
	Platform  string
	List      string // the digest of the list
	Steps     []Step
	Unchanged int // rows
}

// Step is a new row, or an existing row with another end.
type Step struct {
	Row   events.RateSet  // after the step; a new row has no RateID
	Was   *events.RateSet // before the step; nil for a new row
	Older string          // the amount that a new row replaces, "" for none
}

// NewPlan compares a list with the current rates. A row of the list matches a
// recorded row if they differ only in end and note. Recorded rows that are not in
// the list end tomorrow, or on their first day if that is later. NewPlan returns the
// error of the first step that would be refused now.
func NewPlan(l List, platform string, now commands.Platform, at time.Time) (Plan, error) {
	plan := Plan{Platform: platform, List: l.digest()}
	if len(l.Rates) == 0 {
		return plan, fault.New(fault.Validation, "the price list has no rates: applying it would end all current rates")
	}
	tomorrow := at.UTC().AddDate(0, 0, 1).Format(time.DateOnly)
	kept := map[int64]bool{}
	for _, row := range l.Rates {
		row.Platform = platform
		was := recorded(now.Rates, row, tomorrow, kept)
		switch {
		case was == nil:
			plan.Steps = append(plan.Steps, Step{Row: row, Older: older(now.Rates, row)})
			continue
		case was.EndDate == row.EndDate:
			plan.Unchanged++
		default:
			ended := *was
			ended.EndDate = row.EndDate
			plan.Steps = append(plan.Steps, Step{Row: ended, Was: was})
		}
		kept[was.RateID] = true
	}
	for _, was := range now.Rates {
		if kept[was.RateID] || was.EndDate != "" && was.EndDate <= max(tomorrow, was.StartDate) {
			continue
		}
		ended := was
		ended.EndDate = max(tomorrow, was.StartDate)
		plan.Steps = append(plan.Steps, Step{Row: ended, Was: &was})
	}
	return plan, plan.rehearse(now, at)
}

// recorded returns the recorded row that matches a row of the list. A row that
// has ended matches only if the list has the same end.
func recorded(rates []events.RateSet, row events.RateSet, tomorrow string, taken map[int64]bool) *events.RateSet {
	for _, r := range rates {
		over := r.EndDate != "" && r.EndDate < tomorrow
		if !taken[r.RateID] && same(r, row) && (!over || r.EndDate == row.EndDate) {
			return &r
		}
	}
	return nil
}

// same reports whether two rows set the same price for the same units from the
// same day on.
func same(a, b events.RateSet) bool {
	if !rating.Equal(a.Amount, b.Amount) {
		return false
	}
	for _, r := range []*events.RateSet{&a, &b} {
		r.RateID, r.Amount, r.EndDate, r.Note = 0, "", "", ""
	}
	return a == b
}

// older returns the amount of the newest row that priced the same units before.
func older(rates []events.RateSet, row events.RateSet) (amount string) {
	for _, r := range rates {
		if r.AccountID == row.AccountID && r.RateName == row.RateName && r.TierStart == row.TierStart && r.StartDate <= row.StartDate {
			amount = r.Amount
		}
	}
	return amount
}

// rehearse takes the steps on a copy of the price list, and returns the first
// refusal.
func (p Plan) rehearse(state commands.Platform, at time.Time) error {
	text, err := json.Marshal(state)
	if err != nil {
		return err
	}
	var copied commands.Platform
	if err := json.Unmarshal(text, &copied); err != nil {
		return err
	}
	for _, s := range p.Steps {
		data, err := s.command(p.List).Decide(&copied, at)
		if err != nil {
			return err
		}
		if data != nil {
			copied.Evolve(events.Event{Frame: events.Frame{CorrelationID: p.List}, Data: data})
		}
	}
	return nil
}

func (s Step) command(list string) commands.Command[commands.Platform] {
	if s.Was == nil {
		return commands.SetRate{Rate: s.Row, List: list}
	}
	return commands.EndRate{RateID: s.Row.RateID, EndDate: s.Row.EndDate}
}

// Apply writes the steps to the log, new rows before ends, so that an
// interruption leaves nothing without a price. Applying the plan again continues
// it.
func (p Plan) Apply(ctx context.Context, h *handle.Handler) error {
	stream := commands.PlatformStream(p.Platform)
	for _, begins := range []bool{true, false} {
		for _, s := range p.Steps {
			if (s.Was == nil) != begins {
				continue
			}
			from := handle.Origin{Actor: events.System, CorrelationID: p.List}
			_, err := handle.Command(ctx, h, handle.Target{Stream: stream, PartitionKey: stream}, from, s.command(p.List))
			if err != nil {
				return fmt.Errorf("apply rate %s: %w", s.Row.RateName, err)
			}
		}
	}
	return nil
}

// Print writes the plan as text.
func (p Plan) Print(w io.Writer) error {
	for _, s := range p.Steps {
		if _, err := fmt.Fprintln(w, s); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%d rows of platform %s change, %d stay as they are\n", len(p.Steps), p.Platform, p.Unchanged)
	return err
}

// String returns a step as one line: "+" for a new or extended row, "-" for a row
// that ends.
func (s Step) String() string {
	r := s.Row
	units := r.RateName + " " + r.RateType
	if r.TierStart != 0 || r.TierEnd != 0 {
		units += fmt.Sprintf(" %d to %s", r.TierStart, orOpen(r.TierEnd))
	}
	account := "everybody"
	if r.AccountID != "" {
		account = r.AccountID
	}
	amount := r.Amount
	if s.Was == nil && s.Older != "" {
		amount = s.Older + " → " + r.Amount
	}
	line := fmt.Sprintf("%s for %s: %s %s per %s, from %s", units, account, amount, r.Currency, r.Period, r.StartDate)
	switch {
	case s.Was == nil && r.EndDate != "":
		return "+ " + line + " to " + r.EndDate
	case s.Was == nil:
		return "+ " + line
	case r.EndDate == "":
		return "+ " + line + ", no more to " + s.Was.EndDate
	case s.Was.EndDate != "":
		return "- " + line + " to " + r.EndDate + " instead of " + s.Was.EndDate
	}
	return "- " + line + " to " + r.EndDate
}

func orOpen(end int64) string {
	if end == 0 {
		return "open"
	}
	return fmt.Sprint(end)
}

// digest identifies the list by its rates.
func (l List) digest() string {
	text, _ := json.Marshal(l.Rates) //nolint:errchkjson // strings and integers always encode
	sum := sha256.Sum256(text)
	return "list-" + hex.EncodeToString(sum[:8])
}
