package operate_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"netsim/cmd/operate"
	"netsim/cmd/service"
	"netsim/events"
	"netsim/infra/projector"
	"netsim/internal/servicetest"
	"netsim/internal/testworld"
)

// TestOperationsAreFacts: an operation is recorded in the log of a running service, without
// the secrets of the settings. The operation that ends an upgrade is recorded after it. In
// an empty log none is recorded.
func TestOperationsAreFacts(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t)
	tools := openTools(t, p.Config)
	record := func(command string, run func() error) error {
		o := operate.Operation{Command: command, Arguments: []string{"to=" + p.Config.S3SecretKey}}
		return tools.Record(t.Context(), o, func(reason string) { t.Errorf("%s: not recorded, because %s", command, reason) }, run)
	}
	if err := record("succeeds", func() error { return nil }); err != nil {
		t.Error(err)
	}
	broken := errors.New("broken")
	if err := record("fails", func() error { return broken }); !errors.Is(err, broken) {
		t.Errorf("the error is %v, want that of the operation", err)
	}
	execute(t, p.Config.Postgres, `DELETE FROM netsim.release_level`)
	setMark(t, p.Config, projector.Live, "")
	if err := record("upgrade finish", func() error { _, err := tools.FinishUpgrade(t.Context()); return err }); err != nil {
		t.Error(err)
	}
	outcomes := map[string]string{}
	testworld.Await(t, func() bool {
		list, err := tools.Acts(t.Context(), 10)
		if err != nil {
			t.Fatal(err)
		}
		ended := 0
		for _, o := range list.Items {
			if outcomes[o.Command] = string(o.Outcome); o.EndedAt != nil {
				ended++
			}
			if o.Operator != tools.Operator() || strings.Contains(strings.Join(o.Arguments, " "), p.Config.S3SecretKey) || o.Release == "" {
				t.Errorf("the operation is %+v, want its operator and release, and no secret", o)
			}
		}
		return list.Total == 3 && ended == 3
	})
	for command, want := range map[string]string{
		"succeeds": events.OperationSucceeded, "fails": events.OperationFailed, "upgrade finish": events.OperationSucceeded,
	} {
		if outcomes[command] != want {
			t.Errorf("%s: %q, want %s", command, outcomes[command], want)
		}
	}

	empty := servicetest.Config(t)
	if err := service.Migrate(t.Context(), empty, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	tools = openTools(t, empty)
	reason := ""
	if err := tools.Record(t.Context(), operate.Operation{Command: "migrate"}, func(why string) { reason = why }, func() error { return nil }); err != nil || !strings.Contains(reason, "the log is empty") {
		t.Errorf("in an empty log: %v, reason %q", err, reason)
	}
}
