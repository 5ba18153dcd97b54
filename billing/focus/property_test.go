package focus_test

import (
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"netsim/billing/focus"
	"netsim/events"
	"netsim/fault"
	"netsim/projections"
	"netsim/rating"
)

// TestExportOfAnyBooks: for random rates, usage and corrections, every row keeps
// the rules of FOCUS, both formats have the same rows, and these add up to the
// cost summary.
func TestExportOfAnyBooks(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	spec := specification(t)
	n := int64(0)
	rapid.Check(t, func(rt *rapid.T) {
		n++
		account, id := events.NewID(events.AccountPrefix), 100*n
		rate := priced(id, fmt.Sprintf("rate%d", n), rapid.SampledFrom([]string{rating.Unit, rating.Flat, rating.Graduated, rating.Volume, rating.Package}).Draw(rt, "type"),
			rapid.StringMatching(`[0-9]{1,5}(\.[0-9]{1,12})?`).Draw(rt, "amount"),
			rapid.SampledFrom([]string{rating.PerHour, rating.PerDay, rating.PerMonth, rating.PerYear}).Draw(rt, "period"))
		rate.MinimumPeriod = rapid.SampledFrom([]string{"", rating.PerHour, rating.PerDay, rating.PerMonth}).Draw(rt, "minimum")
		rate.PackageSize, rate.UnitName = 7, rapid.SampledFrom([]string{"ranks", "bytes", "", "GPU hours"}).Draw(rt, "unit")
		rate.UnitSize = rapid.SampledFrom([]string{"1", "1024", ""}).Draw(rt, "size")
		var usage []events.UsageRecorded
		for item := range int64(rapid.IntRange(1, 3).Draw(rt, "items")) {
			begin := rapid.IntRange(0, 50*3600).Draw(rt, "begin")
			end := begin + rapid.IntRange(1, 40*3600).Draw(rt, "duration")
			for i, at := range []int{begin, end} {
				u := used(id+2*item+int64(i), id+item, rate.RateName, []string{"start", "stop"}[i], 0, float64(at)/3600)
				if i == 0 {
					u.CurrentCount = rapid.Int64Range(1, 5000).Draw(rt, "units")
				}
				usage = append(usage, u)
			}
		}
		corrections := b.rate(account, []events.RateSet{rate}, usage, "2026-04-01", "2026-04-02", "2026-04-03", "2026-04-04")
		for i := range corrections {
			c := &corrections[i]
			c.CorrectionOf, c.Date, c.Cost = c.DailyCostID, "2026-05-04", "-0.000000000000000001"
		}
		b.book(account, corrections[:rapid.IntRange(0, len(corrections)).Draw(rt, "corrected")]...)
		price := rapid.StringMatching(`[1-9][0-9]?(\.[0-9]{1,6})?`).Draw(rt, "price")
		rows, report := b.export(account, price)
		check(t, spec, rows)
		sums, err := projections.SumCosts(t.Context(), b.pool, account, day("2026-04-01"), day("2026-05-31"))
		if err != nil {
			rt.Fatal(err)
		}
		for _, s := range sums {
			if s.RateName == nil && s.WorkspaceID == nil && (total(rows, "PricingCurrencyEffectiveCost", s.Currency).Cmp(number(s.Total)) != 0 ||
				!rating.Equal(report.Totals[s.Currency], s.Total)) {
				rt.Errorf("the rows sum to %s, the summary to %s", total(rows, "PricingCurrencyEffectiveCost", s.Currency), s.Total)
			}
		}
		billed := new(big.Rat).Mul(total(rows, "PricingCurrencyEffectiveCost", "CREDIT"), number(price))
		if got := total(rows, "BilledCost", "CREDIT"); got.Cmp(billed) != 0 {
			rt.Errorf("%s are billed, want %s", got, billed)
		}
	})
}

// many writes a number of equal costs of one day into the read model, without
// events.
func (b *books) many(rows int) {
	b.t.Helper()
	one := b.rate(mine, []events.RateSet{priced(1, "cluster", rating.Unit, "10", rating.PerHour)},
		[]events.UsageRecorded{used(1, 1, "cluster", "start", 1, 0)}, "2026-04-01")[0]
	b.exec(`INSERT INTO daily_costs SELECT (jsonb_populate_record(d, jsonb_build_object('slot', 'copy/' || n, 'id', n))).*
		FROM daily_costs d, generate_series(2, $1) n WHERE d.id = 1`, rows)
	b.exec(`UPDATE cost_totals SET total = $1::numeric * $2::numeric`, one.Cost, rows)
}

// TestExportTurnsPages: an export of several pages, while rows are replaced by
// newer ones, shows the books as they were when it began.
func TestExportTurnsPages(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	const rows = 12_345
	b.many(rows)
	tx, err := b.pool.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(t.Context()) //nolint:errcheck // nothing was written
	if _, err := tx.Exec(t.Context(), "SELECT FROM daily_costs LIMIT 1"); err != nil {
		t.Fatal(err)
	}
	b.exec("UPDATE daily_costs SET id = id + 1000000, cost = '1' WHERE id % 2 = 0")
	done, err := focus.Export(t.Context(), tx, request(), files(t))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, row := range readCSV(t, done.Data) {
		seen[row["x_DailyCostId"]] = true
	}
	if done.Rows != rows || len(seen) != rows {
		t.Errorf("%d rows of %d costs, want %d", done.Rows, len(seen), rows)
	}
}

