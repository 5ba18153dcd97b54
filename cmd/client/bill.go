package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"time"

	"netsim/audit"
	"netsim/cmd/table"
	"netsim/sdk/go/api"
)

type bills struct {
	Show    billShow    `cmd:"" help:"Show the costs of a period and their totals."`
	Explain billExplain `cmd:"" help:"Show from which use and which rates the costs of a simulation or another resource follow."`
	Verify  billVerify  `cmd:"" help:"Get the bundle of a period, and verify the costs on this machine."`
}

// period is a range of days.
type period struct {
	From string `placeholder:"DATE" help:"First day, YYYY-MM-DD, in UTC; the first of this month when absent."`
	To   string `placeholder:"DATE" help:"Last day; today when absent."`
}

func (p period) check() error {
	for _, day := range []string{p.From, p.To} {
		if _, err := time.Parse(time.DateOnly, day); day != "" && err != nil {
			return fmt.Errorf("%q is not a date such as 2026-11-20", day)
		}
	}
	if p.From != "" && p.To != "" && p.To < p.From {
		return errors.New("--to is before --from")
	}
	return nil
}

// at returns the days of the period at a time.
func (p period) at(now time.Time) (from, to string) {
	now = now.UTC()
	return cmp.Or(p.From, now.Format("2006-01-02")[:8]+"01"), cmp.Or(p.To, now.Format(time.DateOnly))
}

type billShow struct {
	options
	period
	Limit int `default:"50" placeholder:"ROWS" help:"Most costs to print."`
}

// Validate implements kong.Validatable.
func (c billShow) Validate() error {
	if c.Limit < 1 {
		return errors.New("--limit must be at least 1")
	}
	return cmp.Or(c.check(), c.options.Validate())
}

// bill is what bill show shows.
type bill struct {
	Summary *api.CostSummary `json:"summary"`
	Costs   []api.DailyCost  `json:"costs"`
	More    bool             `json:"more"` // costs than these
}

// Run shows the costs.
func (c billShow) Run(ctx context.Context, t *Terminal) error {
	return c.ask(ctx, t, func(ctx context.Context, s *session) (answer, error) {
		from, to := c.at(t.Now())
		summary, err := s.GetCostSummary(ctx, &api.GetCostSummaryParams{StartDate: from, EndDate: to})
		if err != nil {
			return answer{}, err
		}
		shown := bill{Summary: summary, Costs: []api.DailyCost{}}
		rows := [][]string{}
		for cost, err := range s.AllCosts(ctx, api.ListCostsParams{StartDate: from, EndDate: to}) {
			if err != nil {
				return answer{}, err
			}
			if shown.More = len(shown.Costs) == c.Limit; shown.More {
				break
			}
			shown.Costs = append(shown.Costs, cost)
			rows = append(rows, []string{cost.Date, fmt.Sprint(cost.BillingItemID), cost.RateName, cost.Cost, string(cost.CostCurrency), text(cost.ItemName)})
		}
		return answer{shown, func(w io.Writer) error {
			if err := table.Write(w, fmt.Sprintf("there is no cost from %s to %s", from, to), "DATE ITEM RATE COST CURRENCY NAME", rows); err != nil {
				return err
			}
			if shown.More {
				fmt.Fprintln(w, "there are more costs; --limit shows them") //nolint:errcheck // the table's error is returned
			}
			return totals(w, map[string]*api.CostTotal{"CREDIT": summary.CREDIT, "USD": summary.USD})
		}}, nil
	})
}

// totals prints the sums of each currency that has any.
func totals(w io.Writer, of map[string]*api.CostTotal) error {
	rows := [][]string{}
	for _, currency := range slices.Sorted(maps.Keys(of)) {
		total := of[currency]
		if total == nil {
			continue
		}
		for _, rate := range slices.Sorted(maps.Keys(total.ByRate)) {
			rows = append(rows, []string{"of " + rate, total.ByRate[rate], currency})
		}
		rows = append(rows, []string{"total", total.Total, currency})
	}
	if len(rows) == 0 {
		return nil
	}
	return table.Write(w, "", "", rows)
}

