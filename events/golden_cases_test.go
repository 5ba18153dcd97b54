package events

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// goldenFrame returns the frame of a stream's event with a sequence and the hash
// of the previous event.
func goldenFrame(stream string, sequence int64, previous Hash) Frame {
	return Frame{
		ID: fmt.Sprintf("0192e4a0-7c1e-7b3a-9a55-%012d", sequence), Type: "netsim.simulation.started.v1",
		Stream: stream, PartitionKey: "workspace_a", Sequence: sequence, PreviousHash: previous,
		Time: time.Date(2026, 11, 21, 3, 4, 5, 678e6, time.UTC), DataVersion: 1,
	}
}

// goldenHashes returns events of every form.
func goldenHashes() (out []goldenHash) {
	add := func(note string, f Frame, value []byte) {
		m, hash := f.Message(value)
		g := goldenHash{newGoldenRecord(note, m), hashedBytes(&m)}
		g.Hash = hash.String()
		out = append(out, g)
	}
	add("the first event of a stream, nothing optional", goldenFrame("sim_a", 1, Hash{}), []byte("{}"))

	full := goldenFrame("sim_a", 2, Hash{0: 0xab, 31: 0x01})
	full.CommandID, full.CommandDigest = "command-1", "digest"
	full.Actor, full.CorrelationID, full.CauseID = "user-1", "request-1", "event-1"
	add("every field", full, []byte(`{"name":"Zürich"}`))

	last := goldenFrame("sim_a", maxSequence, Hash{1})
	last.DataVersion, last.Time = 1<<31-1, time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC)
	add("the largest numbers, the last instant", last, []byte("x"))

	early := goldenFrame("~!#", 1, Hash{})
	early.Time = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	add("the first instant, odd characters, a value that is no text", early, []byte{0, 1, 2, 0xff})
	return out
}

// goldenLog collects the records of a golden case.
type goldenLog struct{ goldenCase }

func (l *goldenLog) add(note string, m Message) {
	l.Records = append(l.Records, newGoldenRecord(note, m))
}

// event adds an event and returns its hash.
func (l *goldenLog) event(note, stream string, sequence int64, previous Hash, value string) Hash {
	m, hash := goldenFrame(stream, sequence, previous).Message([]byte(value))
	l.add(note, m)
	return hash
}

// goldenCases returns the records of the golden file. Every note begins with the
// verdict that follows from the text of the rule.
func goldenCases() []goldenCase {
	return []goldenCase{arbitration(), placement(), badFrames()}
}

func newGoldenLog(name string) *goldenLog {
	return &goldenLog{goldenCase{Name: name, Partitions: 1}}
}

func arbitration() goldenCase {
	l := newGoldenLog("arbitration")
	none := Hash{}
	a1 := l.event("accepted: the first of a stream", "sim_a", 1, none, "1")
	l.event("duplicate: the producer's retry", "sim_a", 1, none, "1")
	l.event("stale: another first event, later in the log", "sim_a", 1, none, "other")
	a2 := l.event("accepted: on top of the first", "sim_a", 2, a1, "2")
	l.event("duplicate: the head once more", "sim_a", 2, a1, "2")
	l.event("stale: the first once more, now behind the head", "sim_a", 1, none, "1")
	lost := l.event("stale: a slow writer that saw the first", "sim_a", 2, a1, "slow")
	l.event("broken: pipelined behind the lost one", "sim_a", 3, lost, "3")
	l.event("gap: and what was pipelined behind that", "sim_a", 4, a2, "4")
	l.event("gap: a stream that begins at 2", "sim_b", 2, a1, "2")
	a3 := l.event("accepted: decided again from the head", "sim_a", 3, a2, "3")
	b1 := l.event("accepted: another stream begins", "sim_b", 1, none, "1")
	l.event("broken: the other stream's hash", "sim_b", 2, a3, "2")
	l.event("accepted: the right one", "sim_b", 2, b1, "2")
	l.event("broken: the hash before the head's", "sim_a", 4, a2, "4")
	unread := goldenFrame("sim_a", 4, a3)
	unread.Type, unread.DataVersion = "netsim.nobody.knows.v9", 9
	m, a4 := unread.Message([]byte("\x00 not JSON"))
	l.add("accepted: a body and a type that nobody can read", m)
	l.event("gap: the largest sequence", "sim_a", maxSequence, a4, "x")

	full := goldenFrame("sim_a", 5, a4)
	full.CommandID, full.CommandDigest, full.Actor = "command-1", "digest", "user-1"
	full.CorrelationID, full.CauseID = "request-1", "event-1"
	m, _ = full.Message([]byte("5"))
	m.Headers = append(m.Headers,
		Header{"ce_unknown", []byte("not of the frame")}, Header{"ce_unknown", nil}, Header{"CE_ID", []byte("case matters")})
	slices.Reverse(m.Headers)
	l.add("accepted: every field, headers in another order and foreign ones between", m)
	m, _ = full.Message([]byte("5"))
	l.add("duplicate: the same without the foreign headers", m)
	full.Actor = ""
	m, _ = full.Message([]byte("5"))
	l.add("stale: the same without its actor is another event", m)
	return l.goldenCase
}

