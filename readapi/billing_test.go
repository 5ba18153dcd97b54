package readapi_test

import (
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/events"
)

func usage(event, item int64, action string, before, after int64) events.UsageRecorded {
	return events.UsageRecorded{
		BillingEventID: event, BillingItemID: item, Meter: "cluster", Action: action, RateName: "cluster", ItemName: "nightly",
		PreviousCount: before, CurrentCount: after, BillableCount: after, WorkspaceID: lab, UserID: "u1",
		ResourceType: "simulation", ResourceID: "sim_1", CauseType: "netsim.simulation.started.v1", Ranks: 64, Engine: "builtin",
		OccurredAt: time.Date(2026, 4, 15, 10, 0, int(event), 0, time.UTC),
	}
}

func cost(id int64, date, amount, workspace string) events.DailyCostRated {
	day, _ := time.Parse(time.DateOnly, date)
	return events.DailyCostRated{
		DailyCostID: id, BillingItemID: id, ItemName: "nightly", Date: date, RateID: 1, RateName: "cluster",
		RateAmount: "10.00", Cost: amount, Currency: "CREDIT", Quantity: 1, WorkspaceID: workspace, UserID: "u1",
		Segments: []events.CostSegment{{From: day, To: day.AddDate(0, 0, 1), Units: 1, Fraction: "1", Count: 1}},
		DayPrice: "240", UnitDays: "1", Period: "hour", EngineVersion: "rating-1", FirstEventID: 1, LastEventID: 1, Version: 1,
	}
}

func hashOf(first byte) string { return events.Hash{first}.String() }

// filledServer returns a billing server with some data for every operation.
func filledServer(t *testing.T) *billingServer {
	s := newBillingServer(t)
	s.project(lab, events.WorkspaceCreated{AccountID: mine, Name: "lab", Owner: "u1"})
	s.project(mine, events.CreditGranted{Amount: "100", Currency: "CREDIT"})
	s.project(mine, usage(1, 1, "start", 0, 2))
	storage := usage(2, 2, "start", 0, 1)
	storage.Meter, storage.RateName, storage.UserID, storage.WorkspaceID = "storage", "storage", "", ""
	storage.SandboxID, storage.SizeBytes, storage.ResourceType = "sb", 5, "results"
	s.project(mine, storage)
	s.project(mine, usage(3, 1, "stop", 2, 0))
	s.project(theirs, usage(4, 3, "start", 0, 1))
	s.project(mine, cost(1, "2026-04-15", "0.1", lab))
	s.project(mine, cost(2, "2026-04-15", "0.2", ""))
	s.project(mine, cost(3, "2026-04-16", "240", lab))
	s.project(theirs, cost(4, "2026-04-16", "7", lab))
	for i, name := range []string{"cluster", "storage", "tiered", "tiered"} {
		r := events.RateSet{
			RateID: int64(i + 1), Platform: "netsim", RateName: name, RateType: "unit", RateTypeRaw: "unit", Amount: "10.00",
			Currency: "CREDIT", Period: "hour", UnitName: "ranks", UnitSize: "1024", StartDate: "2026-01-01",
		}
		switch i {
		case 1:
			r.EndDate = "2026-03-01"
		case 2:
			r.RateType, r.TierEnd = "graduated", 10
		case 3:
			r.RateType, r.TierStart, r.AccountID = "graduated", 10, theirs
		}
		s.project("platform_netsim", r)
	}
	return s
}

