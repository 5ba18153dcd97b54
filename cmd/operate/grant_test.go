package operate_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/cmd/operate"
	"netsim/events"
	"netsim/internal/servicetest"
)

// TestGrant: a reference is granted once, and a repetition is reported. Invalid grants
// are refused.
func TestGrant(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	tools, err := operate.OpenTools(t.Context(), p.Config, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer tools.Close()
	for _, tt := range []struct {
		name, account, amount, reference string
		granted                          bool
		want                             string // part of the error
	}{
		{"the first", account, "5", "invoice-1", true, ""},
		{"the reference again", account, "6", "invoice-1", false, ""},
		{"another reference", account, "0.5", "invoice-2", true, ""},
		{"no reference", account, "5", "", false, "a reference is required"},
		{"a blank reference", account, "5", " ", false, "a reference is required"},
		{"an amount of 0", account, "0", "r", false, "amount 0 is not above 0"},
		{"a negative amount", account, "-5", "r", false, "amount -5 is not above 0"},
		{"not a decimal", account, "1e5", "r", false, `"1e5" is not a decimal number`},
		{"not an account id", "acct_1", "5", "r", false, `"acct_1" is not an account id`},
	} {
		granted, err := tools.Grant(t.Context(), tt.account, events.CreditGranted{Amount: tt.amount, Currency: "CREDIT", Reference: tt.reference})
		if granted != tt.granted || (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: granted %v, %v; want %v, %q", tt.name, granted, err, tt.granted, tt.want)
		}
	}
	balance := p.Service(t, account).Get("/api/v1/billing/balance").Want(200)
	if !strings.Contains(string(balance.Body), `"totalCredits":"5.5"`) {
		t.Errorf("the balance is %s", balance.Body)
	}
}

// TestTheBalanceOfAnAccountWithoutCredit: an account without credit has a balance of 0 on
// the first page.
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