func request() focus.Request {
	return focus.Request{From: day("2026-04-01"), To: day("2026-04-30"), Format: focus.CSV, CreditPrice: "1", Provider: "netsim"}
}

func files(t *testing.T) focus.Files {
	t.Helper()
	return focus.Files{Directory: t.TempDir(), Generator: "test"}
}

// TestExportFails: a failed export leaves no file.
func TestExportFails(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	b.many(2)
	for _, tt := range []struct {
		name   string
		damage string // to the read model, as SQL
		change func(*focus.Request)
		code   fault.Code
		want   string
	}{
		{"a free credit", "", func(r *focus.Request) { r.CreditPrice = "0" }, fault.Validation, "the price of a credit, 0, must be above zero"},
		{"a price with 7 decimals", "", func(r *focus.Request) { r.CreditPrice = "0.0000001" }, fault.Validation, "at most 6 decimals"},
		{"an invalid price", "", func(r *focus.Request) { r.CreditPrice = "1e3" }, fault.Validation, `"1e3" is not a decimal`},
		{"an end before the start", "", func(r *focus.Request) { r.To = day("2026-03-31") }, fault.Validation, "to, 2026-03-31, must not be before from, 2026-04-01"},
		{"an invalid account", "", func(r *focus.Request) { r.AccountID = "acct_1" }, fault.Validation, `account "acct_1" is not an account id`},
		{"an unknown format", "", func(r *focus.Request) { r.Format = "xlsx" }, fault.Validation, `format "xlsx" is unknown`},
		{"more rows than allowed", "", func(r *focus.Request) { r.MostRows = 1 }, fault.Unprocessable, "2026-04-01 to 2026-04-30 have more than 1 daily costs; ask for fewer days"},
		{"a lost row, and as many rows as allowed", "DELETE FROM daily_costs WHERE id = 2", func(r *focus.Request) { r.MostRows = 1 }, fault.Internal, `the rows sum to "240" CREDIT, the cost summary is 480`},
		{"a lost row", "DELETE FROM daily_costs WHERE id = 2", nil, fault.Internal, `the rows sum to "240" CREDIT, the cost summary is 480`},
		{"a lost sum", "DELETE FROM cost_totals", nil, fault.Internal, "the rows have 1 currencies, the cost summary has 0"},
		{"a third currency", "UPDATE daily_costs SET currency = 'EUR' WHERE id = 2", nil, fault.Internal, "daily cost 2 is in EUR, which has no price in USD"},
		{"an amount beyond the scale", "UPDATE daily_costs SET cost = repeat('9', 15) WHERE id = 1",
			func(r *focus.Request) { r.Format = focus.Parquet }, fault.Internal, "more than 14 digits before the point"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tx, err := b.pool.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer tx.Rollback(t.Context()) //nolint:errcheck // it only undoes the damage
			if _, err := tx.Exec(t.Context(), tt.damage); err != nil {
				t.Fatal(err)
			}
			r, to := request(), files(t)
			if tt.change != nil {
				tt.change(&r)
			}
			_, err = focus.Export(t.Context(), tx, r, to)
			if err == nil || !strings.Contains(err.Error(), tt.want) || fault.CodeOf(err) != tt.code {
				t.Errorf("got %v, want %s with %q", err, tt.code, tt.want)
			}
			if left, _ := filepath.Glob(filepath.Join(to.Directory, "*")); len(left) > 0 {
				t.Errorf("files left behind: %v", left)
			}
		})
	}
}

// TestMetadata: the metadata describes the file beside it.
func TestMetadata(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	b.many(3)
	to := files(t)
	done, err := focus.Export(t.Context(), b.pool, request(), to)
	if err != nil {
		t.Fatal(err)
	}
	var m focus.Metadata
	readJSON(t, done.Metadata, &m)
	at, schema := m.DataLocation[0], m.Schema[0]
	info, err := os.Stat(filepath.Join(to.Directory, at.FilePath))
	if err != nil {
		t.Fatal(err)
	}
	if at.Rows != 3 || at.Bytes != info.Size() || at.SHA256 != sumOf(t, done.Data) {
		t.Errorf("the file is described as %+v, want its rows, size and hash", at)
	}
	if m.SchemaID != schema.SchemaID || schema.FocusVersion != "1.2" || m.DataGenerator.DataGenerator != "netsim" ||
		schema.DataGeneratorVersion != "test" || m.StartDate != "2026-04-01" || m.EndDate != "2026-04-30" || m.CreditPrice != "1" {
		t.Errorf("metadata %+v, want those of the request", m)
	}
	if _, err := time.Parse(time.RFC3339, schema.CreationDate); err != nil {
		t.Error(err)
	}
	var names []string
	for _, c := range schema.ColumnDefinition {
		names = append(names, c.ColumnName)
	}
	data, err := os.ReadFile(done.Data)
	if err != nil {
		t.Fatal(err)
	}
	if header, _, _ := strings.Cut(string(data), "\n"); header != strings.Join(names, ",") {
		t.Errorf("the file has the columns %s, the metadata %s", header, strings.Join(names, ","))
	}
}
