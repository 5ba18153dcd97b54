// Package goal converts schedules in the text form of GOAL, the input of LogGOPSim and ATLAHS,
// to Chakra traces in JSON, one for each rank.
//
//	num_ranks 2
//	rank 0 {
//	a: calc 500
//	b: send 8b to 1 tag 7
//	b requires a
//	}
//
// A calc of n ns becomes a computation of n us, because Chakra counts microseconds: the
// servers' ComputeScale must be 0.001. Calcs on cpu 0 use the accelerator, those on cpu 1 the
// host's processor. 'requires' becomes a data dependency. What requires the start of an
// operation ('irequires') depends on what that operation depends on. The nic is ignored, and
// so is the cpu of messages.
package goal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// The bounds of a schedule.
const (
	MaxRanks    = 65_536
	maxLine     = 1 << 16    // bytes
	maxPerRank  = 10_000_000 // operations
	maxDuration = 1 << 53    // ns
)

// Totals says what a schedule has.
type Totals struct{ Ranks, Calcs, Sends, Receives, Dependencies int }

// operation is a calc, send or recv.
type operation struct {
	kind  string
	value uint64 // ns or bytes
	peer  int
	tag   uint64
	host  bool
	needs []int32 // operations that must end before
	after []int32 // operations that must start before
}

// reader converts a schedule.
type reader struct {
	lines  *bufio.Scanner
	number int // of the line
	create func(rank int) (io.WriteCloser, error)
	ranks  int
	totals Totals

	seen   map[int]bool
	ops    []operation // of the current rank
	labels map[string]int32
}

// Convert reads a schedule and writes the trace of each rank, in the order of the schedule.
// Errors about the schedule name the line.
func Convert(schedule io.Reader, create func(rank int) (io.WriteCloser, error)) (Totals, error) {
	r := reader{lines: bufio.NewScanner(schedule), create: create, seen: map[int]bool{}}
	r.lines.Buffer(nil, maxLine)
	err := r.schedule()
	if err == nil {
		err = r.lines.Err()
	}
	if err == nil && (r.ranks == 0 || r.totals.Ranks != r.ranks) {
		err = fmt.Errorf("the schedule has %d ranks, and num_ranks is %d", r.totals.Ranks, r.ranks)
	}
	if err != nil {
		return r.totals, fmt.Errorf("line %d: %w", r.number, err)
	}
	return r.totals, nil
}

// next returns the words of the next line that has any. Comments are // to the end of the
// line and /* to */, which may span lines.
func (r *reader) next() []string {
	comment := false
	for r.lines.Scan() {
		r.number++
		text, code := r.lines.Text(), ""
		for text != "" {
			if comment {
				_, rest, closed := strings.Cut(text, "*/")
				comment, text = !closed, rest
				continue
			}
			line, block := strings.Index(text, "//"), strings.Index(text, "/*")
			if line >= 0 && (block < 0 || line < block) {
				code, text = code+text[:line], ""
			} else if block >= 0 {
				code, text, comment = code+text[:block]+" ", text[block+2:], true
			} else {
				code, text = code+text, ""
			}
		}
		code = strings.NewReplacer(":", " : ", "{", " { ", "}", " } ").Replace(code)
		if words := strings.Fields(code); len(words) > 0 {
			return words
		}
	}
	return nil
}

func (r *reader) schedule() error {
	for words := r.next(); words != nil; words = r.next() {
		switch {
		case len(words) == 2 && words[0] == "num_ranks" && r.ranks == 0:
			n, err := strconv.Atoi(words[1])
			if err != nil || n < 1 || n > MaxRanks {
				return fmt.Errorf("num_ranks must be from 1 to %d, got '%.40s'", MaxRanks, words[1])
			}
			r.ranks = n
		case len(words) == 3 && words[0] == "rank" && words[2] == "{" && r.ranks > 0:
			rank, err := r.peer(words[1])
			if err != nil {
				return err
			}
			if r.seen[rank] {
				return fmt.Errorf("rank %d has two schedules", rank)
			}
			r.seen[rank] = true
			if err := r.rank(rank); err != nil {
				return err
			}
		default:
			return fmt.Errorf("'%.60s' is neither 'num_ranks N' at the beginning nor 'rank N {'", strings.Join(words, " "))
		}
	}
	return nil
}

func (r *reader) peer(word string) (int, error) {
	n, err := strconv.Atoi(word)
	if err != nil || n < 0 || n >= r.ranks {
		return 0, fmt.Errorf("'%.40s' is not a rank from 0 to %d; any source is not modelled", word, r.ranks-1)
	}
	return n, nil
}

// rank reads the schedule of a rank and writes its trace.
func (r *reader) rank(rank int) error {
	r.ops, r.labels = r.ops[:0], map[string]int32{}
	for {
		words := r.next()
		if words == nil {
			return fmt.Errorf("rank %d has no closing bracket", rank)
		}
		if words[0] == "}" {
			break
		}
		if err := r.statement(words); err != nil {
			return err
		}
	}
	r.totals.Ranks++
	w, err := r.create(rank)
	if err != nil {
		return err
	}
	return errors.Join(r.write(w), w.Close())
}

