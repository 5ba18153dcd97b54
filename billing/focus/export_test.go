package focus_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/parquet-go/parquet-go"

	"netsim/billing/focus"
	"netsim/events"
	"netsim/rating"
)

// export exports an account's costs of April and May in both formats, and returns
// the rows. The test fails unless they are the same in both.
func (b *books) export(account, price string) ([]map[string]string, focus.Report) {
	b.t.Helper()
	return b.exportTo(filepath.Join(b.t.TempDir(), "new", "folder"), account, price)
}

func (b *books) exportTo(directory, account, price string) ([]map[string]string, focus.Report) {
	b.t.Helper()
	tx, err := b.pool.BeginTx(b.t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		b.t.Fatal(err)
	}
	defer tx.Rollback(b.t.Context()) //nolint:errcheck // nothing was written
	r := focus.Request{
		From: day("2026-04-01"), To: day("2026-05-31"), AccountID: account, CreditPrice: price, Provider: "netsim",
	}
	var both [2][]map[string]string
	var report focus.Report
	for i, format := range []string{focus.CSV, focus.Parquet} {
		r.Format = format
		if report, err = focus.Export(b.t.Context(), tx, r, focus.Files{Directory: directory, Generator: "test"}); err != nil {
			b.t.Fatal(err)
		}
		read := readCSV
		if format == focus.Parquet {
			read = readParquet
		}
		both[i] = read(b.t, report.Data)
		if int64(len(both[i])) != report.Rows {
			b.t.Errorf("%s has %d rows, the report says %d", report.Data, len(both[i]), report.Rows)
		}
	}
	if diff := cmp.Diff(both[0], both[1]); diff != "" {
		b.t.Errorf("the formats differ (-csv +parquet):\n%s", diff)
	}
	return both[0], report
}

func readCSV(t testing.TB, path string) []map[string]string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // it is only read
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]map[string]string, len(lines)-1)
	for i, line := range lines[1:] {
		rows[i] = map[string]string{}
		for j, value := range line {
			if value != "" {
				rows[i][lines[0][j]] = value
			}
		}
	}
	return rows
}

// readParquet reads a file by the schema in the file.
func readParquet(t testing.TB, path string) []map[string]string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // it is only read
	in := parquet.NewReader(file)
	var rows []map[string]string
	buffer := make([]parquet.Row, 100)
	for {
		n, err := in.ReadRows(buffer)
		for _, values := range buffer[:n] {
			row := map[string]string{}
			for i, value := range values {
				if field := in.Schema().Fields()[i]; !value.IsNull() {
					row[field.Name()] = shown(field, value)
				}
			}
			rows = append(rows, row)
		}
		if err != nil {
			return rows
		}
	}
}

// shown formats a value as the CSV file does.
func shown(field parquet.Field, value parquet.Value) string {
	kind := field.Type().LogicalType()
	switch {
	case kind == nil:
		return "no logical type"
	case kind.String() == "INT(64,true)":
		return value.String()
	case strings.HasPrefix(kind.String(), "DECIMAL(38,24)"):
		n := new(big.Int).SetBytes(value.ByteArray())
		if value.ByteArray()[0] >= 0x80 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), 128))
		}
		text := new(big.Rat).SetFrac(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(24), nil)).FloatString(24)
		if text = strings.TrimRight(text, "0"); strings.HasSuffix(text, ".") {
			text += "0"
		}
		return text
	case strings.HasPrefix(kind.String(), "TIMESTAMP(isAdjustedToUTC=true,unit=MICROS)"):
		return time.UnixMicro(value.Int64()).UTC().Format(time.RFC3339)
	case kind.String() == "STRING":
		return string(value.ByteArray())
	}
	return "a " + kind.String()
}

