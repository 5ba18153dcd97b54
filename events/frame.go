package events

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"sync"
	"time"
)

// Hash is the SHA-256 of an event. The zero Hash precedes a stream's first event.
type Hash [sha256.Size]byte

// String returns the hash in lower-case hex, and "" for the zero Hash.
func (h Hash) String() string {
	if h == (Hash{}) {
		return ""
	}
	return hex.EncodeToString(h[:])
}

// Header is one header of a record.
type Header struct {
	Key   string
	Value []byte
}

// Message is the key, value and headers of a record.
type Message struct {
	Key     []byte
	Value   []byte
	Headers []Header
}

// Record is a message with its position in the log.
type Record struct {
	Message
	Topic     string
	Partition int32
	Offset    int64
	Time      time.Time // when the broker appended it (LogAppendTime)
}

// Frame is the part of a record that arbitration reads.
type Frame struct {
	ID            string    // ce_id: the event, a UUID
	Type          string    // ce_type: such as netsim.simulation.started.v1
	Stream        string    // ce_subject and the record's key: the aggregate's id
	PartitionKey  string    // ce_partitionkey: what the partition is computed from
	Sequence      int64     // ce_sequence: 1, 2, 3 … within the stream
	PreviousHash  Hash      // ce_previoushash: of the event before; absent at sequence 1
	CommandID     string    // ce_commandid: the same for a repeated command; may be ""
	CommandDigest string    // ce_commanddigest: of the command's body; may be ""
	Time          time.Time // ce_time: when it happened, UTC, milliseconds
	Actor         string    // ce_actor: a user's id, or System
	CorrelationID string    // ce_correlationid: the request that led to it; may be ""
	CauseID       string    // ce_causeid: the event that this one reacts to; may be ""
	DataVersion   int       // ce_dataversion: of the data's schema
}

// TimeLayout is the only form of a time in frames and in log checkpoints.
const TimeLayout = "2006-01-02T15:04:05.000Z"

// frameHeaders lists the headers of the frame, in the order in which they are
// hashed.
var frameHeaders = [...]string{
	"ce_frameversion", "ce_id", "ce_type", "ce_subject", "ce_partitionkey",
	"ce_sequence", "ce_previoushash", "ce_commandid", "ce_commanddigest",
	"ce_time", "ce_actor", "ce_correlationid", "ce_causeid", "ce_dataversion",
}

const (
	frameVersion   = "1"
	hashDomain     = "netsim.frame.v1\n"
	maxFrameValue  = 512
	maxSequence    = 1<<53 - 1
	requiredFields = 1<<0 | 1<<1 | 1<<2 | 1<<3 | 1<<4 | 1<<5 | 1<<9 | 1<<13
)

// PartitionOf returns the partition, of count, that a partition key belongs
// to: FNV-1a, 32 bit, modulo the count.
func PartitionOf(key string, count int32) int32 {
	h := fnv.New32a()
	h.Write([]byte(key))
	return int32(h.Sum32() % uint32(count))
}

// Message returns the record of an event whose data is value, and its hash.
func (f Frame) Message(value []byte) (Message, Hash) {
	values := f.values()
	m := Message{Key: []byte(f.Stream), Value: value, Headers: make([]Header, 0, len(values)+3)}
	m.Headers = append(m.Headers,
		Header{"ce_specversion", []byte("1.0")},
		Header{"ce_source", []byte("/netsim")},
		Header{"content-type", []byte("application/json")})
	for i, v := range values {
		if v != nil {
			m.Headers = append(m.Headers, Header{frameHeaders[i], v})
		}
	}
	return m, hashFrame(&values, sha256.Sum256(value))
}

// FrameHeaders returns the names of the frame's headers, in the order in which
// their values are hashed.
func FrameHeaders() []string { return frameHeaders[:] }

// Texts returns the values of the frame's headers in the order of FrameHeaders, ""
// for those that are absent.
func (f Frame) Texts() []string {
	values := f.values()
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	return texts
}

// HashOver returns the hash of the event whose data has the given SHA-256. A reader
// that may not see the data can still follow the chain.
func (f Frame) HashOver(value [sha256.Size]byte) Hash {
	values := f.values()
	return hashFrame(&values, value)
}

// FrameText reports whether s is a valid value of a frame's header: 1 to 512 bytes
// of printable ASCII without spaces.
func FrameText(s string) bool { return printable([]byte(s)) }