// text returns what may be null.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

type billExplain struct {
	options
	Of string `arg:"" name:"item" predictor:"simulation" help:"A billing item's number, or the id of a simulation or another resource."`
}

// explanation is a billing item with its costs.
type explanation struct {
	Item  *api.BillingItem `json:"item"`
	Costs []api.DailyCost  `json:"costs"`
}

// Run explains the costs.
func (c billExplain) Run(ctx context.Context, t *Terminal) error {
	return c.ask(ctx, t, func(ctx context.Context, s *session) (answer, error) {
		items, err := s.items(ctx, c.Of)
		if err != nil {
			return answer{}, err
		}
		if len(items) == 0 {
			return answer{}, fmt.Errorf("%w: nothing is billed for %s, or not yet", errNone, c.Of)
		}
		all := make([]explanation, len(items))
		for i := range items {
			if all[i], err = s.explained(ctx, &items[i]); err != nil {
				return answer{}, err
			}
		}
		return answer{all, func(w io.Writer) error {
			for _, x := range all {
				if err := x.print(w); err != nil {
					return err
				}
			}
			return nil
		}}, nil
	})
}

// items returns the billing item of a number, or those of a resource.
func (s *session) items(ctx context.Context, of string) (found []api.BillingItem, err error) {
	if _, err := strconv.ParseInt(of, 10, 64); err == nil {
		item, err := s.GetBillingItem(ctx, of, nil)
		if err != nil {
			return nil, err
		}
		return []api.BillingItem{*item}, nil
	}
	for item, err := range s.AllBillingItems(ctx, api.ListBillingItemsParams{}) {
		if err != nil {
			return nil, err
		}
		if item.Details.ResourceID == of {
			found = append(found, item)
		}
	}
	return found, nil
}

func (s *session) explained(ctx context.Context, item *api.BillingItem) (explanation, error) {
	x, last := explanation{Item: item, Costs: []api.DailyCost{}}, s.Now()
	if item.EndTimestamp != nil {
		last = *item.EndTimestamp
	}
	first := item.StartTimestamp.UTC().Format(time.DateOnly)
	for cost, err := range s.AllCosts(ctx, api.ListCostsParams{StartDate: first, EndDate: last.UTC().Format(time.DateOnly)}) {
		if err != nil {
			return x, err
		}
		if cost.BillingItemID == item.BillingItemID {
			x.Costs = append(x.Costs, cost)
		}
	}
	return x, nil
}

// print says what an item is, and how each of its costs follows from its use.
func (x explanation) print(w io.Writer) error {
	ended := "now"
	if x.Item.EndTimestamp != nil {
		ended = moment(*x.Item.EndTimestamp)
	}
	fmt.Fprintf(w, "item %d: %s %s, from %s to %s\n", x.Item.BillingItemID, //nolint:errcheck // the table's error is returned
		x.Item.EventType, table.Printable(x.Item.Details.ResourceID), moment(x.Item.StartTimestamp), ended)
	rows := [][]string{}
	for _, cost := range x.Costs {
		rate := fmt.Sprintf("%s, %s a %s", cost.RateName, cost.RateAmount, cost.Details.Period)
		rows = append(rows, []string{cost.Date, cost.Cost, string(cost.CostCurrency), cost.Details.UnitDays, cost.Details.DayPrice, rate})
		for _, part := range cost.Details.Segments {
			rows = append(rows, []string{"", "", "", part.Fraction, fmt.Sprintf("x %d", part.Units), part.From.UTC().Format("15:04:05.000") + " to " + part.To.UTC().Format("15:04:05.000")})
		}
	}
	return table.Write(w, "its costs are not booked yet", "DATE COST CURRENCY DAYS PRICE RATE", rows)
}

type billVerify struct {
	options
	period
	Key         string   `placeholder:"VERIFIERKEY" help:"The public key of the log that you know; the bundle's own when absent."`
	Note        []string `type:"existingfile" sep:"none" placeholder:"FILE" help:"A file with a checkpoint that you hold, which the bundle must contain. May be repeated."`
	Preliminary bool     `help:"Accept that the last day has not ended; implied without --to."`
	Save        string   `type:"path" placeholder:"FILE" help:"Keep the bundle in this file, for netsim audit verify and other programs."`
}