// check tests rows against the rules of FOCUS about values.
func check(t testing.TB, spec map[string]specified, rows []map[string]string) {
	t.Helper()
	numeric := regexp.MustCompile(`^-?[0-9]+\.[0-9]+$`)
	unit := regexp.MustCompile(`^([A-Z][A-Za-z]*-(Hours|Days)|Count)$`)
	for i, row := range rows {
		must := func(holds bool, rule string) {
			if !holds {
				t.Errorf("row %d: %s: %v", i+1, rule, row)
			}
		}
		for _, c := range focus.Columns() {
			value, known := row[c.Name]
			s := spec[c.Name]
			must(known || c.Nullable, c.Name+" is null")
			switch {
			case !known:
			case c.Type == focus.Decimal:
				must(numeric.MatchString(value), c.Name+" is not a decimal")
			case c.Type == focus.JSON:
				var object map[string]any
				must(json.Unmarshal([]byte(value), &object) == nil && len(object) > 0, c.Name+" is not an object")
			case c.Type == focus.DateTime:
				at, err := time.Parse("2006-01-02T15:04:05Z", value)
				must(err == nil && at.Equal(at.Truncate(24*time.Hour)), c.Name+" is not a midnight")
			default:
				must(strings.TrimSpace(value) != "", c.Name+" is blank")
			}
			must(!known || s.values == nil || slices.Contains(s.values, value), c.Name+" has a value that is not allowed")
		}
		has := func(column string) bool { _, known := row[column]; return known }
		corrects := has("ChargeClass")
		for _, column := range []string{"ListUnitPrice", "ContractedUnitPrice", "PricingCurrencyListUnitPrice",
			"PricingCurrencyContractedUnitPrice", "PricingQuantity", "PricingUnit", "ConsumedQuantity", "ConsumedUnit"} {
			must(has(column) != corrects, column+" is null for a correction, and only then")
		}
		must(corrects == has("x_CorrectionOf"), "a correction names the cost that it corrects")
		must(row["BillingCurrency"] == "USD", "the billing currency is a national one")
		must(has("SubAccountId") == has("SubAccountName"), "sub accounts have names")
		must(has("ResourceId") == has("ResourceType"), "resources have types")
		must(row["ResourceName"] != row["ResourceId"] || !has("ResourceId"), "a resource's name is not its id")
		must(row["BillingPeriodStart"] < row["BillingPeriodEnd"] && row["ChargePeriodStart"] < row["ChargePeriodEnd"], "periods end after they begin")
		for _, column := range []string{"EffectiveCost", "ListCost", "ContractedCost"} {
			must(row[column] == row["BilledCost"], column+" is BilledCost, nothing is discounted or prepaid")
		}
		if corrects {
			continue
		}
		must(unit.MatchString(row["PricingUnit"]) && unit.MatchString(row["ConsumedUnit"]), "units are in the unit format")
		must(number(row["ListUnitPrice"]).Sign() >= 0, "prices are not negative")
		must(product(row["ListUnitPrice"], row["PricingQuantity"]).Cmp(number(row["ListCost"])) == 0, "price times quantity is the cost")
		must(product(row["PricingCurrencyListUnitPrice"], row["PricingQuantity"]).Cmp(number(row["PricingCurrencyEffectiveCost"])) == 0,
			"price times quantity is the cost in the pricing currency")
	}
}

func number(text string) *big.Rat {
	n, ok := new(big.Rat).SetString(text)
	if !ok {
		panic("not a number: " + text)
	}
	return n
}

func product(a, b string) *big.Rat { return new(big.Rat).Mul(number(a), number(b)) }

// total sums a column of the rows of a pricing currency.
func total(rows []map[string]string, column, currency string) *big.Rat {
	sum := new(big.Rat)
	for _, row := range rows {
		if row["PricingCurrency"] == currency {
			sum.Add(sum, number(row[column]))
		}
	}
	return sum
}