func placement() goldenCase {
	const count = 7
	here := PartitionOf("workspace_a", count)
	l := newGoldenLog("placement")
	l.Partition, l.Partitions = here, count
	a1 := l.event("accepted: in the partition of its key", "sim_a", 1, Hash{}, "1")
	other := goldenFrame("sim_a", 2, a1)
	for key := byte('b'); PartitionOf(other.PartitionKey, count) == here; key++ {
		other.PartitionKey = "workspace_" + string(key)
	}
	m, _ := other.Message([]byte("2"))
	l.add("misplaced: the right sequence and hash, another partition's key", m)
	l.add("misplaced: and once more", m)
	l.event("accepted: the misplaced one was none", "sim_a", 2, a1, "2")
	return l.goldenCase
}

// badFrames has a fact, then records whose frames cannot be read, and at the end the
// next fact. Most of the bad frames differ from that of the next fact in one value.
func badFrames() goldenCase {
	l := newGoldenLog("bad frames")
	a1 := l.event("accepted: the head", "sim_a", 1, Hash{}, "1")
	damage := func(what string, change func(*Message)) {
		f := goldenFrame("sim_a", 2, a1)
		f.Actor = "user-1"
		m, _ := f.Message([]byte("2"))
		change(&m)
		l.add("bad-frame: "+what, m)
	}
	set := func(name, value string) func(*Message) {
		return func(m *Message) { m.Headers[headerAt(m, name)].Value = []byte(value) }
	}
	for i, name := range frameHeaders {
		if requiredFields&(1<<i) != 0 || name == "ce_previoushash" {
			damage("no "+name, func(m *Message) {
				at := headerAt(m, name)
				m.Headers = append(m.Headers[:at], m.Headers[at+1:]...)
			})
		}
	}
	damage("a header twice, equal", func(m *Message) { m.Headers = append(m.Headers, m.Headers[headerAt(m, "ce_id")]) })
	damage("an optional header twice, different", func(m *Message) {
		m.Headers = append(m.Headers, Header{"ce_actor", []byte("user-2")})
	})
	damage("an optional header that is empty", set("ce_actor", ""))
	damage("an optional header that is null", func(m *Message) { m.Headers[headerAt(m, "ce_actor")].Value = nil })
	damage("513 bytes", set("ce_actor", strings.Repeat("x", 513)))
	damage("a space", set("ce_actor", "user 1"))
	damage("a line feed at the end", set("ce_actor", "user-1\n"))
	damage("letters beyond ASCII", set("ce_actor", "Zürich"))
	damage("bytes that are no text", set("ce_actor", "\xff\xfe"))
	for _, version := range []string{"0", "2", "01", "1.0"} {
		damage("frame version "+version, set("ce_frameversion", version))
	}
	for _, sequence := range []string{"0", "02", "+2", "-2", "2.0", "2e0", "0x2", "2_0", "two", "9007199254740992", "99999999999999999999999", "18446744073709551618"} {
		damage("sequence "+sequence, set("ce_sequence", sequence))
	}
	for _, version := range []string{"0", "01", "2147483648", "v1"} {
		damage("data version "+version, set("ce_dataversion", version))
	}
	damage("a previous hash in capitals", set("ce_previoushash", strings.ToUpper(a1.String())))
	damage("a previous hash that is short", set("ce_previoushash", a1.String()[1:]))
	damage("a previous hash that is long", set("ce_previoushash", a1.String()+"0"))
	damage("a previous hash that is no hex", set("ce_previoushash", "g"+a1.String()[1:]))
	damage("a previous hash of zeros", set("ce_previoushash", strings.Repeat("0", 64)))
	damage("sequence 1 with a previous hash", set("ce_sequence", "1"))
	for _, at := range []string{
		"2026-11-21T03:04:05Z", "2026-11-21T03:04:05.67Z", "2026-11-21T03:04:05.6789Z", "2026-11-21T03:04:05,678Z",
		"2026-11-21T03:04:05.678+00:00", "2026-11-21T03:04:05.678z", "2026-11-21t03:04:05.678Z", "2026-11-21T3:04:05.678Z",
		"2026-11-21T24:00:00.000Z", "2026-11-21T03:60:00.000Z", "2026-11-21T23:59:60.000Z", "2026-02-29T03:04:05.678Z",
		"2026-13-01T03:04:05.678Z", "2026-00-01T03:04:05.678Z", "2026-11-00T03:04:05.678Z", "0000-01-01T00:00:00.000Z",
		"12026-11-21T03:04:05.67Z", "-026-11-21T03:04:05.678Z", "+026-11-21T03:04:05.678Z", "1790000000000", "yesterday",
	} {
		damage("time "+at, set("ce_time", at))
	}
	damage("a key that is another stream", func(m *Message) { m.Key = []byte("sim_b") })
	damage("a key that is empty", func(m *Message) { m.Key = []byte{} })
	damage("a key that is null", func(m *Message) { m.Key = nil })
	damage("a key with a line feed", func(m *Message) { m.Key = []byte("sim_a\n") })
	damage("a value that is empty", func(m *Message) { m.Value = []byte{} })
	damage("a value that is null", func(m *Message) { m.Value = nil })
	l.add("bad-frame: nothing at all", Message{})
	l.add("bad-frame: a record that is no event", Message{Key: []byte("sim_a"), Value: []byte("hello")})

	leap := goldenFrame("sim_a", 2, a1)
	leap.Actor = strings.Repeat("~", 512)
	m, _ := leap.Message([]byte("2"))
	set("ce_time", "2028-02-29T00:00:00.000Z")(&m)
	l.add("accepted: 512 bytes, a leap day", m)
	return l.goldenCase
}

func headerAt(m *Message, name string) int {
	for i := range m.Headers {
		if m.Headers[i].Key == name {
			return i
		}
	}
	panic("no header " + name)
}
