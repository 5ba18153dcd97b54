package reactor

import (
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strings"

	"netsim/events"
)

// position is what a handler has done of a partition: every fact before next, and
// what resumed says. It is committed as the offset and the metadata of a consumer
// group.
type position struct {
	next   int64
	anchor events.Anchor // of what was read, in this log; the zero value if it is not known
	resumed
}

// resumed says that every fact before until is done but those at the open
// offsets, which ascend.
type resumed struct {
	until int64
	open  []int64
}

// done reports whether the fact at the offset is done.
func (r resumed) done(offset int64) bool {
	if offset >= r.until {
		return false
	}
	_, open := slices.BinarySearch(r.open, offset)
	return !open
}

// since returns the part from an offset on.
func (r resumed) since(offset int64) resumed {
	if r.until <= offset {
		return resumed{}
	}
	i, _ := slices.BinarySearch(r.open, offset)
	return resumed{r.until, r.open[i:]}
}

// behind returns how many of the records before an offset are not known to be done.
func (p position) behind(offset int64) int64 {
	if p.until <= p.next {
		return max(offset-p.next, 0)
	}
	return max(offset-p.until, 0) + int64(len(p.open))
}

// maxMetadata bounds the metadata of a position without the anchor, in bytes; brokers take
// 4,096.
const maxMetadata = 3900

// metadata is a version, the anchor if it is known, and, if facts are open, in base64,
// varints: the distances from next to the first open offset, from each open offset to the
// following one, and from the last to until. Offsets that do not fit are left out at the
// end, and the facts done after them are repeated after a restart.
func (p position) metadata() string {
	open := p.distances()
	switch {
	case p.anchor.Next == 0 && open == "":
		return ""
	case p.anchor.Next == 0:
		return unanchored + open
	}
	return anchored + p.anchor.String() + ":" + open
}

const (
	unanchored = "1:" // also of releases that did not say which log it is
	anchored   = "2:"
)

func (p position) distances() string {
	if p.until <= p.next || len(p.open) == 0 {
		return ""
	}
	const size = maxMetadata/4*3 - binary.MaxVarintLen64
	var out []byte
	at := p.next
	for _, open := range p.open {
		if len(out) > size-binary.MaxVarintLen64 {
			return base64.RawStdEncoding.EncodeToString(binary.AppendUvarint(out, uint64(open-at)))
		}
		out = binary.AppendUvarint(out, uint64(open-at))
		at = open
	}
	return base64.RawStdEncoding.EncodeToString(binary.AppendUvarint(out, uint64(p.until-at)))
}

// readPosition reads what was committed. Metadata of another version, as of a
// later release, is ignored.
func readPosition(next int64, metadata string) position {
	p := position{next: next}
	text, known := strings.CutPrefix(metadata, unanchored)
	if of, is := strings.CutPrefix(metadata, anchored); is {
		anchor, distances, _ := strings.Cut(of, ":")
		at, err := events.ParseAnchor(anchor)
		if err != nil {
			return p
		}
		p.anchor, text, known = at, distances, true
	}
	rest, err := base64.RawStdEncoding.DecodeString(text)
	if !known || err != nil {
		return p
	}
	at, open := next, []int64(nil)
	for len(rest) > 0 {
		distance, n := binary.Uvarint(rest)
		if n <= 0 {
			return p
		}
		rest = rest[n:]
		at += int64(distance)
		open = append(open, at)
	}
	if len(open) < 2 {
		return p
	}
	p.resumed = resumed{until: open[len(open)-1], open: open[:len(open)-1]}
	return p
}

func (p position) equal(other position) bool {
	return p.next == other.next && p.until == other.until && slices.Equal(p.open, other.open)
}
