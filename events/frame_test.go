package events

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// anyText draws a value that a frame header may have.
func anyText() *rapid.Generator[string] { return rapid.StringMatching(`[!-~]{1,40}`) }

// anyFrame draws a frame that can be written.
func anyFrame() *rapid.Generator[Frame] {
	return rapid.Custom(func(t *rapid.T) Frame {
		optional := rapid.OneOf(rapid.Just(""), anyText())
		first := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
		last := time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC).UnixMilli()
		f := Frame{
			ID: anyText().Draw(t, "id"), Type: anyText().Draw(t, "type"), Stream: anyText().Draw(t, "stream"),
			PartitionKey: anyText().Draw(t, "partition key"), Sequence: rapid.Int64Range(1, maxSequence).Draw(t, "sequence"),
			CommandID: optional.Draw(t, "command id"), CommandDigest: optional.Draw(t, "digest"),
			Time:  time.UnixMilli(rapid.Int64Range(first, last).Draw(t, "time")).UTC(),
			Actor: optional.Draw(t, "actor"), CorrelationID: optional.Draw(t, "correlation"), CauseID: optional.Draw(t, "cause"),
			DataVersion: rapid.IntRange(1, 1<<31-1).Draw(t, "data version"),
		}
		if f.Sequence > 1 {
			f.PreviousHash[0] = 1
			copy(f.PreviousHash[1:], rapid.SliceOfN(rapid.Byte(), 31, 31).Draw(t, "previous hash"))
		}
		return f
	})
}

func anyValue() *rapid.Generator[[]byte] { return rapid.SliceOfN(rapid.Byte(), 1, 200) }

func TestFrameIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := anyFrame().Draw(t, "frame")
		m, hash := want.Message(anyValue().Draw(t, "value"))
		// Neither the order of the headers nor foreign headers matter.
		m.Headers = append(m.Headers, Header{"ce_other", []byte("\x00")})
		m.Headers = rapid.Permutation(m.Headers).Draw(t, "headers")
		got, again, err := ReadFrame(&m)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" || again != hash {
			t.Fatalf("hash %s, want %s\n%s", again, hash, diff)
		}
	})
}

func TestEveryChangeChangesTheHash(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m, hash := anyFrame().Draw(t, "frame").Message(anyValue().Draw(t, "value"))
		if at := rapid.IntRange(2, len(m.Headers)-1).Draw(t, "where"); at == 2 {
			m.Value = changed(t, m.Value)
		} else {
			h := &m.Headers[at] // the first three headers are not part of the frame
			h.Value = changed(t, h.Value)
			if h.Key == "ce_subject" {
				m.Key = h.Value
			}
		}
		if _, again, err := ReadFrame(&m); err == nil && again == hash {
			t.Fatal("the changed record has the same hash")
		}
	})
}

// changed returns the bytes with one byte changed, added or removed.
func changed(t *rapid.T, b []byte) []byte {
	b = slices.Clone(b)
	at := rapid.IntRange(0, len(b)-1).Draw(t, "at")
	switch rapid.IntRange(0, 2).Draw(t, "change") {
	case 0:
		b[at] ^= 1 << rapid.IntRange(0, 6).Draw(t, "bit")
		return b
	case 1:
		return slices.Insert(b, at, rapid.ByteRange('!', '~').Draw(t, "byte"))
	default:
		return slices.Delete(b, at, at+1)
	}
}

// Frames have different hashes even if their fields concatenate to the same text.
func TestHashKeepsFieldsApart(t *testing.T) {
	t.Parallel()
	one := goldenFrame("sim_a", 1, Hash{})
	two := one
	one.CommandID, one.CommandDigest = "ab", "c"
	two.CommandID, two.CommandDigest = "a", "bc"
	_, a := one.Message([]byte("x"))
	_, b := two.Message([]byte("x"))
	if a == b {
		t.Error("the hashes are equal, want different ones")
	}
}

func TestMessageCutsTimesToMillisecondsUTC(t *testing.T) {
	t.Parallel()
	f := goldenFrame("sim_a", 1, Hash{})
	f.Time = time.Date(2026, 1, 1, 0, 30, 0, 999_999_999, time.FixedZone("", 3600))
	m, _ := f.Message([]byte("x"))
	if got, want := string(m.Headers[headerAt(&m, "ce_time")].Value), "2025-12-31T23:30:00.999Z"; got != want {
		t.Errorf("time %s, want %s", got, want)
	}
}

// FuzzReadFrame reads arbitrary records. A frame that can be read has only one
// form: written again, it has the same hash.
func FuzzReadFrame(f *testing.F) {
	for _, c := range goldenCases() {
		for _, r := range c.Records {
			var headers []string
			for _, h := range r.Headers {
				headers = append(headers, h.Name+"="+string(h.Value))
			}
			f.Add(r.Key, r.Value, []byte(strings.Join(headers, "\n")))
		}
	}
	f.Fuzz(func(t *testing.T, key, value, headers []byte) {
		m := Message{Key: key, Value: value}
		for line := range bytes.SplitSeq(headers, []byte("\n")) {
			name, content, _ := bytes.Cut(line, []byte("="))
			m.Headers = append(m.Headers, Header{string(name), content})
		}
		frame, hash, err := ReadFrame(&m)
		if err != nil {
			if !errors.Is(err, ErrFrame) || frame != (Frame{}) || hash != (Hash{}) {
				t.Errorf("refused with %v, frame %+v, hash %s, want ErrFrame and zero values", err, frame, hash)
			}
			return
		}
		again, written := frame.Message(value)
		read, _, err := ReadFrame(&again)
		if err != nil || written != hash || read != frame || !bytes.Equal(again.Key, key) {
			t.Errorf("written again, the frame has hash %s, want %s: %v", written, hash, err)
		}
	})
}
