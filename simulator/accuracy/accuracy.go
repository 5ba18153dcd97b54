// Package accuracy says what is known of the accuracy of a run's simulated time: how far
// the times of like runs were from those of a reference, and in what the run differs from
// the runs that were compared. Its numbers are those of bands.json, which go generate
// ./prove/bench/accuracy writes together with the tables of docs/engine.md.
//
// The package is pure. It never claims more than was compared: a run of which nothing like
// it was compared has no band.
package accuracy

import (
	"fmt"
	"slices"
	"strings"

	"netsim/simulator/document"
)

// Class says how a run relates to the compared cases. Of a run with several collectives it
// is the class of the least known one.
type Class string

// The classes, the best known one first.
const (
	// ClosedForm is of collectives on one switch, within the ranges of the compared cases:
	// the time was compared with the formula of the algorithm.
	ClosedForm Class = "closed-form"
	// Compared is of collectives on a leaf-spine network, within the ranges of cases that
	// another simulator ran packet by packet.
	Compared Class = "compared"
	// Extrapolated is of a run whose algorithms were compared in such a network, but not
	// in its ranges or circumstances.
	Extrapolated Class = "extrapolated"
	// NotCompared is of a run of which nothing like it was compared.
	NotCompared Class = "not-compared"
)

// Collective is a kind of collective that a run had.
type Collective struct {
	Operation, Algorithm string
	Bytes                int64 // the data size
	Ranks                int   // of its group
}

// Run is what a simulation modelled.
type Run struct {
	Document    *document.Document
	Collectives []Collective
	Unlisted    bool // whether it had further kinds of collectives
	Count       int  // collectives in all
	Ranks       int
	Engine      string // the version of the built-in engine
	Ended       bool   // whether every rank ended, rather than the simulation being cut off
	Traces      bool   // whether the workload is traces, not phases of collectives
	Mapped      bool   // whether a mapping file placed the ranks
	ScaleUp     bool   // whether messages went through scale-up groups
	Switching   bool   // whether the capacity of switches limited messages
}

// Accuracy is what is known of the accuracy of a run.
type Accuracy struct {
	Class Class
	// Of the compared cases; absent (Rows is 0) for NotCompared. For Extrapolated the band
	// is of like cases, and does not bound the error of the run.
	Rows            int
	Lowest, Highest float64 // percent by which the simulated times were longer than the reference's
	References      []string
	Outside         []string // what of the run is beyond the compared cases, for Extrapolated
	Basis           string   // what the class is based on, and where it does not hold
}

// notMeasured ends every Basis.
const notMeasured = " No case is a measurement on hardware."

// Unknown returns the accuracy of a run of which nothing like it was compared.
func Unknown(reason string) Accuracy {
	return Accuracy{Class: NotCompared, Basis: "Nothing like this run was compared: " + reason + "." + notMeasured}
}

// Of returns the accuracy of a run by the table. It returns the errors of a configuration
// that cannot be read.
func (t *Table) Of(run *Run) (Accuracy, error) {
	app := run.Document.Chakra()
	switch {
	case app == nil:
		return Unknown("its traffic is messages at random instants"), nil
	case !run.Ended:
		return Unknown("it was cut off before all ranks ended"), nil
	case run.ScaleUp:
		return Unknown("messages went through scale-up groups"), nil
	}
	n, err := networkOf(run.Document)
	if err != nil {
		return Accuracy{}, err
	}
	if n.kind == "" {
		return Unknown(n.unknown), nil
	}
	replay, err := app.Replay()
	if err != nil {
		return Accuracy{}, err
	}
	kinds := run.Collectives
	if len(kinds) == 0 {
		kinds = []Collective{{}} // plain messages
	}
	a := Accuracy{Outside: n.outside}
	var bands []*Band
	for _, c := range kinds {
		b := t.find(n.kind, c.Operation, c.Algorithm)
		if b == nil {
			return Unknown(c.name() + " on " + n.kind), nil
		}
		if !slices.Contains(bands, b) {
			bands = append(bands, b)
			a.join(b)
		}
		a.compare(b, n, c)
	}
	a.circumstances(run, n, replay.Synchronize)
	if run.Engine != t.Engine {
		a.add(fmt.Sprintf("engine %s, compared %s", run.Engine, t.Engine))
	}
	a.conclude(n.kind)
	return a, nil
}

