package web

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"netsim/fault"
)

func newCursors(t testing.TB, now func() time.Time, keys ...byte) *Cursors {
	t.Helper()
	var ring [][]byte
	for _, k := range keys {
		ring = append(ring, bytes.Repeat([]byte{k}, 32))
	}
	c, err := NewCursors(ring, now)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCursorsOpenWhatTheySealed(t *testing.T) {
	t.Parallel()
	c := newCursors(t, time.Now, 1)
	rapid.Check(t, func(t *rapid.T) {
		position := rapid.SliceOfN(rapid.Byte(), 0, 1024).Draw(t, "position")
		binding := Binding(rapid.SliceOf(rapid.String()).Draw(t, "parts")...)
		cursor := c.Seal(binding, position)
		got, err := c.Open(binding, cursor)
		if err != nil || !bytes.Equal(got, position) {
			t.Fatalf("open: %x, %v; want %x", got, err, position)
		}
	})
}

func TestCursorsRefuseAnyChange(t *testing.T) {
	t.Parallel()
	c := newCursors(t, time.Now, 1)
	binding := Binding("/simulations", "acct", "running")
	raw, err := base64.RawURLEncoding.DecodeString(c.Seal(binding, []byte("position")))
	if err != nil {
		t.Fatal(err)
	}
	for bit := range len(raw) * 8 {
		changed := bytes.Clone(raw)
		changed[bit/8] ^= 1 << (bit % 8)
		refuse(t, c, binding, base64.RawURLEncoding.EncodeToString(changed))
	}
	for n := range raw {
		refuse(t, c, binding, base64.RawURLEncoding.EncodeToString(raw[:n]))
	}
}

func TestCursorsRefuse(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	c := newCursors(t, clock, 1)
	binding := Binding("/simulations", "a", "bc")
	cursor := c.Seal(binding, []byte("p"))

	for name, other := range map[string][]byte{
		"another route":   Binding("/workspaces", "a", "bc"),
		"another filter":  Binding("/simulations", "a", "bd"),
		"filters shifted": Binding("/simulations", "ab", "c"),
		"one filter less": Binding("/simulations", "a"),
		"no binding":      nil,
	} {
		t.Run(name, func(t *testing.T) { refuse(t, c, other, cursor) })
	}
	for name, text := range map[string]string{
		"empty": "", "text": "abc", "not base64": "!" + cursor, "padded": cursor + "=", "with newline": cursor + "\n",
		"oversize": strings.Repeat("A", 1<<20),
	} {
		t.Run(name, func(t *testing.T) { refuse(t, c, binding, text) })
	}
	t.Run("key of another ring", func(t *testing.T) { refuse(t, newCursors(t, clock, 2), binding, cursor) })

	if _, err := newCursors(t, clock, 2, 1).Open(binding, cursor); err != nil {
		t.Errorf("open with an older key of the ring: %v", err)
	}
	now = now.Add(24*time.Hour - time.Second)
	if _, err := c.Open(binding, cursor); err != nil {
		t.Errorf("open a second before the cursor expires: %v", err)
	}
	now = now.Add(time.Second)
	refuse(t, c, binding, cursor)
}

// TestCursorsLast: cursors with another lifetime have the same keys.
func TestCursorsLast(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	c := newCursors(t, func() time.Time { return now }, 1)
	binding := Binding("/events")
	cursor := c.Lasting(48*time.Hour).Seal(binding, []byte("p"))
	now = now.Add(47 * time.Hour)
	if _, err := c.Open(binding, cursor); err != nil {
		t.Errorf("open within its lifetime: %v", err)
	}
	now = now.Add(time.Hour)
	refuse(t, c, binding, cursor)
}

func TestNewCursorsRefusesBadKeys(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string][][]byte{"none": nil, "short": {make([]byte, 16)}} {
		if _, err := NewCursors(keys, time.Now); err == nil {
			t.Errorf("NewCursors with keys %s: no error", name)
		}
	}
}

func refuse(t *testing.T, c *Cursors, binding []byte, cursor string) {
	t.Helper()
	position, err := c.Open(binding, cursor)
	if !fault.Is(err, fault.Validation) || err.Error() != "cursor is invalid or expired" {
		t.Errorf("open %.40q: position %x, error %v; want \"cursor is invalid or expired\"", cursor, position, err)
	}
}

func BenchmarkCursor(b *testing.B) {
	c := newCursors(b, time.Now, 1)
	binding, position := Binding("/api/v1/simulations", "acct_x", "running"), make([]byte, 40)
	for b.Loop() {
		if _, err := c.Open(binding, c.Seal(binding, position)); err != nil {
			b.Fatal(err)
		}
	}
}
