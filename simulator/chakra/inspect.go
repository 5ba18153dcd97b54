package chakra

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
)

// File is the trace of one rank among those of a workload.
type File struct {
	Name string
	Open func() (io.ReadCloser, error) // called up to three times; each call reads from the start
}

// Check names the check that a Finding comes from.
type Check string

// The checks of a workload.
const (
	CheckRanks        Check = "ranks"        // the files have the ranks 0 to n-1, once each
	CheckReadable     Check = "readable"     // every file can be read to its end
	CheckDependencies Check = "dependencies" // dependencies name existing nodes and form no cycle
	CheckMessages     Check = "messages"     // every send has its receive
	CheckGroups       Check = "groups"       // every member takes part in every collective
)

// Finding is one fault of a workload.
type Finding struct {
	Check   Check
	Warning bool // the workload can still be replayed
	File    string
	Rank    int // -1 if the file's name has no rank, or the finding is not about a file
	Node    uint64
	HasNode bool
	Message string
}

// String returns the text for the client: the file, the node and the fault.
func (f Finding) String() string {
	text := f.Message
	if f.HasNode {
		text = fmt.Sprintf("node %d: %s", f.Node, text)
	}
	if f.File != "" {
		text = f.File + ": " + text
	}
	return text
}

// MaxFindings bounds the findings that a report lists.
const MaxFindings = 100

// Report is the result of Inspect.
type Report struct {
	Traces           []Trace   // by rank, without files that have no rank or could not be read
	Findings         []Finding // the first MaxFindings: of file names, then of each file, then between files
	Errors, Warnings int       // in total, including those not listed
}

// Valid reports whether the workload can be replayed.
func (r *Report) Valid() bool { return r.Errors == 0 }

// inspection is the state of Inspect.
type inspection struct {
	Report

	groups  Groups
	limits  Limits
	ranks   int // number of ranks
	pairing pairing
}

// Inspect reads every file of a workload and reports what each rank does and what is
// wrong (completions.md 6.3). It reads a file again only to name the nodes of a possible
// cycle, or the messages that do not match. groups may be nil; the members of a group are
// then the ranks that use it.
//
// It reads one file at a time. It keeps up to 16 bytes for each of its nodes, and some
// 100 bytes for each node that is out of order, which Limits.Tangle bounds (see
// order). For the messages between all files it keeps a quarter of a megabyte.
//
// The error is never about the content of a file. It is an error of Open or of a
// reader, and another inspection may succeed.
func Inspect(files []File, groups Groups, limits Limits) (*Report, error) {
	in := &inspection{groups: groups, limits: limits.withDefaults(), ranks: len(files)}
	ranked, complete := in.sortByRank(files)
	for _, f := range ranked {
		readable, err := in.inspect(f)
		if err != nil {
			return nil, fmt.Errorf("inspect %s: %w", f.Name, err)
		}
		complete = complete && readable
	}
	if complete {
		if err := in.checkMessages(ranked); err != nil {
			return nil, err
		}
		in.checkGroups()
		in.notEmpty()
	}
	return &in.Report, nil
}

// notEmpty reports a workload that has nothing to replay.
func (in *inspection) notEmpty() {
	for i := range in.Traces {
		if in.Traces[i].Nodes > 0 {
			return
		}
	}
	what := "no rank file has a node"
	if in.ranks == 0 {
		what = "it has no rank file"
	}
	in.find(Finding{Check: CheckRanks, Rank: -1}, "the traceset is empty: %s", what)
}

// find records a finding.
func (in *inspection) find(f Finding, format string, args ...any) {
	f.Message = fmt.Sprintf(format, args...)
	if f.Warning {
		in.Warnings++
	} else {
		in.Errors++
	}
	if len(in.Findings) < MaxFindings {
		in.Findings = append(in.Findings, f)
	}
}

type rankFile struct {
	File

	rank int
}

