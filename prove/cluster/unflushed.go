package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Loss is what a node lost of its log.
type Loss struct {
	Partitions int   // that lost records
	Records    int64 // offsets, so it counts markers of transactions too
	Bytes      int64
}

func (l *Loss) add(more Loss) {
	l.Partitions += more.Partitions
	l.Records += more.Records
	l.Bytes += more.Bytes
}

// recoveryPoints reads Kafka's file of the offsets up to which each partition is
// flushed: a version, the number of lines, and "topic partition offset" in each. There are
// none in a file that is empty.
func recoveryPoints(file string) (map[string]int64, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if len(text) == 0 { // as Kafka makes it; it writes the first points a minute later
		return nil, nil
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) < 2 || lines[0] != "0" {
		return nil, fmt.Errorf("%s: unknown format", file)
	}
	points := map[string]int64{}
	for _, line := range lines[2:] {
		f := strings.Fields(line)
		if len(f) != 3 {
			return nil, fmt.Errorf("%s: line %q", file, line)
		}
		if points[f[0]+"-"+f[1]], err = strconv.ParseInt(f[2], 10, 64); err != nil {
			return nil, fmt.Errorf("%s: line %q: %w", file, line, err)
		}
	}
	return points, nil
}

// cutPartition removes the record batches that begin at or after an offset, and the
// indexes, which Kafka makes again after an unclean shutdown.
func cutPartition(dir string, offset int64) (lost Loss, err error) {
	segments, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil {
		return lost, err
	}
	slices.Sort(segments)
	for _, segment := range segments {
		cut, err := cutSegment(segment, offset)
		if err != nil {
			return lost, err
		}
		lost.Records += cut.Records
		lost.Bytes += cut.Bytes
		for _, suffix := range []string{".index", ".timeindex", ".txnindex"} {
			if err := os.Remove(strings.TrimSuffix(segment, ".log") + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
				return lost, err
			}
		}
		base, err := strconv.ParseInt(strings.TrimSuffix(filepath.Base(segment), ".log"), 10, 64)
		if err != nil {
			return lost, err
		}
		if base > offset { // the segment began after the last flush
			if err := os.Remove(segment); err != nil {
				return lost, err
			}
		}
	}
	if lost.Records > 0 {
		lost.Partitions = 1
	}
	return lost, nil
}

// The header of a record batch (Kafka's message format 2) begins with its first
// offset and the length of what follows; lastOffsetDelta is at byte 23.
const batchHeader, batchPrefix, lastDelta = 27, 12, 23

// cutSegment truncates a segment before its first batch that ends at the offset or
// later.
func cutSegment(file string, offset int64) (lost Loss, err error) {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return lost, err
	}
	defer f.Close() //nolint:errcheck // Truncate reports its own error
	stat, err := f.Stat()
	if err != nil {
		return lost, err
	}
	keep := int64(-1)
	header := make([]byte, batchHeader)
	for at := int64(0); at < stat.Size(); {
		if _, err := f.ReadAt(header, at); errors.Is(err, io.EOF) {
			break // a batch that was not written completely
		} else if err != nil {
			return lost, err
		}
		first := int64(binary.BigEndian.Uint64(header))
		length := int64(binary.BigEndian.Uint32(header[8:]))
		last := first + int64(binary.BigEndian.Uint32(header[lastDelta:]))
		if length <= 0 {
			break // preallocated
		}
		if last >= offset {
			if keep < 0 {
				keep = at
			}
			lost.Records += last - first + 1
		}
		at += batchPrefix + length
	}
	if keep < 0 {
		return Loss{}, nil
	}
	lost.Bytes = stat.Size() - keep
	return lost, f.Truncate(keep)
}
