package columns

import (
	"bytes"
	"slices"
	"testing"
)

// Rows that were copied leave nothing in the memory that the next ones use again.
func TestTheMemoryOfCopiedRowsIsUsedAgain(t *testing.T) {
	t.Parallel()
	type row struct {
		ID   string
		Size int64
	}
	c := Of[row]()
	for _, size := range []int64{1, 2, 3} { // of fewer bytes each time
		rows := slices.Repeat([]*row{{"a row", size}}, 1000/int(size))
		w := &Writes{CopyFrom: 1}
		c.Begin(w, "rows", rows)
		want := []byte("PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00")
		for range rows {
			want = append(want, 0, 2)
			want = int8Of(textOf(want, "a row"), size)
		}
		if want = append(want, 0xff, 0xff); !bytes.Equal(w.copies[0].rows, want) {
			t.Errorf("%d rows have %d bytes, want %d, or others", len(rows), len(w.copies[0].rows), len(want))
		}
		w.release()
	}
}
