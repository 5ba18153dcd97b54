package replay

import (
	"errors"
	"fmt"
	"io"
	"math"

	"netsim/simulator/chakra"
	"netsim/simulator/collective"
	"netsim/simulator/schedule"
)

// Options say how traces become a schedule. The zero value works.
type Options struct {
	// Groups are the workload's process groups; without them, the ranks that use a
	// group's name are its members.
	Groups chakra.Groups
	// Algorithms are the algorithms by operation of package collective; an operation
	// without an entry has its default algorithm.
	Algorithms map[string]string
	// Serialize makes the collectives of a process group run one at a time on each
	// rank, in the order of its trace.
	Serialize bool
	// Callers makes the builder ignore control dependencies, which in collected traces
	// name callers. Otherwise a node waits for its control dependencies, too, unless the
	// dependencies of its rank then have a cycle.
	Callers bool
	// Abort turns the first warning into an error.
	Abort bool
	// Sizes is a factor on the sizes of communications; 0 means 1.
	Sizes float64
	// Times are factors on computation times, one for each rank; nil means 1.
	Times []float64
	// MaxBytes bounds the memory that the builder and the engine need for the schedule;
	// 0 means 2 GiB.
	MaxBytes int64
}

// Builder makes a schedule from traces.
type Builder struct {
	options  Options
	schedule schedule.Schedule
	bytes    int64
	found    Warnings

	groups   map[string]int32
	given    map[string]bool // groups whose members do not depend on the traces
	sends    []end
	receives []end
	joins    []join

	draft draft
}

// end is a send or a receive that is not matched yet.
type end struct {
	from, to, node int32
	tag            int64
}

// join is a rank's part in a collective. A group's collectives of one kind are numbered
// by order on each rank, from 0.
type join struct {
	group, rank, node, order int32
	kind                     chakra.Collective
	bytes                    int64
}

// New returns a builder for a number of ranks.
func New(ranks int, options Options) *Builder {
	if options.Sizes == 0 {
		options.Sizes = 1
	}
	if options.MaxBytes == 0 {
		options.MaxBytes = 2 << 30
	}
	return &Builder{
		options: options, schedule: schedule.Schedule{Ranks: make([]schedule.Rank, ranks)},
		groups: map[string]int32{}, given: map[string]bool{},
	}
}

// Add reads the whole trace of a rank. It is called once for each rank. The error names the
// rank and the node at fault, or wraps a *chakra.Error or a read error.
func (b *Builder) Add(rank int, trace *chakra.Reader) error {
	if b.schedule.Ranks[rank].First != nil {
		return fmt.Errorf("rank %d has two traces", rank)
	}
	d := &b.draft
	d.reset()
	for {
		n, err := trace.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("rank %d: %w", rank, err)
		}
		if err := b.take(rank, n); errors.As(err, new(doubt)) {
			return err
		} else if err != nil {
			return fmt.Errorf("rank %d, node %d: %w", rank, n.ID, err)
		}
		if err := b.fits(d.size(), rank, n.ID); err != nil {
			return err
		}
	}
	return b.addRank(rank)
}

// fits checks that the memory so far, plus more bytes, is within MaxBytes.
func (b *Builder) fits(more int64, rank int, node uint64) error {
	if b.bytes+more <= b.options.MaxBytes {
		return nil
	}
	return fmt.Errorf("rank %d, node %d: the traces take more than the %d MiB that replaying may hold", rank, node, b.options.MaxBytes>>20)
}

// doubt is a warning that Abort turned into an error. Its text names the rank and the node.
type doubt string

func (d doubt) Error() string { return string(d) }

// Warnings are the warnings about a workload.
type Warnings struct {
	First []string // at most MaxWarnings
	Count int
}

// MaxWarnings bounds Warnings.First.
const MaxWarnings = 100

// Warnings returns the warnings so far.
func (b *Builder) Warnings() Warnings { return b.found }

// warn records a warning.
func (b *Builder) warn(format string, args ...any) error {
	if b.options.Abort {
		return doubt(fmt.Sprintf(format, args...) + "; AbortOnChakraWarning is on")
	}
	if b.found.Count++; b.found.Count <= MaxWarnings {
		b.found.First = append(b.found.First, fmt.Sprintf(format, args...))
	}
	return nil
}

