package service

import (
	"context"
	"testing"
)

// TestACommandWithoutATraceCostsNothing: without a trace a command allocates no memory
// for tracing.
func TestACommandWithoutATraceCostsNothing(t *testing.T) {
	ctx := context.WithValue(t.Context(), commandSpan{}, nil)
	if n := testing.AllocsPerRun(100, func() { commandBegins(ctx, "UpdateWorkspace", "ws_1") }); n != 0 {
		t.Errorf("a command without a trace allocates %g times, want 0", n)
	}
}
