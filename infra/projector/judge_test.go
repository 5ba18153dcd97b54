package projector

import (
	"testing"
	"time"

	"netsim/commands"
	"netsim/events"
)

// A record that is judged again is parked for what holds then, not for what held before.
func TestAParkReasonIsOfTheLastJudgement(t *testing.T) {
	t.Parallel()
	id := events.NewID(events.WorkspacePrefix)
	value, err := events.Encode(events.WorkspaceCreated{AccountID: "acct", Owner: "tester", Name: "one"})
	if err != nil {
		t.Fatal(err)
	}
	m, _ := events.Frame{
		ID: events.NewID("event"), Type: events.WorkspaceCreated{}.EventType(), Stream: id, PartitionKey: id,
		Sequence: 1, Time: time.Unix(1e9, 0), Actor: "tester", DataVersion: 1,
	}.Message(value)
	p := New(Config{ReadState: func(stream string, stored []byte) (State, error) { return commands.ReadState(stream, stored) }})
	p.counts = map[events.Family]int32{events.Workspaces: 1}
	at := &partitionState{family: events.Workspaces}
	batch := []chunk{{at, make([]item, 1)}}
	it := &batch[0].items[0]
	it.read(at.family, events.Record{Message: m}, p.Config)
	judge := func(on *stream) (applied int) {
		t.Helper()
		it.stream = on
		facts, _, _, err := p.judge(batch)
		if err != nil || it.verdict != events.Accepted {
			t.Fatalf("the verdict is %s, %v", it.verdict, err)
		}
		return len(facts)
	}
	if n := judge(&stream{parked: true}); n != 0 || it.parkReason != behindParked {
		t.Errorf("behind a parked event, %d facts are applied and the reason is %q", n, it.parkReason)
	}
	if n := judge(&stream{}); n != 1 || it.parkReason != "" {
		t.Errorf("on a stream that is released, %d facts are applied and the reason is %q", n, it.parkReason)
	}
	it.refused = "a projection refused it"
	if n := judge(&stream{}); n != 0 || it.parkReason != it.refused {
		t.Errorf("refused by a projection, %d facts are applied and the reason is %q", n, it.parkReason)
	}
}
