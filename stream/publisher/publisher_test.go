package publisher

import (
	"testing"

	"netsim/internal/testworld"
)

// Public topics have the facts, those from before the publisher and later ones, and
// nothing else.
func TestFactsOnly(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	makeFacts(t, w, 4, 3)
	start(t, configOf(w))
	awaitPublished(t, w)
	makeFacts(t, w, 4, 3)
	awaitPublished(t, w)
	equalToLog(t, w)
}
