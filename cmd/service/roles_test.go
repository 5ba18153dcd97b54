package service

import (
	"context"
	"errors"
	"strings"
	"testing"

	"netsim/internal/testworld"
)

// TestPartEndsByItself: a part that ends before it is asked to gives an error with its
// name, even if it returned none. A part that is asked to end gives no error.
func TestPartEndsByItself(t *testing.T) {
	t.Parallel()
	s := &launch{log: testworld.Silent()}
	broken := errors.New("the log is gone")
	for name, test := range map[string]struct {
		end  error
		want string
	}{
		"without a reason": {nil, "the workers ended unexpectedly: it gave no reason"},
		"with a reason":    {broken, "the workers ended unexpectedly: the log is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := s.part(t.Context(), "the workers", func(context.Context) error { return test.end })()
			if err == nil || !strings.Contains(err.Error(), test.want) || test.end != nil && !errors.Is(err, test.end) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
	ctx, end := context.WithCancel(t.Context())
	err := s.part(ctx, "the workers", func(context.Context) error { end(); return nil })()
	if err != nil {
		t.Errorf("a part that was asked to end: got %v, want nil", err)
	}
}
