package feed

import (
	"slices"
	"testing"
)

// FuzzReadPosition reads any bytes. A position is read as it is written.
func FuzzReadPosition(f *testing.F) {
	f.Add(appendPosition(nil, []int64{0, 1, 1 << 40}), 3)
	f.Add([]byte{1, 0x80, 0x80}, 2)
	f.Fuzz(func(t *testing.T, position []byte, count int) {
		count = min(max(count, 0), 64)
		offsets, err := readPosition(position, count)
		if err != nil {
			return
		}
		again, err := readPosition(appendPosition(nil, offsets), count)
		if err != nil || !slices.Equal(again, offsets) {
			t.Errorf("%v is read again as %v (%v)", offsets, again, err)
		}
	})
}