func TestBillingLists(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, path, key, member string
		account                 string
		pages                   int
		want                    []string
	}{
		{"items, newest first", "items?limit=1", "items", "billingItemId", mine, 2, []string{"2", "1"}},
		{"items of the platform", "items?limit=2", "items", "billingItemId", "*", 2, []string{"3", "2", "1"}},
		{"active items", "items?status=active", "items", "billingItemId", mine, 1, []string{"2"}},
		{"closed items", "items?status=closed", "items", "billingItemId", mine, 1, []string{"1"}},
		{"items of a type", "items?eventType=storage", "items", "billingItemId", mine, 1, []string{"2"}},
		{"items of a workspace", "items?workspaceName=lab", "items", "billingItemId", mine, 1, []string{"1"}},
		{"items of a missing workspace", "items?workspaceName=none", "items", "billingItemId", mine, 1, nil},
		{"items of another account's workspace", "items?workspaceName=lab", "items", "billingItemId", theirs, 1, nil},
		{"events, newest first", "events?limit=2", "events", "billingEventId", mine, 2, []string{"3", "2", "1"}},
		{"events of a user", "events?userName=Ada", "events", "billingEventId", mine, 1, []string{"3", "1"}},
		{"events of a user without any", "events?userName=Bob", "events", "billingEventId", mine, 1, nil},
		{"events on a day", "events?startDate=2026-04-15&endDate=2026-04-15", "events", "billingEventId", mine, 1, []string{"3", "2", "1"}},
		{"events of days without any", "events?startDate=2026-04-01&endDate=2026-04-14", "events", "billingEventId", mine, 1, nil},
		{"costs by date and id", "costs?startDate=2026-04-01&endDate=2026-04-30&limit=2", "costs", "dailyCostId", mine, 2, []string{"1", "2", "3"}},
		{"costs of a day", "costs?startDate=2026-04-16&endDate=2026-04-16", "costs", "dailyCostId", mine, 1, []string{"3"}},
		{"costs of the platform", "costs?startDate=2026-04-16&endDate=2026-04-16", "costs", "dailyCostId", "*", 1, []string{"3", "4"}},
		{"costs of a workspace and user", "costs?startDate=2026-04-01&endDate=2026-04-30&workspaceName=lab&userName=Ada", "costs", "dailyCostId", mine, 1, []string{"1", "3"}},
		{"balances", "balance?limit=1", "balances", "currentBalance", mine, 1, []string{"-140.3"}},
		{"balances of the platform", "balance?limit=1", "balances", "accountType", "*", 2, []string{"prepaid", "postpaid"}},
		{"rates by name and tier", "rates?limit=1", "rates", "rateId", mine, 3, []string{"1", "2", "3"}},
		{"an account's own rates", "rates?limit=100", "rates", "rateId", theirs, 1, []string{"1", "2", "3", "4"}},
		{"rates on a day", "rates?date=2026-03-01", "rates", "rateId", mine, 1, []string{"1", "3"}},
		{"rates where a user is billed", "rates?userName=Ada", "rates", "rateId", "*", 1, []string{"1", "2", "3", "4"}},
		{"rates of another user", "rates?userName=Bob", "rates", "rateId", mine, 1, []string{"1", "2", "3"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := filledServer(t)
			s.caller.AccountID = tt.account
			if diff := cmp.Diff(tt.want, s.walk(tt.path, tt.key, tt.member, tt.pages)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.path, diff)
			}
		})
	}
}

func TestBillingRecords(t *testing.T) {
	t.Parallel()
	s := filledServer(t)
	item := s.get("items/1", http.StatusOK)
	want := map[string]any{
		"billingItemId": 1.0, "accountId": mine, "accountName": "Mine Labs", "platformName": "netsim", "itemName": "nightly",
		"rateName": "cluster", "eventType": "cluster", "eventAction": "stop", "quantity": 0.0, "workspaceId": lab, "workspaceName": "lab",
		"sandboxId": nil, "sandboxName": nil, "userId": "u1", "userName": "Ada", "status": "closed",
		"startTimestamp": "2026-04-15T10:00:01.000Z", "endTimestamp": "2026-04-15T10:00:03.000Z",
		"details":  map[string]any{"resourceType": "simulation", "resourceId": "sim_1", "ranks": 64.0, "engine": "builtin"},
		"metadata": map[string]any{"openedBy": 1.0, "lastChangedBy": 3.0, "closedBy": 3.0},
	}
	if diff := cmp.Diff(want, item); diff != "" {
		t.Errorf("item (-want +got):\n%s", diff)
	}
	rows, _ := s.get("events?userName=Ada", http.StatusOK)["events"].([]any)
	event, _ := rows[1].(map[string]any)
	if event["eventName"] != "simulation.started" || event["eventHash"] != "sha256:"+hashOf(1) {
		t.Errorf("got the event %v, want simulation.started with its hash", event)
	}
	want = map[string]any{
		"stream": mine, "sequence": 2.0, "previousHash": "sha256:" + hashOf(2), "causeId": "cause",
		"causeType": "netsim.simulation.started.v1", "resourceType": "simulation", "resourceId": "sim_1", "ranks": 64.0, "engine": "builtin",
	}
	if diff := cmp.Diff(want, event["details"]); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
	summary := s.get("costs/summary?startDate=2026-04-01&endDate=2026-04-30", http.StatusOK)
	want = map[string]any{
		"startDate": "2026-04-01", "endDate": "2026-04-30", "USD": nil,
		"CREDIT": map[string]any{
			"total": "240.3", "byRate": map[string]any{"cluster": "240.3"},
			"byWorkspace": map[string]any{lab: "240.1", "unassigned": "0.2"},
		},
	}
	if diff := cmp.Diff(want, summary); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
}

