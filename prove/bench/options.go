package main

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
)

// options are the command-line options.
type options struct {
	quick    bool
	only     []string
	profiles string
	results  string
}

// allParts lists the parts of a run in order. The parts in profiled run the service,
// so -profile has an effect.
func allParts() (names []string, profiled map[string]bool) {
	return []string{"durable", "peers", "reactions", "publishing", "processes", "feed", "lists", "summary", "accrual", "studies", "runs", "fast", "topology", "replay", "engine", "audit", "export", "lake", "console"},
		map[string]bool{"durable": true, "reactions": true, "publishing": true, "processes": true, "feed": true, "lists": true, "summary": true, "accrual": true, "studies": true, "runs": true, "fast": true, "topology": true, "lake": true}
}

func newFlags(o *options, only *string) *flag.FlagSet {
	names, _ := allParts()
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.BoolVar(&o.quick, "quick", false, "measure less, in about three minutes")
	flags.StringVar(only, "only", strings.Join(names, ","), "which parts to run")
	flags.StringVar(&o.profiles, "profile", "", "directory for profiles of the service, of CPU time and heap")
	flags.StringVar(&o.results, "results", "bench/results", "directory for the figures as JSON")
	return flags
}

// parseOptions refuses options and arguments that a run would ignore.
func parseOptions(args []string) (o options, err error) {
	var only string
	flags := newFlags(&o, &only)
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("argument %q: the command takes options only", flags.Arg(0))
	}
	o.only = strings.Split(only, ",")
	names, profiled := allParts()
	for _, name := range o.only {
		if !slices.Contains(names, name) {
			return o, fmt.Errorf("-only %q: the parts are %s", name, strings.Join(names, ", "))
		}
	}
	if o.profiles != "" && !slices.ContainsFunc(o.only, func(name string) bool { return profiled[name] }) {
		return o, errors.New("-profile: none of the parts of -only runs the service")
	}
	return o, nil
}