// statement reads an operation or a dependency.
func (r *reader) statement(words []string) error {
	if len(words) == 3 && (words[1] == "requires" || words[1] == "irequires") {
		from, known := r.labels[words[0]]
		to, also := r.labels[words[2]]
		if !known || !also {
			return fmt.Errorf("'%.60s' names an operation that is not above it", strings.Join(words, " "))
		}
		if words[1] == "requires" {
			r.ops[from].needs = append(r.ops[from].needs, to)
		} else {
			r.ops[from].after = append(r.ops[from].after, to)
		}
		r.totals.Dependencies++
		return nil
	}
	label := ""
	if len(words) > 2 && words[1] == ":" {
		label, words = words[0], words[2:]
	}
	if len(r.ops) == maxPerRank {
		return fmt.Errorf("a rank has more than %d operations", maxPerRank)
	}
	op, err := r.operation(words)
	if err != nil {
		return err
	}
	if label != "" {
		if _, known := r.labels[label]; known {
			return fmt.Errorf("the label %.40s is used twice", label)
		}
		r.labels[label] = int32(len(r.ops))
	}
	r.ops = append(r.ops, op)
	return nil
}

// operation reads a calc, send or recv.
func (r *reader) operation(words []string) (op operation, err error) {
	bad := fmt.Errorf("'%.60s' is no calc, send, recv or dependency", strings.Join(words, " "))
	if len(words) < 2 {
		return op, bad
	}
	op.kind = words[0]
	switch op.kind {
	case "calc":
		if op.value, err = strconv.ParseUint(words[1], 10, 64); err != nil || op.value > maxDuration {
			return op, fmt.Errorf("'%.40s' is not a duration of at most %d ns", words[1], int64(maxDuration))
		}
		words = words[2:]
		r.totals.Calcs++
	case "send", "recv":
		size, is := strings.CutSuffix(words[1], "b")
		if !is && len(words) > 2 && words[2] == "b" { // a blank before the unit
			words = slices.Delete(slices.Clone(words), 2, 3)
			is = true
		}
		if op.value, err = strconv.ParseUint(size, 10, 63); err != nil || !is {
			return op, fmt.Errorf("'%.40s' is not a size such as 8b", words[1])
		}
		if len(words) < 4 || words[2] != map[string]string{"send": "to", "recv": "from"}[op.kind] {
			return op, bad
		}
		if op.peer, err = r.peer(words[3]); err != nil {
			return op, err
		}
		words = words[4:]
		if op.kind == "send" {
			r.totals.Sends++
		} else {
			r.totals.Receives++
		}
	default:
		return op, bad
	}
	return op, r.options(&op, words)
}

// options reads the tag, the cpu and the nic of an operation.
func (r *reader) options(op *operation, words []string) error {
	for ; len(words) > 0; words = words[2:] {
		if len(words) == 1 {
			return fmt.Errorf("'%.40s' has no value", words[0])
		}
		v, err := strconv.ParseUint(words[1], 10, 31)
		switch {
		case words[0] == "tag" && op.kind != "calc" && err == nil:
			op.tag = v
		case words[0] == "tag" && op.kind != "calc":
			return fmt.Errorf("'%.40s' is not a tag from 0 to 2147483647; any tag is not modelled", words[1])
		case words[0] == "cpu" && op.kind == "calc" && (err != nil || v > 1):
			return fmt.Errorf("calc is on cpu %.40s, and only 0 and 1 are modelled", words[1])
		case words[0] == "cpu" && op.kind == "calc":
			op.host = v == 1
		case (words[0] == "cpu" || words[0] == "nic" && op.kind != "calc") && err == nil:
		default:
			return fmt.Errorf("'%.60s' is neither a tag nor a cpu nor a nic", strings.Join(words[:2], " "))
		}
	}
	return nil
}

// write writes the operations as the nodes of a trace.
func (r *reader) write(w io.Writer) error {
	out := bufio.NewWriter(w)
	out.WriteString(`{"version":"0.0.4"}` + "\n") //nolint:errcheck // Flush returns the error
	var line bytes.Buffer
	for i := range r.ops {
		op := &r.ops[i]
		needs, err := r.needs(int32(i))
		if err != nil {
			return err
		}
		line.Reset()
		fmt.Fprintf(&line, `{"id":"%d","type":"%s"`, i, map[string]string{"calc": "COMP_NODE", "send": "COMM_SEND_NODE", "recv": "COMM_RECV_NODE"}[op.kind])
		if op.kind == "calc" {
			fmt.Fprintf(&line, `,"durationMicros":"%d"`, op.value)
		}
		for k, before := range needs {
			line.WriteString(map[bool]string{true: `,"dataDeps":["`, false: `","`}[k == 0])
			line.WriteString(strconv.Itoa(int(before)))
		}
		if len(needs) > 0 {
			line.WriteString(`"]`)
		}
		switch {
		case op.host:
			line.WriteString(`,"attr":[{"name":"is_cpu_op","boolVal":true}]`)
		case op.kind != "calc":
			fmt.Fprintf(&line, `,"attr":[{"name":"%s","int64Val":"%d"},{"name":"comm_tag","int64Val":"%d"},{"name":"comm_size","int64Val":"%d"}]`,
				map[string]string{"send": "comm_dst", "recv": "comm_src"}[op.kind], op.peer, op.tag, op.value)
		}
		line.WriteString("}\n")
		out.Write(line.Bytes()) //nolint:errcheck // Flush returns the error
	}
	return out.Flush()
}

// needs returns the operations that must end before one starts, each once: those that it
// requires, and those of the operations whose start it requires.
func (r *reader) needs(of int32) ([]int32, error) {
	var all []int32
	seen, open := map[int32]bool{of: true}, []int32{of}
	for len(open) > 0 {
		op := &r.ops[open[len(open)-1]]
		open = open[:len(open)-1]
		all = append(all, op.needs...)
		for _, before := range op.after {
			if before == of {
				return nil, fmt.Errorf("operation %d of a rank requires its own start", of+1)
			}
			if !seen[before] {
				seen[before] = true
				open = append(open, before)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}
