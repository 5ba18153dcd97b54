package service_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/events"
	"netsim/internal/service"
	"netsim/internal/service/servicetest"
)

// TestGrant: a reference is granted once. Repeating it is reported, and an
// ambiguous one is refused.
func TestGrant(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	tools, err := service.OpenTools(t.Context(), p.Config, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer tools.Close()
	for _, tt := range []struct {
		name, account, amount, reference string
		granted                          bool
		want                             string // of the error
	}{
		{"the first", account, "5", "invoice-1", true, ""},
		{"the reference again", account, "6", "invoice-1", false, ""},
		{"another reference", account, "0.5", "invoice-2", true, ""},
		{"no reference", account, "5", "", false, "a reference is required"},
		{"a blank one", account, "5", " ", false, "a reference is required"},
		{"nothing", account, "0", "r", false, "amount 0 is not above 0"},
		{"less than nothing", account, "-5", "r", false, "amount -5 is not above 0"},
		{"no decimal", account, "1e5", "r", false, `"1e5" is not a decimal number`},
		{"no account", "acct_1", "5", "r", false, `"acct_1" is not an account id`},
	} {
		granted, err := tools.Grant(t.Context(), tt.account, events.CreditGranted{Amount: tt.amount, Currency: "CREDIT", Reference: tt.reference})
		if granted != tt.granted || (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: granted %v, %v; want %v, %q", tt.name, granted, err, tt.granted, tt.want)
		}
	}
	balance := p.Service(t, account).Get("/api/v1/billing/balance").Want(200)
	if !strings.Contains(string(balance.Body), `"totalCredits":"5.5"`) {
		t.Errorf("the balance: %s", balance.Body)
	}
}

// TestTheBalanceOfAnAccountWithoutCredit is a record of 0, on the first page.
func TestTheBalanceOfAnAccountWithoutCredit(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	list := p.Service(t, account).Get("/api/v1/billing/balance").Want(200).Object()["balances"].([]any)
	if len(list) != 1 {
		t.Fatalf("balances %v", list)
	}
	got := list[0].(map[string]any)
	delete(got, "updatedAt")
	delete(got, "accountName")
	want := map[string]any{
		"accountId": account, "accountType": "prepaid", "currency": "CREDIT", "totalCredits": "0", "totalDebits": "0", "currentBalance": "0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("balance (-want +got):\n%s", diff)
	}
}