// Check returns an error that wraps ErrFrame if a header's value is not one that
// FrameText accepts, or is missing though required. Such a record must not be
// appended: readers reject it, so it could never be a fact.
func (f Frame) Check() error {
	for i, v := range f.values() {
		required := requiredFields&(1<<i) != 0
		if (v != nil || required) && !printable(v) {
			return fmt.Errorf("%w: %s is %q", ErrFrame, frameHeaders[i], v)
		}
	}
	return nil
}

func (f Frame) values() (v [len(frameHeaders)][]byte) {
	v[0] = []byte(frameVersion)
	v[1] = []byte(f.ID)
	v[2] = []byte(f.Type)
	v[3] = []byte(f.Stream)
	v[4] = []byte(f.PartitionKey)
	v[5] = strconv.AppendInt(nil, f.Sequence, 10)
	if f.PreviousHash != (Hash{}) {
		v[6] = []byte(f.PreviousHash.String())
	}
	v[7] = optional(f.CommandID)
	v[8] = optional(f.CommandDigest)
	v[9] = f.Time.UTC().AppendFormat(nil, TimeLayout)
	v[10] = optional(f.Actor)
	v[11] = optional(f.CorrelationID)
	v[12] = optional(f.CauseID)
	v[13] = strconv.AppendInt(nil, int64(f.DataVersion), 10)
	return v
}

func optional(s string) []byte {
	if s == "" {
		return nil
	}
	return []byte(s)
}

func hashFrame(values *[len(frameHeaders)][]byte, value [sha256.Size]byte) (out Hash) {
	buf := make([]byte, 0, 768)
	buf = append(buf, hashDomain...)
	for _, v := range values {
		buf = binary.BigEndian.AppendUint32(buf, uint32(len(v)))
		buf = append(buf, v...)
	}
	return sha256.Sum256(append(buf, value[:]...))
}

// ErrFrame is wrapped by every error of ReadFrame and Check.
var ErrFrame = errors.New("unreadable frame")

// ReadFrame reads a record's frame and computes its hash. Its errors depend on
// the record alone, so that every reader rejects the same records. It rejects a
// record that lacks a required header or has another frame version; with a frame
// header that is repeated, empty, longer than 512 bytes or not printable ASCII; with
// a number, hash or time that is not in its canonical form; with a previous hash at
// sequence 1, or none later; with a key that is not the stream; or without a value.
func ReadFrame(m *Message) (Frame, Hash, error) {
	var values [len(frameHeaders)][]byte
	seen := 0
	for i := range m.Headers {
		at := frameIndex(m.Headers[i].Key)
		if at < 0 {
			continue
		}
		if seen&(1<<at) != 0 {
			return Frame{}, Hash{}, fmt.Errorf("%w: %s twice", ErrFrame, frameHeaders[at])
		}
		if !printable(m.Headers[i].Value) {
			return Frame{}, Hash{}, fmt.Errorf("%w: %s is empty, too long or not printable", ErrFrame, frameHeaders[at])
		}
		seen |= 1 << at
		values[at] = m.Headers[i].Value
	}
	if seen&requiredFields != requiredFields {
		return Frame{}, Hash{}, fmt.Errorf("%w: a required header is missing", ErrFrame)
	}
	f, err := frameOf(&values)
	if err != nil {
		return Frame{}, Hash{}, err
	}
	if string(m.Key) != f.Stream {
		return Frame{}, Hash{}, fmt.Errorf("%w: the key is not the stream", ErrFrame)
	}
	if len(m.Value) == 0 {
		return Frame{}, Hash{}, fmt.Errorf("%w: no value", ErrFrame)
	}
	return f, hashFrame(&values, sha256.Sum256(m.Value)), nil
}

// frameIndex returns the index of a header in frameHeaders, or -1. It runs for every
// header of every record, and a switch is several times as fast as a search.
func frameIndex(key string) int {
	switch key {
	case "ce_frameversion":
		return 0
	case "ce_id":
		return 1
	case "ce_type":
		return 2
	case "ce_subject":
		return 3
	case "ce_partitionkey":
		return 4
	case "ce_sequence":
		return 5
	case "ce_previoushash":
		return 6
	case "ce_commandid":
		return 7
	case "ce_commanddigest":
		return 8
	case "ce_time":
		return 9
	case "ce_actor":
		return 10
	case "ce_correlationid":
		return 11
	case "ce_causeid":
		return 12
	case "ce_dataversion":
		return 13
	}
	return -1
}