// sortByRank sorts the files by rank and reports whether their ranks are 0 to n-1.
func (in *inspection) sortByRank(files []File) (ranked []rankFile, complete bool) {
	complete = true
	for _, f := range files {
		rank, err := RankOf(f.Name)
		if err != nil {
			in.find(Finding{Check: CheckRanks, File: f.Name, Rank: -1}, "the name has to be rank_<n>.chakra.json or <prefix>.<n>.et")
			complete = false
			continue
		}
		ranked = append(ranked, rankFile{f, rank})
	}
	slices.SortStableFunc(ranked, func(a, b rankFile) int { return cmp.Compare(a.rank, b.rank) })
	missing := 0
	for i, f := range ranked {
		about := Finding{Check: CheckRanks, File: f.Name, Rank: f.rank}
		if i > 0 && ranked[i-1].rank == f.rank {
			in.find(about, "rank %d already has the file %s", f.rank, ranked[i-1].Name)
			complete = false
			continue
		}
		if f.rank > missing && complete {
			in.find(about, "rank %d is there, but rank %d is missing", f.rank, missing)
			complete = false
		}
		missing = f.rank + 1
	}
	return ranked, complete
}

// read opens a file and calls visit with its reader. A fault in the file's bytes is an
// *Error.
func (in *inspection) read(f rankFile, visit func(r *Reader) error) error {
	file, err := f.Open()
	if err != nil {
		return err
	}
	defer file.Close()
	r, err := NewReader(file, in.limits)
	if err != nil {
		return err
	}
	return visit(r)
}

// nodes returns a function that calls visit with every node of a reader.
func nodes(visit func(n *Node) error) func(r *Reader) error {
	return func(r *Reader) error {
		for {
			n, err := r.Next()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			if err := visit(n); err != nil {
				return r.located(err)
			}
		}
	}
}

// inspect reads one file and makes the checks that need no other file.
func (in *inspection) inspect(f rankFile) (readable bool, err error) {
	trace := Trace{File: f.Name, Rank: f.rank}
	sums := tally{trace: &trace, collectives: map[collectiveKey]*CollectiveTraffic{}}
	var order order
	err = in.read(f, func(r *Reader) error {
		trace.Format, trace.Metadata = r.Format(), r.Metadata()
		return nodes(func(n *Node) error {
			if order.take(n) {
				in.find(f.about(CheckDependencies, n.ID), "an earlier node has the same id")
			}
			if order.scattered() > in.limits.Tangle {
				return fileRefusal(fmt.Sprintf("more than %d nodes are out of order: named before they come, or after a node with a higher id", in.limits.Tangle))
			}
			in.message(f, n, func(c channel, role Role) { in.pairing.take(c, role, n.Size) })
			return sums.take(n)
		})(r)
	})
	if wrong := new(Error); errors.As(err, &wrong) {
		in.find(Finding{Check: CheckReadable, File: f.Name, Rank: f.rank}, "%v", wrong)
		return false, nil
	}
	if err != nil {
		return false, err
	}
	sums.finish()
	in.Traces = append(in.Traces, trace)
	in.warnUnusual(f, &sums, &order)
	return true, in.checkCycles(f, &order)
}

func (f rankFile) about(check Check, node uint64) Finding {
	return Finding{Check: check, File: f.Name, Rank: f.rank, Node: node, HasNode: true}
}

// warnUnusual warns about unusual content of a file.
func (in *inspection) warnUnusual(f rankFile, sums *tally, order *order) {
	if sums.trace.Nodes == 0 {
		in.find(Finding{Check: CheckReadable, Warning: true, File: f.Name, Rank: f.rank}, "the file has no node")
	}
	if n := sums.unsized.Count; n > 0 {
		about := f.about(CheckMessages, sums.firstUnsized)
		about.Warning = true
		in.find(about, "%d communications move 0 bytes; this is the first", n)
	}
	if data, control, first, id := order.missing(); data+control > 0 {
		about := f.about(CheckDependencies, first.node)
		about.Warning = true
		in.find(about, "%d data and %d control dependencies name nodes that are not in the file; the first names %d", data, control, id)
	}
}

// checkCycles looks for a cycle if the file may have one.
func (in *inspection) checkCycles(f rankFile, order *order) error {
	if len(order.stretches) == 0 {
		return nil
	}
	var cycle []uint64
	err := in.read(f, func(r *Reader) (err error) {
		cycle, err = findCycle(r, order.stretches)
		return err
	})
	if wrong := new(Error); errors.As(err, &wrong) {
		in.find(Finding{Check: CheckDependencies, File: f.Name, Rank: f.rank}, "%v", wrong)
		return nil
	}
	if err == nil && cycle != nil {
		in.find(f.about(CheckDependencies, cycle[0]), "%s", describeCycle(cycle))
	}
	return err
}
