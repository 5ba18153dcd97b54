package operate_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/cmd/operate"
	"netsim/commands"
	"netsim/internal/servicetest"
)

func limit(name string, n int64) map[string]*int64 { return map[string]*int64{name: &n} }

// TestQuotasOfAnOperator: the operator's commands show the quotas that were set, and
// refuse invalid ones.
func TestQuotasOfAnOperator(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	tools, err := operate.OpenTools(t.Context(), p.Config, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer tools.Close()
	p.SetQuotas(t, account, limit("streams.open", 7))
	p.SetQuotas(t, account, limit("uploads.day", 0))
	q, err := tools.Quotas(t.Context(), account)
	if diff := cmp.Diff(operate.Quotas{Settings: commands.DefaultQuotas(), Set: map[string]int64{"streams.open": 7, "uploads.day": 0}}, q); diff != "" || err != nil {
		t.Errorf("quotas (-want +got), %v:\n%s", err, diff)
	}
	for _, tt := range []struct {
		account, name string
		limit         int64
		want          string
	}{
		{"acct_1", "streams.open", 1, `"acct_1" is not an account id`},
		{account, "streams", 1, `quota "streams" is unknown: requests.content, requests.heavy, `},
		{account, "streams.open", -1, "quota streams.open must be between 0 and 999999999999999, got -1"},
	} {
		if err := tools.SetQuotas(t.Context(), tt.account, limit(tt.name, tt.limit)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %s=%d: %v, want %q", tt.account, tt.name, tt.limit, err, tt.want)
		}
	}
}
