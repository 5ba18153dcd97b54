package prices_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/billing/prices"
)

func TestDefaultIsTheListOfTheDocument(t *testing.T) {
	t.Parallel()
	list, err := prices.Default()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range list.Rates {
		got = append(got, strings.Join([]string{r.RateName, r.RateType, r.Amount, r.Currency, "per", r.Period}, " "))
	}
	want := []string{
		"cluster unit 10.00 CREDIT per hour", "storage unit 0.03 CREDIT per month", "workspace unit 0 CREDIT per month",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rates (-want +got):\n%s", diff)
	}
	if o := list.OpeningCredit; o.Amount != "100000" || o.Currency != "CREDIT" || len(o.Accounts) != 1 {
		t.Errorf("opening credit %+v, want 100000 CREDIT for one account", o)
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	row := func(changed string) string {
		return `{"rates":[{"rateName":"cluster","rateType":"unit","amount":"1","currency":"USD","period":"day","startDate":"2026-01-01","unitName":"ranks","unitSize":"1024"` + changed + `}]}`
	}
	for _, tt := range []struct{ name, text, want string }{
		{"an unknown member", row(`,"price":"1"`), "field price not found"},
		{"an invalid amount", strings.Replace(row(""), `"amount":"1"`, `"amount":"1e2"`, 1), `row 1: rate cluster: amount "1e2"`},
		{"an unknown currency", strings.Replace(row(""), "USD", "EUR", 1), `no currency "EUR"`},
		{"an invalid date", strings.Replace(row(""), "2026-01-01", "2026-02-30", 1), `startDate "2026-02-30"`},
		{"an end before the start", row(`,"endDate":"2026-01-01"`), `endDate "2026-01-01"`},
		{"half a unit", strings.Replace(row(""), `"1024"`, `"0.5"`, 1), "a whole unitSize"},
		{"an empty name", strings.Replace(row(""), `"cluster"`, `""`, 1), "a rateName is required"},
		{"an opening credit of nothing", `{"openingCredit":{"amount":"0","currency":"USD"}}`, "amount 0 is not above 0"},
		{"an empty file", ``, "read the price list"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := prices.Read([]byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
	if _, err := prices.Read([]byte(row(""))); err != nil {
		t.Errorf("a valid list: error %v", err)
	}
}