func TestBillingRefuses(t *testing.T) {
	t.Parallel()
	s := filledServer(t)
	first, _ := s.get("items?limit=1", http.StatusOK)["pagination"].(map[string]any)
	cursor := fmt.Sprint(first["nextCursor"])
	for _, tt := range []struct {
		name, path string
		status     int
	}{
		{"an item of another account", "items/3", http.StatusNotFound},
		{"a missing item", "items/99", http.StatusNotFound},
		{"an item id that is not a number", "items/x", http.StatusNotFound},
		{"an unknown status", "items?status=open", http.StatusBadRequest},
		{"a cursor of another list", "events?cursor=" + cursor, http.StatusBadRequest},
		{"a cursor with another filter", "items?status=active&cursor=" + cursor, http.StatusBadRequest},
		{"a malformed cursor", "items?cursor=abc", http.StatusBadRequest},
		{"a limit above the maximum", "items?limit=101", http.StatusBadRequest},
		{"a limit of balances above the maximum", "balance?limit=1001", http.StatusBadRequest},
		{"costs without dates", "costs", http.StatusBadRequest},
		{"a date that does not exist", "costs?startDate=2026-02-30&endDate=2026-03-01", http.StatusBadRequest},
		{"an inverted range", "costs?startDate=2026-03-02&endDate=2026-03-01", http.StatusBadRequest},
		{"367 days", "costs/summary?startDate=2025-01-01&endDate=2026-01-02", http.StatusBadRequest},
		{"366 days", "costs/summary?startDate=2025-01-01&endDate=2026-01-01", http.StatusOK},
		{"an inverted range of events", "events?startDate=2026-04-21", http.StatusBadRequest},
		{"a bad date of rates", "rates?date=yesterday", http.StatusBadRequest},
	} {
		s.get(tt.path, tt.status)
		if t.Failed() {
			t.Fatalf("case %q", tt.name)
		}
	}
	s.caller.AccountID = "*"
	s.get("items/3", http.StatusOK)
	s.get("items?cursor="+cursor, http.StatusBadRequest) // the cursor of a caller with another scope
}

func TestBillingRecordsQueriesByName(t *testing.T) {
	t.Parallel()
	s := filledServer(t)
	s.get("rates?userName=Ada", http.StatusOK)
	s.get("rates", http.StatusOK)
	s.get("events?userName=Nobody", http.StatusOK)
	s.caller.AccountID = "*"
	s.get("costs?startDate=2026-04-01&endDate=2026-04-30&userName=Bob", http.StatusOK)
	want := []string{
		"auditor ListRates userName u1 on " + mine, "auditor ListBillingEvents userName  on " + mine, "auditor ListCosts userName u2 on ",
	}
	if diff := cmp.Diff(want, s.logged); diff != "" {
		t.Errorf("logged (-want +got):\n%s", diff)
	}
}

// TestARateWithoutAUnitSize: a unit size that is not a number is an error, not 0.
func TestARateWithoutAUnitSize(t *testing.T) {
	t.Parallel()
	s := newBillingServer(t)
	s.project("platform_netsim", events.RateSet{
		RateID: 1, Platform: "netsim", RateName: "cluster", RateType: "unit", RateTypeRaw: "unit", Amount: "10.00",
		Currency: "CREDIT", Period: "hour", UnitName: "ranks", UnitSize: "many", StartDate: "2026-01-01",
	})
	s.get("rates", http.StatusInternalServerError)
}

// TestBillingWithoutItsStore: while the read store does not answer, every
// operation returns BAD_GATEWAY.
func TestBillingWithoutItsStore(t *testing.T) {
	t.Parallel()
	s := newBillingServer(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close() //nolint:errcheck // only its address is used
	gone, err := pgxpool.New(t.Context(), fmt.Sprintf("postgres://nobody@%s/none", listener.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(gone.Close)
	s.serve(gone)
	dates := "?startDate=2026-04-01&endDate=2026-04-30"
	for _, path := range []string{"balance", "costs" + dates, "costs/summary" + dates, "items", "items/1", "events", "rates", "rates?userName=Ada"} {
		body := s.get(path, http.StatusBadGateway)
		if refusal, _ := body["error"].(map[string]any); refusal["code"] != "BAD_GATEWAY" {
			t.Errorf("%s: got %v, want the code BAD_GATEWAY", path, body)
		}
	}
}