// Validate implements kong.Validatable.
func (c billVerify) Validate() error { return cmp.Or(c.check(), c.options.Validate()) }

// verification is what bill verify has found.
type verification struct {
	Agrees      bool     `json:"agrees"`
	Account     string   `json:"account"`
	From        string   `json:"from"`
	To          string   `json:"to"`
	Covered     string   `json:"coveredUntil"`
	Verifier    string   `json:"verifier"`
	OwnKey      bool     `json:"bundlesOwnKey"` // no key was given that the reader knows
	Events      int      `json:"events"`
	Costs       int      `json:"costs"`
	Checkpoints int      `json:"checkpoints"`
	Rated       int64    `json:"ratedAgain"`
	Totals      []string `json:"totals"`
	Found       []string `json:"found"`
}

// Run verifies the costs.
func (c billVerify) Run(ctx context.Context, t *Terminal) error {
	return c.run(ctx, t, func(ctx context.Context, s *session) error {
		from, to := c.at(t.Now())
		preliminary := c.Preliminary || c.To == ""
		wanted := audit.Wanted{Verifier: c.Key, From: from, To: to, Preliminary: preliminary}
		for _, path := range c.Note {
			note, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			wanted.Notes = append(wanted.Notes, string(note))
		}
		response, err := s.HTTP.GetBundle(ctx, &api.GetBundleParams{From: from, To: to, Preliminary: given(preliminary)})
		if err != nil {
			return err
		}
		defer response.Body.Close()
		r, err := c.verify(response.Body, wanted)
		if err != nil {
			return err
		}
		v := verification{
			Agrees: len(r.Problems) == 0, Account: r.Account, From: r.From, To: r.To, Covered: r.Covered, Verifier: r.Verifier, OwnKey: c.Key == "",
			Events: r.Events, Costs: r.Costs, Checkpoints: r.Checkpoints, Rated: r.Rated.Days, Totals: append([]string{}, r.Totals...), Found: []string{},
		}
		for _, problem := range r.Problems {
			v.Found = append(v.Found, problem.String())
		}
		err = s.print(t, answer{v, v.text})
		if err == nil && !v.Agrees {
			err = fmt.Errorf("%w: %d found", errDiffers, len(v.Found))
		}
		return err
	})
}

// verify verifies a bundle, and keeps it if that is wanted.
func (c billVerify) verify(bundle io.Reader, wanted audit.Wanted) (audit.BundleReport, error) {
	if c.Save == "" {
		return audit.VerifyBundle(bundle, wanted)
	}
	file, err := os.Create(c.Save)
	if err != nil {
		return audit.BundleReport{}, err
	}
	r, err := audit.VerifyBundle(io.TeeReader(bundle, file), wanted)
	return r, errors.Join(err, file.Close())
}

// text says what was found.
func (v verification) text(w io.Writer) error {
	fmt.Fprintf(w, "%s from %s to %s, coveredUntil %s: %d events, %d costs, %d checkpoints; %d daily costs were rated again with the same result\n", //nolint:errcheck // the last error is returned
		table.Printable(v.Account), v.From, v.To, table.Printable(v.Covered), v.Events, v.Costs, v.Checkpoints, v.Rated)
	for _, total := range v.Totals {
		fmt.Fprintln(w, "total", table.Printable(total)) //nolint:errcheck // as above
	}
	if v.OwnKey {
		fmt.Fprintf(w, "the signatures were verified with the bundle's own key, %s: compare it with the key that you know\n", table.Printable(v.Verifier)) //nolint:errcheck // as above
	}
	for _, found := range v.Found {
		fmt.Fprintln(w, "FOUND", table.Printable(found)) //nolint:errcheck // as above
	}
	conclusion := "everything agrees"
	if !v.Agrees {
		conclusion = "not everything agrees"
	}
	_, err := fmt.Fprintln(w, conclusion)
	return err
}
