package mapping

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// Parse reads a mapping file to its end. In memory it holds about 100 bytes for each rank
// and one line of the text.
//
// The error is an *Error, ErrTooLarge, or the error of r. Parse first checks each line by
// itself, then the file as a whole; the *Error names the first line at fault.
func Parse(r io.Reader) (*File, error) {
	limited := &io.LimitedReader{R: r, N: MaxBytes + 1}
	lines := bufio.NewReaderSize(limited, 1<<16)
	var d draft
	for number := 1; ; number++ {
		line, err := lines.ReadSlice('\n')
		if limited.N == 0 {
			return nil, ErrTooLarge
		}
		if len(line) == 0 && errors.Is(err, io.EOF) {
			return d.finish()
		}
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, fmt.Errorf("read mapping file: %w", err)
		}
		if reason := d.add(bytes.TrimSuffix(line, []byte("\n")), number); reason != "" {
			return nil, &Error{Line: number, Reason: reason}
		}
	}
}

// draft holds the content of the lines read so far.
type draft struct {
	places   []placed
	groups   []Group
	second   bool            // in the second section
	ranks    index           // the line of each rank
	servers  index           // the line of each server
	declared map[uint32]bool // groups
	fields   []string        // of the current line; reused for the next
}

type placed struct {
	Place

	rank uint32
	line int
}

// add reads a line without its LF and returns the rule that it breaks, if any.
func (d *draft) add(line []byte, number int) string {
	if len(line) > MaxLineBytes {
		return "more than 4096 bytes"
	}
	if bytes.IndexByte(line, '\r') >= 0 {
		return "carriage return is not allowed"
	}
	if len(line) > 0 && line[0] == '@' {
		if len(d.places) == 0 {
			return "'@' before any rank line"
		}
		d.second = true // inside the second section such a line is a comment
		return ""
	}
	comment := "#"
	if d.second {
		comment = "#@"
	}
	if i := bytes.IndexAny(line, comment); i >= 0 {
		line = line[:i]
	}
	if len(line) > MaxFieldsBytes {
		return "more than 127 bytes before the comment"
	}
	if bytes.IndexByte(line, '\t') >= 0 {
		return "tab is not a separator"
	}
	fields := d.split(line)
	switch {
	case len(fields) == 0:
		return ""
	case d.second:
		return d.addGroup(fields)
	default:
		return d.addRank(fields, number)
	}
}

// split splits the part of a line before its comment at the separators. The fields are
// valid until the next line.
func (d *draft) split(line []byte) []string {
	text := string(line)
	d.fields = d.fields[:0]
	for start, i := -1, 0; i <= len(text); i++ {
		inside := i < len(text) && text[i] != ' ' && text[i] != ','
		switch {
		case inside && start < 0:
			start = i
		case !inside && start >= 0:
			d.fields = append(d.fields, text[start:i])
			start = -1
		}
	}
	return d.fields
}

// finish checks the rules about the whole file: the ranks are 0 to n-1, and their groups
// are declared. The ranks are distinct, so if one is missing, another is out of bounds.
func (d *draft) finish() (*File, error) {
	n := len(d.places)
	if n == 0 {
		return nil, &Error{Reason: "file has no rank line"}
	}
	f := &File{Places: make([]Place, n), Groups: d.groups}
	for _, p := range d.places {
		if int64(p.rank) >= int64(n) {
			return nil, &Error{Line: p.line, Reason: fmt.Sprintf("rank %d is outside 0..%d", p.rank, n-1)}
		}
		if p.Grouped && !d.declared[p.Group] {
			return nil, &Error{Line: p.line, Reason: fmt.Sprintf("scale-up group %d has no parameters", p.Group)}
		}
		f.Places[p.rank] = p.Place
	}
	return f, nil
}

func (d *draft) addRank(fields []string, number int) string {
	if len(fields) != 2 && len(fields) != 4 {
		return fmt.Sprintf("expected 2 or 4 fields, got %d", len(fields))
	}
	var values [4]uint32
	for i, field := range fields {
		v, reason := integer([4]string{"rank", "serverId", "scaleUpGroupId", "scaleUpSubgroupId"}[i], field)
		if reason != "" {
			return reason
		}
		values[i] = v
	}
	rank, server := values[0], values[1]
	if server == ReservedServer {
		return fmt.Sprintf("serverId %d is reserved", server)
	}
	if line := d.ranks.put(rank, number); line != 0 {
		return fmt.Sprintf("rank %d was already placed on line %d", rank, line)
	}
	if line := d.servers.put(server, number); line != 0 {
		return fmt.Sprintf("serverId %d is already used on line %d", server, line)
	}
	place := Place{Server: server, Grouped: len(fields) == 4, Group: values[2], Subgroup: values[3]}
	d.places = append(d.places, placed{place, rank, number})
	return ""
}

func (d *draft) addGroup(fields []string) string {
	if len(fields) != 4 {
		return fmt.Sprintf("expected 4 fields, got %d", len(fields))
	}
	id, reason := integer("scaleUpGroupId", fields[0])
	if reason != "" {
		return reason
	}
	g := Group{ID: id}
	var ok bool
	if g.BitsPerSecond, ok = scaled(fields[1], 9); !ok || g.BitsPerSecond == 0 {
		return "bandwidth out of range"
	}
	if g.SwitchHop, ok = scaled(fields[2], 3); !ok {
		return "latency out of range"
	}
	if g.Cable, ok = scaled(fields[3], 3); !ok {
		return "latency out of range"
	}
	if d.declared[id] {
		return fmt.Sprintf("scale-up group %d declared twice", id)
	}
	if d.declared == nil {
		d.declared = map[uint32]bool{}
	}
	d.declared[id] = true
	d.groups = append(d.groups, g)
	return ""
}

func integer(name, field string) (uint32, string) {
	v, err := strconv.ParseUint(field, 10, 32)
	if err != nil {
		return 0, fmt.Sprintf("expected a non-negative base-10 %s that fits in 32 bits, got '%s'", name, printable(field))
	}
	return uint32(v), ""
}

// printable escapes characters that a message must not contain.
func printable(field string) string {
	quoted := strconv.QuoteToASCII(field)
	return quoted[1 : len(quoted)-1]
}

// index records the line on which each number was first seen. Numbers below
// dense are stored in a slice, at 4 bytes each; the ranks of a valid file are
// all below it.
type index struct {
	low  []uint32
	high map[uint32]uint32
}

const dense = MaxBytes / 4 // a rank line has at least 4 bytes

// put returns the line on which the number was seen before. If there is none,
// it records this line and returns 0.
func (x *index) put(v uint32, line int) int {
	if v >= dense {
		if before := x.high[v]; before != 0 {
			return int(before)
		}
		if x.high == nil {
			x.high = map[uint32]uint32{}
		}
		x.high[v] = uint32(line)
		return 0
	}
	if n := int(v) + 1 - len(x.low); n > 0 {
		x.low = append(x.low, make([]uint32, n)...)
	}
	if before := x.low[v]; before != 0 {
		return int(before)
	}
	x.low[v] = uint32(line)
	return 0
}
