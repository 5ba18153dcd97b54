package events

import (
	"testing"
	"time"
)

// benchFrame is a frame of the usual size, with the value of a simulation's
// start.
func benchFrame(b *testing.B) (Frame, []byte) {
	b.Helper()
	data := SimulationStarted{Engine: "builtin", RunID: "0192e4a0-7c1e-7b3a-9a55-3f1a52d6c001", Ranks: 1024}
	value, err := Encode(data)
	if err != nil {
		b.Fatal(err)
	}
	return Frame{
		ID: "0192e4a0-7c1e-7b3a-9a55-3f1a52d6c001", Type: data.EventType(),
		Stream: NewID(SimulationPrefix), PartitionKey: DefaultWorkspace, Sequence: 2,
		PreviousHash: Hash{1}, CommandID: "0192e4a0-7c1e-7b3a-9a55-3f1a52d6c002",
		Time: time.Unix(1_790_000_000, 0), Actor: "user", DataVersion: 1,
	}, value
}

// BenchmarkMessage makes a record and its hash: what an append costs before the
// event log.
func BenchmarkMessage(b *testing.B) {
	f, value := benchFrame(b)
	b.ReportAllocs()
	for b.Loop() {
		f.Message(value)
	}
}

// BenchmarkReadFrame reads a frame and its hash: what every record costs every
// reader.
func BenchmarkReadFrame(b *testing.B) {
	f, value := benchFrame(b)
	m, _ := f.Message(value)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := ReadFrame(&m); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDecode reads an event's data.
func BenchmarkDecode(b *testing.B) {
	f, value := benchFrame(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(f.Type, value); err != nil {
			b.Fatal(err)
		}
	}
}
