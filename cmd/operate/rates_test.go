package operate_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/billing/prices"
	"netsim/cmd/operate"
	"netsim/internal/servicetest"
)

// operator runs the price commands against its own service.
type operator struct {
	*servicetest.Program
	t       *testing.T
	account string
}

// apply returns the plan of a price list, and applies the list if confirmed is true.
func (o *operator) apply(list string, confirmed bool) (shown []string, err error) {
	o.t.Helper()
	tools, err := operate.OpenTools(o.t.Context(), o.Config, slog.New(slog.DiscardHandler))
	if err != nil {
		o.t.Fatal(err)
	}
	defer tools.Close()
	read, err := prices.Read([]byte(list))
	if err != nil {
		return nil, err
	}
	err = tools.ApplyRates(o.t.Context(), read, func(p prices.Plan) (bool, error) {
		var text strings.Builder
		if err := p.Print(&text); err != nil {
			return false, err
		}
		shown = strings.Split(strings.TrimSpace(text.String()), "\n")
		return confirmed, nil
	})
	return shown, err
}

// rates lists the rates that the account sees, page by page.
func (o *operator) rates(query string) (lines []string) {
	o.t.Helper()
	for cursor := ""; ; {
		var page struct {
			Rates []struct {
				AccountID                             *string
				RateName, RateType, Amount, StartDate string
				TierStart                             int64
				TierEnd                               *int64
				EndDate                               *string
			}
			Pagination struct {
				HasMore    bool
				NextCursor string
			}
		}
		o.Service(o.t, o.account).Get("/api/v1/billing/rates?limit=2" + query + cursor).Want(200).Into(&page)
		for _, r := range page.Rates {
			line := fmt.Sprintf("%s %s %s from %s", r.RateName, r.RateType, r.Amount, r.StartDate)
			if r.EndDate != nil {
				line += " to " + *r.EndDate
			}
			if r.AccountID != nil {
				line += ", own"
			}
			if r.TierEnd != nil || r.TierStart > 0 {
				line += fmt.Sprint(", units from ", r.TierStart)
			}
			lines = append(lines, line)
		}
		if !page.Pagination.HasMore {
			return lines
		}
		cursor = "&cursor=" + page.Pagination.NextCursor
	}
}

func (o *operator) want(what string, want, got []string) {
	o.t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		o.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// TestPricesAreSetFromTomorrowOn: an operator raises a price, gives an account its own
// tiers, and removes a price. The changes apply from tomorrow on. Changes of today and
// of the past, and incomplete lists, are refused.
func TestPricesAreSetFromTomorrowOn(t *testing.T) {
	t.Parallel()
	o := &operator{servicetest.Start(t), t, servicetest.NewAccount()}
	today := time.Now().UTC().Format(time.DateOnly)
	tomorrow := time.Now().UTC().AddDate(0, 0, 1).Format(time.DateOnly)
	row := func(name, kind, amount, period, start, more string) string {
		return fmt.Sprintf(`{"rateName":%q,"rateType":%q,"amount":%q,"currency":"CREDIT","period":%q,"startDate":%q,"unitName":%q,"unitSize":%q%s}`,
			name, kind, amount, period, start, map[string]string{"cluster": "ranks", "storage": "bytes"}[name],
			map[string]string{"cluster": "1024", "storage": "1000000000"}[name], more)
	}
	list := func(rows ...string) string { return `{"rates":[` + strings.Join(rows, ",") + `]}` }
	storage := row("storage", "unit", "0.03", "month", "2020-01-01", "")
	low := row("storage", "graduated", "0.05", "month", tomorrow, `,"tierEnd":10,"accountId":"`+o.account+`"`)
	high := row("storage", "graduated", "0.02", "month", tomorrow, `,"tierStart":10,"accountId":"`+o.account+`"`)
	next := list(row("cluster", "unit", "12", "hour", tomorrow, ""), storage, low, high)

	before := o.rates("")
	shown, err := o.apply(next, false)
	if err != nil {
		t.Fatal(err)
	}
	o.want("the plan", []string{
		"+ cluster unit for everybody: 10.00 → 12 CREDIT per hour, from " + tomorrow,
		"+ storage graduated 0 to 10 for " + o.account + ": 0.05 CREDIT per month, from " + tomorrow,
		"+ storage graduated 10 to open for " + o.account + ": 0.02 CREDIT per month, from " + tomorrow,
		"- cluster unit for everybody: 10.00 CREDIT per hour, from 2020-01-01 to " + tomorrow,
		"- workspace unit for everybody: 0 CREDIT per month, from 2020-01-01 to " + tomorrow,
		"5 rows of platform netsim change, 1 stay as they are",
	}, shown)
	o.want("rates after an unconfirmed plan", before, o.rates(""))

	if _, err := o.apply(next, true); err != nil {
		t.Fatal(err)
	}
	ended := " from 2020-01-01 to " + tomorrow
	o.want("rates", []string{
		"cluster unit 10.00" + ended, "cluster unit 12 from " + tomorrow,
		"storage unit 0.03 from 2020-01-01", "storage graduated 0.05 from " + tomorrow + ", own, units from 0",
		"storage graduated 0.02 from " + tomorrow + ", own, units from 10",
		"workspace unit 0" + ended,
	}, o.rates(""))
	o.want("rates of today", []string{"cluster unit 10.00" + ended, "storage unit 0.03 from 2020-01-01", "workspace unit 0" + ended}, o.rates("&date="+today))
	o.want("rates of tomorrow", []string{
		"cluster unit 12 from " + tomorrow, "storage unit 0.03 from 2020-01-01",
		"storage graduated 0.05 from " + tomorrow + ", own, units from 0", "storage graduated 0.02 from " + tomorrow + ", own, units from 10",
	}, o.rates("&date="+tomorrow))

	shown, err = o.apply(next, true)
	if err != nil {
		t.Fatal(err)
	}
	o.want("applying again", []string{"0 rows of platform netsim change, 4 stay as they are"}, shown)

	after := o.rates("")
	for _, tt := range []struct{ name, list, want string }{
		{"a price of today", list(row("cluster", "unit", "13", "hour", today, ""), storage, low, high), "rate cluster begins " + today},
		{"an own price of yesterday", list(storage, row("cluster", "unit", "1", "hour", "2020-01-01", `,"accountId":"`+o.account+`"`)), "rate cluster begins 2020-01-01"},
		{"a price that ends today", list(row("storage", "unit", "0.03", "month", "2020-01-01", `,"endDate":"`+today+`"`)), "cannot end " + today},
		{"a tier that is missing", list(storage, high), "row 2: rate storage has no price of the units 0 to 10"},
		{"no price beyond a tier", list(storage, low), "row 2: rate storage has no price of more than 10 units"},
		{"nothing", list(), "the price list has no rates"},
		{"two prices", list(storage, storage), "rows 1 and 2: rate storage has two prices"},
	} {
		if _, err := o.apply(tt.list, true); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want an error with %q", tt.name, err, tt.want)
		}
	}
	o.want("rates after the refused lists", after, o.rates(""))
}
