package jobs

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestCanceledStatementsAreNotLogged(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	log := slog.New(withoutCanceled{slog.NewTextHandler(&text, nil)}).With("a", 1).WithGroup("g")
	log.Error("canceled", "error", context.Canceled)
	log.Error("canceled", "error", fmt.Errorf("begin: %w", context.Canceled))
	log.Error("canceled", "b", 2, "err", context.Canceled.Error())
	log.Error("late", "error", context.DeadlineExceeded)
	log.Info("other", "b", 2)
	if got := text.String(); strings.Contains(got, "canceled") || !strings.Contains(got, "late") || !strings.Contains(got, "other") {
		t.Errorf("logged:\n%s", got)
	}
}
