package main

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"
)

// options of a campaign.
type options struct {
	seed     uint64
	duration time.Duration // of the faults, unless each
	each     bool          // each kind of fault once, for a short time, instead of random ones
	writes   int           // acknowledged writes that the load has at least
	faults   []string      // kinds; all when empty
	clients  int
	race     bool
	heap     string
	out      string   // directory of the report
	mutants  bool     // run mutants instead of a campaign
	mutant   []string // only these; all when empty
	rotate   int      // how many mutants, chosen by the seed; 0 for all
	keep     bool     // keep the data of a campaign without violations
	service  string   // a built service; it is built when empty
	overlay  string   // of a mutant, to build the service with
	verbose  bool
	quiet    bool // print no report
	hunt     bool // end at the first violation
}

func parseOptions(args []string) (o options, err error) {
	flags := flag.NewFlagSet("prove", flag.ContinueOnError)
	var faults, mutants string
	flags.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano()/1e6)%1_000_000, "seed of the faults and of the load")
	flags.DurationVar(&o.duration, "for", 3*time.Minute, "how long faults happen")
	flags.BoolVar(&o.each, "each", false, "cause each kind of fault once, for a short time, instead of -for")
	flags.IntVar(&o.writes, "writes", 0, "load until so many writes are acknowledged, also after the faults")
	flags.StringVar(&faults, "faults", "", "only these kinds of faults, separated by commas")
	flags.IntVar(&o.clients, "clients", 12, "clients that write workspaces; others come in proportion")
	flags.BoolVar(&o.race, "race", false, "build the service with the race detector")
	flags.StringVar(&o.service, "service", "", "the service, instead of building it")
	flags.StringVar(&o.heap, "heap", "320m", "heap of a broker")
	flags.StringVar(&o.out, "out", "", "directory for the report, history and logs; a temporary one by default")
	flags.BoolVar(&o.mutants, "mutants", false, "run a short campaign for each mutant, and fail if one is not caught")
	flags.StringVar(&mutants, "mutant", "", "with -mutants: only these, separated by commas")
	flags.IntVar(&o.rotate, "rotate", 0, "with -mutants: only so many, chosen by the seed")
	flags.BoolVar(&o.keep, "keep", false, "keep the logs also when nothing is found")
	flags.BoolVar(&o.verbose, "v", false, "print each fault")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	o.faults, o.mutant = split(faults), split(mutants)
	for _, kind := range o.faults {
		if !slices.ContainsFunc(kinds(), func(k faultKind) bool { return k.name == kind }) {
			return o, fmt.Errorf("-faults %s: there is no such kind", kind)
		}
	}
	if flags.NArg() > 0 || o.duration <= 0 || o.clients < 1 {
		return o, errors.New("-for and -clients must be above zero, and there are no arguments")
	}
	return o, nil
}

func split(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

// size is about how long the load lasts.
func (o options) size() time.Duration {
	if o.each {
		return 5 * time.Minute
	}
	return o.duration
}

// schedule describes the faults.
func (o options) schedule() string {
	if o.each {
		return fmt.Sprintf("each of %d kinds once", len(kinds()))
	}
	return o.duration.String()
}

// over reports whether the faults are over, before the one of a number.
func (o options) over(number int, elapsed time.Duration) bool {
	if o.each {
		return number >= len(kinds())
	}
	return elapsed >= o.duration
}

// fault returns the fault of a number.
func (o options) fault(number int) fault {
	if o.each {
		return once(o.seed, number)
	}
	return planned(o.seed, number, o.faults)
}