// everything returns books with every kind of price, a correction, a newer
// version and another tenant.
func everything(t *testing.T) *books {
	b := newBooks(t)
	unit := priced(1, "cluster", rating.Unit, "10.00", rating.PerHour)
	b.rate(mine, []events.RateSet{unit}, []events.UsageRecorded{used(1, 1, "cluster", "start", 2, 1.1), used(2, 1, "cluster", "stop", 0, 30.7)},
		"2026-04-01", "2026-04-02")
	storage := priced(2, "storage", rating.Graduated, "30", rating.PerMonth)
	storage.TierEnd, storage.UnitName, storage.UnitSize = 10, "bytes", "1000000000"
	upper := storage
	upper.RateID, upper.TierStart, upper.TierEnd, upper.Amount = 3, 10, 0, "20"
	kept := used(3, 2, "storage", "start", 60, 18)
	kept.ResourceType, kept.ResourceID, kept.ItemName = "results", "sim_1", "sim_1"
	b.rate(mine, []events.RateSet{storage, upper}, []events.UsageRecorded{kept}, "2026-04-01")
	flat := priced(4, "workspace", rating.Flat, "365", rating.PerYear)
	flat.Currency = "USD"
	made := used(4, 3, "workspace", "start", 1, 5)
	made.WorkspaceID, made.UserID, made.SandboxID, made.ResourceType, made.ResourceID = "", "", "", "", ""
	b.rate(mine, []events.RateSet{flat}, []events.UsageRecorded{made}, "2026-04-01")
	month := priced(5, "seats", rating.Unit, "0.07", rating.PerMonth)
	month.MinimumPeriod, month.UnitName, month.UnitSize = rating.PerMonth, "seats", "1"
	b.rate(mine, []events.RateSet{month}, []events.UsageRecorded{used(5, 4, "seats", "start", 3, 13*24+7)}, "2026-04-14")
	packed := priced(6, "bundle", rating.Package, "5", rating.PerDay)
	packed.PackageSize = 10
	row := b.rate(mine, []events.RateSet{packed}, []events.UsageRecorded{used(6, 5, "bundle", "start", 11, 0)}, "2026-04-03")[0]

	later := row // the month is open, so it replaces the version before it
	later.Version, later.Supersedes, later.Cost, later.UnitDays = 2, row.DailyCostID, "5", "1"
	later = b.book(mine, later)[0]
	correction := later
	correction.Date, correction.Cost, correction.Version, correction.Supersedes, correction.CorrectionOf = "2026-05-09", "-1.000000000000000001", 1, 0, later.DailyCostID
	b.book(mine, correction)
	b.rate(theirs, []events.RateSet{unit}, []events.UsageRecorded{used(7, 6, "cluster", "start", 1, 0)}, "2026-04-01")
	return b
}

// TestExport: an export has the rows of the requested accounts, keeps the rules
// of FOCUS, adds up to the reported totals, and contains no person's name.
func TestExport(t *testing.T) {
	t.Parallel()
	b := everything(t)
	spec := specification(t)
	directory := t.TempDir()
	if kept := os.Getenv("NETSIM_TEST_FOCUS"); kept != "" {
		directory = kept // .ci/focus/run checks it with the validator of the FinOps Foundation
	}
	rows, report := b.exportTo(directory, mine, "0.25")
	check(t, spec, rows)
	if len(rows) != 8 {
		t.Fatalf("%d rows, want 8", len(rows))
	}
	for currency, sum := range report.Totals {
		if got := total(rows, "PricingCurrencyEffectiveCost", currency); got.Cmp(number(sum)) != 0 {
			t.Errorf("the rows sum to %s %s, the report says %s", got, currency, sum)
		}
	}
	quarter := new(big.Rat).Mul(total(rows, "PricingCurrencyEffectiveCost", "CREDIT"), big.NewRat(1, 4))
	if got := total(rows, "BilledCost", "CREDIT"); got.Cmp(quarter) != 0 {
		t.Errorf("%s USD are billed for credits, want %s", got, quarter)
	}
	// The other account has its own row only; the platform has the rows of both.
	if others, _ := b.export(theirs, "1"); len(others) != 1 || others[0]["BillingAccountId"] != theirs {
		t.Errorf("rows of the other account: %v, want 1 of its own", others)
	}
	if all, _ := b.export("", "1"); len(all) != 9 {
		t.Errorf("the platform has %d rows, want 9", len(all))
	}

	first := map[string]string{
		"BilledCost": "114.5", "BillingAccountId": mine, "BillingAccountName": "Mine Labs", "BillingCurrency": "USD",
		"BillingPeriodEnd": "2026-05-01T00:00:00Z", "BillingPeriodStart": "2026-04-01T00:00:00Z", "ChargeCategory": "Usage",
		"ChargeDescription": "Use of cluster on 2026-04-01 at 10.00 CREDIT per hour", "ChargeFrequency": "Usage-Based",
		"ChargePeriodEnd": "2026-04-02T00:00:00Z", "ChargePeriodStart": "2026-04-01T00:00:00Z",
		"ConsumedQuantity": "45.8", "ConsumedUnit": "Unit-Hours", "ContractedCost": "114.5", "ContractedUnitPrice": "2.5",
		"EffectiveCost": "114.5", "InvoiceIssuerName": "netsim", "ListCost": "114.5", "ListUnitPrice": "2.5",
		"PricingCategory": "Standard", "PricingCurrency": "CREDIT", "PricingCurrencyContractedUnitPrice": "10.0",
		"PricingCurrencyEffectiveCost": "458.0", "PricingCurrencyListUnitPrice": "10.0", "PricingQuantity": "45.8",
		"PricingUnit": "Unit-Hours", "ProviderName": "netsim", "PublisherName": "netsim", "ResourceId": "sim_1",
		"ResourceName": "nightly", "ResourceType": "Simulation", "ServiceCategory": "Compute", "ServiceName": "Simulation Compute",
		"ServiceSubcategory": "Other (Compute)", "SkuId": "cluster", "SkuMeter": "Compute Time",
		"SkuPriceDetails": `{"x_RatePeriod":"hour","x_RateType":"unit"}`, "SkuPriceId": "cluster/1",
		"SubAccountId": lab, "SubAccountName": `lab, "main"`, "SubAccountType": "Workspace",
		"Tags":            `{"netsim:sandboxId":"sb_1","netsim:userId":"user_1"}`,
		"x_BillingItemId": "1", "x_DailyCostId": "1", "x_DailyCostVersion": "1", "x_EngineVersion": rating.EngineVersion,
		"x_FirstBillingEventId": "1", "x_HighestUnits": "2", "x_LastBillingEventHash": "sha256:" + events.Hash{7}.String(),
		"x_LastBillingEventId": "1", "x_RateAmount": "10.0", "x_RateId": "1", "x_UnitName": "ranks", "x_UnitSize": "1024",
	}
	if diff := cmp.Diff(first, rows[0]); diff != "" {
		t.Errorf("the first row (-want +got):\n%s", diff)
	}
	// With a minimum period of a month, one charge lasts until the end of the
	// month.
	seats := rows[slices.IndexFunc(rows, func(r map[string]string) bool { return r["SkuId"] == "seats" })]
	if seats["ChargePeriodStart"] != "2026-04-14T00:00:00Z" || seats["ChargePeriodEnd"] != "2026-05-01T00:00:00Z" {
		t.Errorf("the charge for the rest of April is from %s to %s, want 14 April to 1 May", seats["ChargePeriodStart"], seats["ChargePeriodEnd"])
	}
	// A correction is billed in the month in which it was booked. Its charge
	// period is the corrected day.
	correction := rows[len(rows)-1]
	if correction["BillingPeriodStart"] != "2026-05-01T00:00:00Z" || correction["ChargePeriodStart"] != "2026-04-03T00:00:00Z" ||
		correction["PricingCurrencyEffectiveCost"] != "-1.000000000000000001" {
		t.Errorf("the correction is %v, want it billed in May for 3 April", correction)
	}
	data, err := os.ReadFile(report.Data)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Lovelace", "Bobs box"} {
		if strings.Contains(string(data), name) {
			t.Errorf("the dataset contains the name %s", name)
		}
	}
}

