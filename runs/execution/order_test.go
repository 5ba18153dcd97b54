package execution_test

import (
	"testing"

	"netsim/runs/execution"
)

// TestAConfigurationIsParsedOnce: every reader of an order gets the same document, copies of
// the order too, and the error of a text that is none.
func TestAConfigurationIsParsedOnce(t *testing.T) {
	t.Parallel()
	order := execution.Order{Document: `{"topology": {}}`}
	first, err := order.Configuration()
	if err != nil {
		t.Fatal(err)
	}
	order.DurationNs = 1
	again := order
	if second, err := again.Configuration(); err != nil || second != first {
		t.Errorf("the second reader got %p (%v), want %p", second, err, first)
	}
	none := execution.Order{Document: "x"}
	for range 2 {
		if _, err := none.Configuration(); err == nil {
			t.Error("a text that is no document was parsed")
		}
	}
}
