package events

import (
	"testing"
	"time"
)

// benchFrame returns a frame of the usual size, and the value of a simulation's
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

// BenchmarkMessage measures making a record and its hash, which every append does
// before it reaches the event log.
func BenchmarkMessage(b *testing.B) {
	f, value := benchFrame(b)
	b.ReportAllocs()
	for b.Loop() {
		f.Message(value)
	}
}

// BenchmarkReadFrame measures reading a frame and computing its hash, which every
// reader does for every record.
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

// BenchmarkDecode measures decoding an event's data.
func BenchmarkDecode(b *testing.B) {
	f, value := benchFrame(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(f.Type, value); err != nil {
			b.Fatal(err)
		}
	}
}
