package handle_test

import (
	"testing"
	"testing/synctest"

	"netsim/events"
	"netsim/fault"
)

// TestAHeldTypeIsNotWritten: an event of a type that an older release may not know is not
// appended before the level of the deployment allows it. Other types are.
func TestAHeldTypeIsNotWritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(t)
		level := 1
		p.handler.Held = func(eventType string) bool { return level < 2 && eventType == events.WorkspaceUpdated{}.EventType() }
		if _, err := p.rename("held"); !fault.Is(err, fault.Unavailable) {
			t.Errorf("a held event: %v, want Unavailable", err)
		}
		if n := len(p.log.records); n != 1 {
			t.Errorf("the log has %d records, want only the one from before", n)
		}
		level = 2
		if result, err := p.rename("written"); err != nil || result.Event == nil {
			t.Errorf("after the raise: %+v, %v; want an event", result, err)
		}
	})
}