// name names the kind of a collective.
func (c Collective) name() string {
	if c.Operation == "" {
		return "messages outside of collectives"
	}
	return c.Operation + " " + c.Algorithm
}

// join adds the cases of a band.
func (a *Accuracy) join(b *Band) {
	if a.Rows == 0 {
		a.Lowest, a.Highest = b.Lowest, b.Highest
	}
	a.Rows += b.Rows
	a.Lowest, a.Highest = min(a.Lowest, b.Lowest), max(a.Highest, b.Highest)
	for _, r := range b.References {
		if !slices.Contains(a.References, r) {
			a.References = append(a.References, r)
		}
	}
}

// compare adds what of a kind of collective is beyond the ranges of its band.
func (a *Accuracy) compare(b *Band, n *network, c Collective) {
	values := n.Ranges
	values.Ranks, values.Bytes = At(int64(c.Ranks)), At(c.Bytes)
	if c.Operation == "" { // the messages of traces are not known
		values.Ranks, values.Bytes = b.Ranks, b.Bytes
	}
	for _, what := range b.outside(&values) {
		a.add(what)
	}
}

// circumstances adds what no compared case has: they are one collective of all ranks, and
// of several that follow one another the errors of the sum are within those of its parts.
func (a *Accuracy) circumstances(run *Run, n *network, synchronized bool) {
	for _, c := range []struct {
		is   bool
		what string
	}{
		{run.Traces, "traces, whose computations and messages may overlap, compared collectives that run alone"},
		{run.Mapped, "ranks placed by a mapping file"},
		{run.Switching, "the switching capacity limited messages"},
		{run.Unlisted, "more kinds of collectives than the summary lists"},
		{run.Count > 1 && !synchronized, "CommCollectiveSynchronization is off"},
		{n.kind != OneSwitch && run.Ranks != n.hosts, "servers without a rank"},
		{n.kind != OneSwitch && slices.ContainsFunc(run.Collectives, func(c Collective) bool { return c.Ranks != run.Ranks }),
			"several groups of ranks at once, compared one group of all ranks"},
	} {
		if c.is {
			a.add(c.what)
		}
	}
}

// add adds to what is beyond the compared cases, once.
func (a *Accuracy) add(what string) {
	if !slices.Contains(a.Outside, what) {
		a.Outside = append(a.Outside, what)
	}
}

// conclude sets the class and its basis.
func (a *Accuracy) conclude(kind string) {
	against := strings.Join(a.References, "; ")
	switch {
	case len(a.Outside) > 0:
		a.Class = Extrapolated
		a.Basis = fmt.Sprintf("%d cases of these algorithms (%s) were compared with %s, but none with what is listed in outside: "+
			"the band is of those cases, and the error of this run may be larger.", a.Rows, kind, against)
	case kind == OneSwitch:
		a.Class = ClosedForm
		a.Basis = fmt.Sprintf("The collectives run on one switch without contention, where %d cases were compared with %s. "+
			"This confirms the arithmetic of the model, not what it leaves out, such as hosts, drops and congestion control.", a.Rows, against)
	default:
		a.Class = Compared
		a.Basis = fmt.Sprintf("%d cases of these algorithms, in whose ranges this run is, were compared with %s. "+
			"It does not hold for congestion control, drops and queues that these references do not have.", a.Rows, against)
	}
	if kind == Hashed || kind == Lossless {
		a.Basis += " The paths of the reference are not known, so the band has the times of 20 seeds."
	}
	a.Basis += notMeasured
}
