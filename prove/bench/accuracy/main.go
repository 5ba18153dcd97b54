// Command accuracy runs the cases of other simulators as the service runs a client's
// simulation, and prints the engine's times beside the reference's times. Its exit
// status is 1 when a section exceeds its bound.
//
//	go run -C prove ./bench/accuracy                  the table
//	go run -C prove ./bench/accuracy -reference DIR   the same tables from DIR, without our own
//	go generate -C prove ./bench/accuracy             the tables of docs/engine.md, and
//	                                         simulator/accuracy/bands.json
//
// The bounds come from the engine's requirements. The tests of this package check
// them with the same code. Rows of a case that netsim cannot build are not compared,
// but counted by reason.
package main

//go:generate go run . -reference ../../../simulator/engine/testdata -document ../../../docs/engine.md -bands ../../../simulator/accuracy/bands.json

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"netsim/prove/bench/reference"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "accuracy:", err)
		os.Exit(1)
	}
}

var errBeyond = errors.New("beyond the bounds")

func run(ctx context.Context, out io.Writer, args []string) error {
	flags := flag.NewFlagSet("accuracy", flag.ContinueOnError)
	dir := flags.String("reference", reference.Dir, "directory with astrasim_1d.csv, astrasim_switch_chunk_convergence.csv and htsim_leafspine.csv")
	document := flags.String("document", "", "write the tables between the markers of this file, and print nothing")
	bands := flags.String("bands", "", "with -document: write the bands of the rows to this file as JSON")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("argument %q: the command takes options only", flags.Arg(0))
	}
	sections, err := compare(ctx, *dir, *dir == reference.Dir || *document != "")
	if err != nil {
		return err
	}
	if *document != "" {
		if err := writeDocument(*document, sections); err != nil || *bands == "" {
			return err
		}
		return writeBands(*bands, sections)
	}
	if err := printTable(out, sections); err != nil {
		return err
	}
	for _, s := range sections {
		if s.beyond() != "" {
			return errBeyond
		}
	}
	return nil
}

// compare runs every row of the tables in dir, and with own the rows of
// prove/bench/reference too.
func compare(ctx context.Context, dir string, own bool) ([]section, error) {
	var all []section
	parts := []func(context.Context, string) ([]section, error){closedForms, astraSim, htsim}
	if own {
		parts = append(parts, ownRows, acknowledged)
	}
	for _, run := range parts {
		sections, err := run(ctx, dir)
		if err != nil {
			return nil, err
		}
		all = append(all, sections...)
	}
	return all, nil
}
