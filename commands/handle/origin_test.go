package handle_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/commands/handle"
	"netsim/events"
)

// TestOrigins has literal command ids: logs hold them, so they must never change.
func TestOrigins(t *testing.T) {
	t.Parallel()
	fact := func(actor string) *events.Fact {
		return &events.Fact{Event: events.Event{Frame: events.Frame{
			ID: "fact_1", Stream: "sim_1", Actor: actor, CorrelationID: "request_1",
		}}}
	}
	const start, unfold = "b540b5c1-2b95-8690-8215-3fe131648bf2", "686b9d56-701a-8cbb-bb23-200db06428db"
	request := handle.Origin{Actor: "ada", CommandID: "key", CommandDigest: "digest", CorrelationID: "request_1", CauseID: "fact_1"}
	for _, tt := range []struct {
		name      string
		got, want handle.Origin
	}{
		{"system", handle.System(), handle.Origin{Actor: "system"}},
		{"system, once", handle.System("sim_1", "start"), handle.Origin{Actor: "system", CommandID: start}},
		{"caused by a fact", handle.System("sim_1", "start").CausedBy(fact("ada")),
			handle.Origin{Actor: "system", CommandID: start, CorrelationID: "request_1", CauseID: "fact_1"}},
		{"because of a person's fact", handle.Because(fact("ada"), "unfold"),
			handle.Origin{Actor: "ada", CommandID: unfold, CorrelationID: "request_1", CauseID: "fact_1"}},
		{"because of a fact without an actor", handle.Because(fact(""), "unfold"),
			handle.Origin{Actor: "system", CommandID: unfold, CorrelationID: "request_1", CauseID: "fact_1"}},
		{"a step of a request", request.Derive("sim_1", "start"),
			handle.Origin{Actor: "ada", CommandID: start, CorrelationID: "request_1", CauseID: "fact_1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, tt.got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestKeyedOrigins has literal ids and digests for the same reason.
func TestKeyedOrigins(t *testing.T) {
	t.Parallel()
	request := handle.Origin{Actor: "ada", CorrelationID: "request_1"}
	for key, want := range map[string]handle.Origin{
		"": request,
		"key": {Actor: "ada", CorrelationID: "request_1", CommandID: "f981b683-d930-8cff-a0c3-98542caad847",
			CommandDigest: "c8b76b15cc0692e2296b8da8d0563ffabe2bafd27839edc87b6b46467589f196"},
	} {
		got, err := request.Keyed("acct_1", "UpdateWorkspace", "workspace_1", key, struct{ Name string }{"mine"})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("key %q (-want +got):\n%s", key, diff)
		}
	}
}
