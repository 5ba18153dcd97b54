package cluster

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// batch returns a record batch as Kafka stores it, with what cutSegment reads of it.
func batch(first int64, records int, payload int) []byte {
	b := make([]byte, batchHeader+payload)
	binary.BigEndian.PutUint64(b, uint64(first))
	binary.BigEndian.PutUint32(b[8:], uint32(len(b)-batchPrefix))
	binary.BigEndian.PutUint32(b[lastDelta:], uint32(records-1))
	return b
}

// A partition keeps exactly the batches that end before its recovery point, and none
// of its indexes.
func TestAPartitionIsCutAtItsRecoveryPoint(t *testing.T) {
	t.Parallel()
	first := append(batch(0, 3, 100), batch(3, 2, 50)...) // offsets 0 to 4
	second := append(batch(5, 1, 10), batch(6, 4, 40)...) // offsets 5 to 9
	for _, test := range []struct {
		point         int64
		first, second int // sizes after the cut; -1 if the segment is removed
		lost          int64
	}{
		{10, len(first), len(second), 0},
		{9, len(first), len(batch(5, 1, 10)), 4}, // a batch is flushed as a whole or not at all
		{6, len(first), len(batch(5, 1, 10)), 4},
		{5, len(first), 0, 5},
		{3, len(batch(0, 3, 100)), -1, 7},
		{0, 0, -1, 10},
	} {
		t.Run(fmt.Sprint(test.point), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			files := map[string][]byte{
				"00000000000000000000.log": first, "00000000000000000005.log": second,
				"00000000000000000000.index": {1}, "00000000000000000005.timeindex": {1}, "leader-epoch-checkpoint": {1},
			}
			for name, content := range files {
				if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			lost, err := cutPartition(dir, test.point)
			if err != nil {
				t.Fatal(err)
			}
			if lost.Records != test.lost {
				t.Errorf("%d records were lost, want %d", lost.Records, test.lost)
			}
			for name, want := range map[string]int{
				"00000000000000000000.log": test.first, "00000000000000000005.log": test.second,
				"00000000000000000000.index": -1, "00000000000000000005.timeindex": -1, "leader-epoch-checkpoint": 1,
			} {
				got := -1
				if info, err := os.Stat(filepath.Join(dir, name)); err == nil {
					got = int(info.Size())
				}
				if got != want {
					t.Errorf("%s has %d bytes, want %d (-1: it does not exist)", name, got, want)
				}
			}
		})
	}
}

func TestRecoveryPoints(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "recovery-point-offset-checkpoint")
	if err := os.WriteFile(file, []byte("0\n2\nnetsim.workspaces 3 17\n__consumer_offsets 0 5\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	points, err := recoveryPoints(file)
	if err != nil || len(points) != 2 || points["netsim.workspaces-3"] != 17 || points["__consumer_offsets-0"] != 5 {
		t.Errorf("got %v, %v", points, err)
	}
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if points, err = recoveryPoints(file); err != nil || len(points) != 0 {
		t.Errorf("an empty file has %v, %v", points, err)
	}
	if err := os.WriteFile(file, []byte("1\n0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := recoveryPoints(file); err == nil {
		t.Error("a file of another version is read, want an error")
	}
}
