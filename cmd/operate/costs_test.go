package operate_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/billing/focus"
	"netsim/cmd/operate"
	"netsim/internal/servicetest"
	"netsim/rating"
)

// TestExportCosts exports the costs of an account with two simulations. The rows equal those
// of GET /billing/costs, belong to the account only, and add up to the summary. GET
// /billing/focus has the same bytes.
func TestExportCosts(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	p.Grant(t, account, "100")
	client := p.Service(t, account)
	for range 2 {
		client.Post("/api/v1/simple/simulations", map[string]any{"workload": map[string]any{
			"ranks": 8, "phases": []any{map[string]any{"operationType": "allReduce", "dataSize": 1 << 20}},
		}}).Want(202)
	}
	// The billing items of the runs close. Those of the results stay open.
	client.Eventually("/api/v1/billing/items?status=closed", func(r servicetest.Reply) bool {
		items, _ := r.Object()["items"].([]any)
		return len(items) >= 2
	})
	today := time.Now().UTC()
	days := fmt.Sprintf("?startDate=%s&endDate=%s", today.AddDate(0, 0, -1).Format(time.DateOnly), today.Format(time.DateOnly))
	costed := client.Eventually("/api/v1/billing/costs"+days, func(r servicetest.Reply) bool {
		costs, _ := r.Object()["costs"].([]any)
		return len(costs) >= 2
	})
	var listed struct {
		Costs []struct {
			DailyCostID                    int64
			Cost, RateAmount, CostCurrency string
			WorkspaceID                    string
		}
	}
	costed.Into(&listed)
	want := map[string][]string{}
	for _, c := range listed.Costs {
		want[fmt.Sprint(c.DailyCostID)] = []string{account, plain(t, c.Cost), plain(t, c.RateAmount), c.CostCurrency, c.WorkspaceID}
	}

	tools, err := operate.OpenTools(t.Context(), p.Config, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer tools.Close()
	done, err := tools.ExportCosts(t.Context(), focus.Request{
		From: today.AddDate(0, 0, -1), To: today, AccountID: account, Format: focus.CSV, CreditPrice: "1",
	}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, row := range readDataset(t, done.Data) {
		if listed := want[row["x_DailyCostId"]]; row["PricingUnit"] == "Count" && listed != nil {
			listed[2] = listed[1] // no decimal quantity times the rate is exactly the cost
		}
		got[row["x_DailyCostId"]] = []string{
			row["BillingAccountId"], plain(t, row["BilledCost"]), plain(t, row["ListUnitPrice"]), row["PricingCurrency"], row["SubAccountId"],
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the export differs (-GET /billing/costs +export):\n%s", diff)
	}
	for _, format := range []string{focus.CSV, focus.Parquet} {
		done, err := tools.ExportCosts(t.Context(), focus.Request{
			From: today.AddDate(0, 0, -1), To: today, AccountID: account, Format: format, CreditPrice: "0.25",
		}, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		command, err := os.ReadFile(done.Data)
		if err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]*servicetest.Client{"a service": client, "a person": p.Person(t, account, "billing")} {
			if reply := c.Get("/api/v1/billing/focus" + map[string]string{"csv": "", "parquet": ".parquet"}[format] + days + "&creditPrice=0.25").Want(200); !bytes.Equal(reply.Body, command) {
				t.Errorf("%s gets %d bytes as %s, which are not the %d of the command", name, len(reply.Body), format, len(command))
			}
		}
	}
	p.Person(t, account).Get("/api/v1/billing/focus"+days).Refused(403, "FORBIDDEN")
	summary, _ := client.Get("/api/v1/billing/costs/summary" + days).Object()["CREDIT"].(map[string]any)
	if total := fmt.Sprint(summary["total"]); !rating.Equal(total, done.Totals["CREDIT"]) {
		t.Errorf("the export is %s CREDIT, the summary %s", done.Totals["CREDIT"], total)
	}
}

// plain returns a decimal in canonical form, so equal amounts have equal texts.
func plain(t *testing.T, amount string) string {
	t.Helper()
	text, err := rating.Add(amount, "0")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// readDataset reads a CSV file with a header.
func readDataset(t *testing.T, path string) []map[string]string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // the file is only read
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]map[string]string, len(lines)-1)
	for i, line := range lines[1:] {
		rows[i] = map[string]string{}
		for j, value := range line {
			rows[i][lines[0][j]] = value
		}
	}
	return rows
}
