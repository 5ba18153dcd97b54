package events

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// TestPrintable compares the check of eight bytes at a time with a check of each
// byte.
func TestPrintable(t *testing.T) {
	t.Parallel()
	for length := 1; length <= 18; length++ {
		for at := range length {
			for c := range 256 {
				v := bytes.Repeat([]byte{'!'}, length)
				v[(at+1)%length] = '~'
				v[at] = byte(c)
				if want := c >= 0x21 && c <= 0x7e; printable(v) != want {
					t.Fatalf("%q is printable: %t, want %t", v, !want, want)
				}
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "bytes")
		want := true
		for _, c := range v {
			want = want && c >= 0x21 && c <= 0x7e
		}
		if printable(v) != want {
			t.Fatalf("%q is printable: %t, want %t", v, !want, want)
		}
	})
}
