package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"netsim/cmd/operate"
	"netsim/readapi"
	"netsim/stream/history"
)

type streamsStep struct {
	Stream string `arg:"" help:"The stream's id, such as a simulation's."`
	From   int64  `default:"1" placeholder:"N" help:"The first sequence."`
	Limit  int64  `default:"0" placeholder:"N" help:"End after this many facts; 0 is all."`
	States bool   `default:"true" negatable:"" help:"Show the state before and after each fact; up to sequence 2,000."`
	JSON   bool   `help:"Print one line of JSON a fact, as GET /api/v1/streams shows it."`
}

// Validate implements kong.Validatable.
func (s streamsStep) Validate() error {
	if s.From < 1 || s.Limit < 0 {
		return errors.New("--from must be above zero, and --limit not below it")
	}
	return nil
}

// Run prints the facts of a stream with the states around them.
func (s streamsStep) Run(ctx context.Context) error {
	return withTools(ctx, func(t *operate.Tools) error {
		lines := json.NewEncoder(os.Stdout)
		lines.SetEscapeHTML(false)
		return t.Step(ctx, s.Stream, s.From, s.Limit, s.States, func(f *history.Fact) error {
			view := readapi.StreamFact(f)
			if s.JSON {
				return lines.Encode(view)
			}
			fmt.Printf("%d %s at %s/%d offset %d, %s, %s\n", f.Sequence, printable(f.Type), f.Family, f.Partition, f.Offset,
				f.Time.Format("2006-01-02T15:04:05.000Z"), printable(f.Actor))
			if f.CauseID+f.CorrelationID != "" {
				fmt.Printf("  event %s, cause %s, request %s\n", printable(f.ID), printable(cmp.Or(f.CauseID, "-")), printable(cmp.Or(f.CorrelationID, "-")))
			}
			fmt.Printf("  data: %s\n", printable(string(f.Record.Value)))
			if s.States {
				fmt.Printf("  before: %s\n  after: %s\n", printable(string(f.Before)), printable(string(f.After)))
			}
			return nil
		})
	})
}