// TestFormulasInNames: in both formats, a name that a spreadsheet would read as a
// formula is escaped, and every other name is unchanged.
func TestFormulasInNames(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	account := "acct_00000000000000000000000009"
	names := []string{`=HYPERLINK("http://x","y")`, "+1+1", "-2+3", "@SUM(1)", "nightly", "a=b", "7 - 2"}
	var usage []events.UsageRecorded
	for i, name := range names {
		usage = append(usage, events.UsageRecorded{
			BillingEventID: int64(i + 1), BillingItemID: int64(i + 1), Meter: "cluster", Action: "start", RateName: "cluster", ItemName: name,
			CurrentCount: 1, BillableCount: int64(i + 1), ResourceType: "simulation", ResourceID: "sim_1", OccurredAt: day("2026-04-01"),
		})
	}
	b.rate(account, []events.RateSet{{
		RateID: 1, Platform: "netsim", RateName: "cluster", RateType: rating.Unit, RateTypeRaw: "unit", Amount: "10.00", Currency: "CREDIT",
		Period: "hour", StartDate: "2026-01-01", UnitName: "ranks", UnitSize: "1024",
	}}, usage, "2026-04-01")
	rows, _ := b.export(account, "1")
	for _, r := range rows {
		i := slices.IndexFunc(usage, func(u events.UsageRecorded) bool { return fmt.Sprint(u.BillingItemID) == r["x_BillingItemId"] })
		want := names[i]
		if i < 4 {
			want = "'" + want
		}
		if r["ResourceName"] != want {
			t.Errorf("the name %q is written as %q, want %q", names[i], r["ResourceName"], want)
		}
	}
	if len(rows) != len(names) {
		t.Errorf("%d rows, want %d", len(rows), len(names))
	}
}