func printable(v []byte) bool {
	if len(v) == 0 || len(v) > maxFrameValue {
		return false
	}
	// Eight bytes at a time: this runs over most bytes of every frame.
	const ones, high = 0x0101010101010101, 0x8080808080808080
	for ; len(v) >= 8; v = v[8:] {
		x := binary.LittleEndian.Uint64(v)
		if ((x-ones*0x21)&^x|(x+ones)|x)&high != 0 { // a byte is below '!', above '~', or not ASCII
			return false
		}
	}
	for _, c := range v {
		if c < 0x21 || c > 0x7e {
			return false
		}
	}
	return true
}

func frameOf(v *[len(frameHeaders)][]byte) (f Frame, err error) {
	if string(v[0]) != frameVersion {
		return f, fmt.Errorf("%w: version %q", ErrFrame, v[0])
	}
	f = Frame{
		ID: string(v[1]), Type: typeName(v[2]), Stream: string(v[3]),
		CommandID: string(v[7]), CommandDigest: string(v[8]), Actor: string(v[10]),
		CorrelationID: string(v[11]), CauseID: string(v[12]),
	}
	if f.PartitionKey = f.Stream; string(v[4]) != f.Stream {
		f.PartitionKey = string(v[4])
	}
	if f.Sequence, err = plainInt(v[5], maxSequence); err != nil {
		return f, fmt.Errorf("%w: sequence %q", ErrFrame, v[5])
	}
	if (f.Sequence == 1) != (v[6] == nil) {
		return f, fmt.Errorf("%w: a previous hash goes with every sequence but the first", ErrFrame)
	}
	if v[6] != nil && (!lowerHex(v[6], f.PreviousHash[:]) || f.PreviousHash == (Hash{})) {
		return f, fmt.Errorf("%w: previous hash %q", ErrFrame, v[6])
	}
	var ok bool
	if f.Time, ok = plainTime(v[9]); !ok {
		return f, fmt.Errorf("%w: time %q", ErrFrame, v[9])
	}
	version, err := plainInt(v[13], 1<<31-1)
	if err != nil {
		return f, fmt.Errorf("%w: data version %q", ErrFrame, v[13])
	}
	f.DataVersion = int(version)
	return f, nil
}

// typeName returns the type's name, without a copy when it is registered.
func typeName(v []byte) string {
	if known, ok := typeNames()[string(v)]; ok {
		return known
	}
	return string(v)
}

var typeNames = sync.OnceValue(func() map[string]string {
	names := map[string]string{}
	for _, zero := range Types() {
		names[zero.EventType()] = zero.EventType()
	}
	return names
})

// plainTime reads a time in TimeLayout and nothing else, where time.Parse is
// lenient: a comma for the point, one digit for the hour, the year 0.
func plainTime(v []byte) (time.Time, bool) {
	if len(v) != len(TimeLayout) {
		return time.Time{}, false
	}
	var parts [7]int // year to millisecond
	part := 0
	for i, c := range v {
		switch layout := TimeLayout[i]; {
		case layout >= '0' && layout <= '9':
			if c < '0' || c > '9' {
				return time.Time{}, false
			}
			parts[part] = 10*parts[part] + int(c-'0')
		case c != layout:
			return time.Time{}, false
		default:
			part++
		}
	}
	t := time.Date(parts[0], time.Month(parts[1]), parts[2], parts[3], parts[4], parts[5], parts[6]*1e6, time.UTC)
	// Date turns 31 April into 1 May.
	valid := parts[0] > 0 && t.Month() == time.Month(parts[1]) && t.Day() == parts[2] &&
		parts[3] < 24 && parts[4] < 60 && parts[5] < 60
	return t, valid
}

// plainInt reads a decimal number from 1 to limit without sign or leading zero.
func plainInt(v []byte, limit int64) (int64, error) {
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil || v[0] < '1' || v[0] > '9' || n > limit {
		return 0, ErrFrame
	}
	return n, nil
}

func lowerHex(v []byte, into []byte) bool {
	if len(v) != 2*len(into) {
		return false
	}
	for i := range into {
		digit, ok := lowerDigit(v[2*i])
		other, also := lowerDigit(v[2*i+1])
		if !ok || !also {
			return false
		}
		into[i] = digit<<4 | other
	}
	return true
}

func lowerDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	}
	return 0, false
}
