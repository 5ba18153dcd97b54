package events

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// HeadsPart says what a reader needs to judge a partition from an offset on: the heads
// of its streams at that offset, by their digest, and what it demands of seals.
type HeadsPart struct {
	Family    Family
	Partition int32
	Count     int32   // partitions of the topic
	Streams   int64   // number of streams with a fact
	Sum       Hash    // SHA-256 of the heads, as HeadsWriter writes them
	Sealing   Sealing // empty if no seals are demanded, or the writer of the heads has no keys
}

const headsTitle = "netsim heads v1"

// HeadsIndex returns the text that lists the heads of partitions. A signed log
// checkpoint has the SHA-256 of this text. The order of parts does not matter.
func HeadsIndex(parts []HeadsPart) []byte {
	parts = slices.Clone(parts)
	slices.SortFunc(parts, func(a, b HeadsPart) int {
		return cmp.Or(cmp.Compare(a.Family, b.Family), cmp.Compare(a.Partition, b.Partition))
	})
	text := append([]byte(headsTitle), '\n')
	for _, p := range parts {
		text = fmt.Appendf(text, "partition %s %d %d %d %x", p.Family, p.Partition, p.Count, p.Streams, p.Sum[:])
		for _, key := range p.Sealing {
			text = append(append(text, ' '), key...)
		}
		text = append(text, '\n')
	}
	return text
}

// ParseHeadsIndex parses the result of HeadsIndex. It accepts no other text: its error
// wraps ErrHeads.
func ParseHeadsIndex(text []byte) (parts []HeadsPart, err error) {
	for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")[1:] {
		p, ok := parseHeadsPart(strings.Split(line, " "))
		if !ok {
			return nil, fmt.Errorf("%w: line %d of the index is not a partition: %.200q", ErrHeads, i+2, line)
		}
		if before := len(parts) - 1; before >= 0 && parts[before].Family == p.Family && parts[before].Partition == p.Partition {
			return nil, fmt.Errorf("%w: the index has %s/%d twice", ErrHeads, p.Family, p.Partition)
		}
		parts = append(parts, p)
	}
	if !bytes.Equal(HeadsIndex(parts), text) {
		return nil, fmt.Errorf("%w: the index is not in its canonical form", ErrHeads)
	}
	return parts, nil
}

func parseHeadsPart(words []string) (p HeadsPart, ok bool) {
	if len(words) < 6 || words[0] != "partition" || !FrameText(words[1]) || !lowerHex([]byte(words[5]), p.Sum[:]) {
		return p, false
	}
	var numbers [3]int64
	for i := range numbers {
		n, err := strconv.ParseInt(words[2+i], 10, 64)
		if err != nil || n < 0 || i < 2 && n > math.MaxInt32 {
			return p, false
		}
		numbers[i] = n
	}
	var id [keyIDBytes]byte
	for _, key := range words[6:] {
		if !lowerHex([]byte(key), id[:]) {
			return p, false
		}
		p.Sealing = append(p.Sealing, key)
	}
	p.Family, p.Partition, p.Count, p.Streams = Family(words[1]), int32(numbers[0]), int32(numbers[1]), numbers[2]
	return p, p.Partition < p.Count
}