// take adds a node to the draft of its rank.
func (b *Builder) take(rank int, n *chakra.Node) error {
	d := &b.draft
	node := schedule.Node{ID: n.ID, CPU: n.CPU}
	detail := detail{peer: chakra.Absent, kind: chakra.NoCollective}
	var err error
	switch n.Role() {
	case chakra.Compute:
		node.Op = schedule.Compute
		node.Value, err = b.duration(rank, n)
		b.schedule.Computations++
	case chakra.Send:
		node.Op = schedule.Send
		detail.peer, detail.tag, err = b.peer(rank, n, n.Source, n.Destination, "comm_src", "comm_dst")
	case chakra.Receive:
		node.Op = schedule.Receive
		detail.peer, detail.tag, err = b.peer(rank, n, n.Destination, n.Source, "comm_dst", "comm_src")
	case chakra.Collect:
		node.Op = schedule.Collect
		detail.kind = n.Collective
		detail.group, err = b.group(rank, n)
	default:
	}
	if err == nil && (node.Op == schedule.Send || node.Op == schedule.Receive || node.Op == schedule.Collect) {
		node.Value, err = b.bytesOf(rank, n)
	}
	if err != nil {
		return err
	}
	d.nodes = append(d.nodes, node)
	d.details = append(d.details, detail)
	d.data = append(d.data, n.Data...)
	d.dataEnds = append(d.dataEnds, len(d.data))
	if !b.options.Callers {
		d.control = append(d.control, n.Control...)
	}
	d.controlEnds = append(d.controlEnds, len(d.control))
	return nil
}

// longest bounds a computation, in ps: some 6 days.
const longest = 1 << 59

func (b *Builder) duration(rank int, n *chakra.Node) (int64, error) {
	if n.Duration == 0 && n.Operations > 0 {
		return 0, b.warn("rank %d, node %d: a computation of %d operations has no duration and takes no time", rank, n.ID, n.Operations)
	}
	if n.Duration > longest/1_000_000 {
		return 0, fmt.Errorf("a computation takes %d us", n.Duration)
	}
	ps := int64(n.Duration) * 1_000_000
	if b.options.Times == nil || b.options.Times[rank] == 1 {
		return ps, nil
	}
	return int64(math.Min(math.Round(float64(ps)*b.options.Times[rank]), longest)), nil
}

// peer returns the other rank of a message, and its tag.
func (b *Builder) peer(rank int, n *chakra.Node, given, other int64, ownName, otherName string) (peer, tag int64, err error) {
	switch {
	case other == chakra.Absent:
		return 0, 0, fmt.Errorf("%s is missing", otherName)
	case other < 0 || other >= int64(len(b.schedule.Ranks)):
		return 0, 0, fmt.Errorf("%s is rank %d, and there are %d ranks", otherName, other, len(b.schedule.Ranks))
	case given != chakra.Absent && given != int64(rank):
		return 0, 0, fmt.Errorf("%s is rank %d", ownName, given)
	case n.Tag == chakra.Absent:
		return other, 0, nil
	}
	return other, n.Tag, nil
}

// bytesOf returns the size of a communication, at least one byte.
func (b *Builder) bytesOf(rank int, n *chakra.Node) (int64, error) {
	switch {
	case n.Collective == chakra.Barrier:
		return 1, nil
	case n.Size == 0:
		return 1, b.warn("rank %d, node %d: a communication of 0 bytes counts as one of 1", rank, n.ID)
	case n.Size > collective.MaxDataSize:
		return 0, fmt.Errorf("comm_size must be at most %d, got %d", int64(collective.MaxDataSize), n.Size)
	case b.options.Sizes == 1:
		return int64(n.Size), nil
	}
	return max(1, int64(math.Round(float64(n.Size)*b.options.Sizes))), nil
}

// group returns the number of the process group that the node names.
func (b *Builder) group(rank int, n *chakra.Node) (int32, error) {
	number, known := b.groups[n.Group]
	if !known {
		g := schedule.Group{Name: n.Group}
		switch members, given := b.options.Groups[n.Group]; {
		case n.Group == "":
			for r := range b.schedule.Ranks {
				g.Members = append(g.Members, int32(r))
			}
			b.given[n.Group] = true
		case given:
			for _, r := range members {
				if r >= len(b.schedule.Ranks) {
					return 0, fmt.Errorf("process group %q has rank %d, and there are %d ranks", n.Group, r, len(b.schedule.Ranks))
				}
				g.Members = append(g.Members, int32(r))
			}
			b.given[n.Group] = true
		case len(b.options.Groups) > 0:
			return 0, fmt.Errorf("process group %q is not defined in comm_groups.json", n.Group)
		default:
			if err := b.warn("rank %d, node %d: process group %q is not defined (there is no comm_groups.json); its members are the ranks that use it", rank, n.ID, n.Group); err != nil {
				return 0, err
			}
		}
		b.bytes += groupBytes + int64(len(n.Group)) + 4*int64(len(g.Members))
		number = int32(len(b.schedule.Groups))
		b.groups[n.Group] = number
		b.schedule.Groups = append(b.schedule.Groups, g)
	}
	g := &b.schedule.Groups[number]
	if at := g.Place(int32(rank)); b.given[n.Group] && (int(at) == len(g.Members) || g.Members[at] != int32(rank)) {
		return 0, fmt.Errorf("the rank is not a member of process group %q", n.Group)
	}
	return number, nil
}
