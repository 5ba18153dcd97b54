package readapi_test

import (
	"context"
	"encoding/csv"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/billing/focus"
	"netsim/fault"
	"netsim/internal/testwait"
	"netsim/projections"
	"netsim/rating"
)

const april = "focus?startDate=2026-04-01&endDate=2026-04-30"

func (s *billingServer) dataset(ctx context.Context, r focus.Request, to io.Writer) error {
	return projections.CostSnapshot(ctx, s.pool, func(db projections.Reader) error {
		_, err := focus.Write(ctx, db, r, to)
		return err
	})
}

// rows reads a dataset in CSV, and returns the values of some columns.
func rows(t *testing.T, text string, columns ...string) [][]string {
	t.Helper()
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out [][]string
	for _, line := range lines[1:] {
		var row []string
		for _, c := range columns {
			row = append(row, line[slices.Index(lines[0], c)])
		}
		out = append(out, row)
	}
	return out
}

// TestFocusDataset: a dataset has the costs of the caller's account on the days, priced as
// asked, and they add up to the summary.
func TestFocusDataset(t *testing.T) {
	t.Parallel()
	s := filledServer(t)
	mediaType, body, header := s.text(t.Context(), april+"&creditPrice=0.5", 200)
	want := [][]string{{mine, "1", "0.05", "0.1"}, {mine, "2", "0.1", "0.2"}, {mine, "3", "120.0", "240.0"}}
	if diff := cmp.Diff(want, rows(t, body, "BillingAccountId", "x_DailyCostId", "BilledCost", "PricingCurrencyEffectiveCost")); diff != "" {
		t.Errorf("the dataset (-want +got):\n%s", diff)
	}
	if lag := header.Get("X-Billing-Lag-Ms"); mediaType != "text/csv" || lag != "1" {
		t.Errorf("media type %q and lag %q, want text/csv and 1", mediaType, lag)
	}
	credit, _ := s.get("costs/summary?startDate=2026-04-01&endDate=2026-04-30", 200)["CREDIT"].(map[string]any)
	sum := "0"
	for _, row := range want {
		sum, _ = rating.Add(sum, row[3])
	}
	if total, _ := credit["total"].(string); !rating.Equal(total, sum) {
		t.Errorf("the rows are %s, the summary %s", sum, total)
	}
	_, body, _ = s.text(t.Context(), "focus?startDate=2026-04-16&endDate=2026-04-16", 200)
	if diff := cmp.Diff([][]string{{"3", "240.0"}}, rows(t, body, "x_DailyCostId", "BilledCost")); diff != "" {
		t.Errorf("one day (-want +got):\n%s", diff)
	}
	_, body, _ = s.text(t.Context(), "focus?startDate=2026-05-01&endDate=2026-05-31", 200)
	if !strings.HasPrefix(body, "BilledCost,") || strings.Count(body, "\n") != 1 {
		t.Errorf("days without costs: got %q, want the header", body)
	}
	mediaType, body, _ = s.text(t.Context(), april+"&format=parquet", 200)
	if mediaType != "application/vnd.apache.parquet" || !strings.HasPrefix(body, "PAR1") || !strings.HasSuffix(body, "PAR1") {
		t.Errorf("as Parquet: got %s with %d bytes", mediaType, len(body))
	}
	ownType, own, header := s.text(t.Context(), strings.Replace(april, "focus?", "focus.parquet?", 1), 200)
	if ownType != mediaType || own != body || header.Get("X-Billing-Lag-Ms") != "1" {
		t.Errorf("focus.parquet is %s with %d bytes, focus in that format %d", ownType, len(own), len(body))
	}
	s.caller.AccountID = "*"
	_, body, _ = s.text(t.Context(), april, 200)
	if got := rows(t, body, "x_DailyCostId"); len(got) != 4 {
		t.Errorf("a token for every account gets the costs %v, want all 4", got)
	}
}

// TestFocusDatasetRefusals: nothing is written for a malformed request, and an error before
// the first part is the response.
func TestFocusDatasetRefusals(t *testing.T) {
	t.Parallel()
	s := filledServer(t)
	written := 0
	most := 100_000
	s.writeDataset = func(ctx context.Context, r focus.Request, to io.Writer) error {
		written++
		if r.MostRows != 100_000 {
			t.Errorf("at most %d rows are asked for", r.MostRows)
		}
		r.MostRows = most
		return s.dataset(ctx, r, to)
	}
	s.serve(s.pool)
	for _, query := range []string{
		"focus", "focus?startDate=2026-04-01", "focus?endDate=2026-04-01", "focus?startDate=2026-04-31&endDate=2026-05-01", "focus?startDate=2026-04-02&endDate=2026-04-01",
		"focus?startDate=2025-01-01&endDate=2026-01-02", april + "&format=xlsx", april + "&creditPrice=0", april + "&creditPrice=0.000", april + "&creditPrice=-1",
		april + "&creditPrice=1.0000001", april + "&creditPrice=1e3", april + "&creditPrice=", april + "&account=" + theirs,
	} {
		s.text(t.Context(), query, 400)
	}
	if written > 0 {
		t.Errorf("%d datasets were written for malformed requests", written)
	}
	most = 2
	for range 3 { // each gives back its turn
		if _, body, _ := s.text(t.Context(), april, 422); !strings.Contains(body, "2026-04-01 to 2026-04-30 have more than 2 daily costs; ask for fewer days") {
			t.Errorf("too many costs: %s", body)
		}
	}
	most = 3
	s.text(t.Context(), april, 200)
	s.exec("UPDATE cost_totals SET total = total + 1")
	s.text(t.Context(), april, 500)
}

// TestDatasetsAtATime: an account has one dataset at a time.
func TestDatasetsAtATime(t *testing.T) {
	t.Parallel()
	s := newBillingServer(t)
	begun, finish := make(chan struct{}), make(chan struct{})
	s.writeDataset = func(ctx context.Context, _ focus.Request, _ io.Writer) error {
		begun <- struct{}{}
		select {
		case <-finish:
			return fault.New(fault.Unprocessable, "it has ended")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.serve(s.pool)
	first := make(chan string, 1)
	go func() {
		resp, err := s.http.Get(s.url + "/api/v1/billing/" + april)
		if err != nil {
			first <- err.Error()
			return
		}
		resp.Body.Close()
		first <- resp.Status
	}()
	testwait.Receive(t, begun, "the first dataset")
	if _, body, header := s.text(t.Context(), april, 429); header.Get("Retry-After") == "" || !strings.Contains(body, "a FOCUS dataset of account "+mine+" is being written already") {
		t.Errorf("a second dataset: Retry-After %q, %s", header.Get("Retry-After"), body)
	}
	close(finish)
	if got := testwait.Receive(t, first, "the first dataset to end"); got != "422 Unprocessable Entity" {
		t.Errorf("the first dataset: %s", got)
	}
}
