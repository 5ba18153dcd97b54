package billing_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/billing"
	"netsim/events"
)

func TestAccessIsLogged(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	access := events.AccessLogged{Caller: "auditor", Operation: "listRates", FilterKey: "userName"}
	if err := (&billing.AccessLog{Commands: b.handler}).Record(t.Context(), account, "request-1", access); err != nil {
		t.Fatal(err)
	}
	want := []string{"granted 100000 CREDIT", "auditor looked up by userName in listRates"}
	if diff := cmp.Diff(want, b.recorded(account)); diff != "" {
		t.Errorf("books (-want +got):\n%s", diff)
	}
}
