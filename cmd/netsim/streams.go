package main

import (
	"context"
	"errors"
	"fmt"

	"netsim/api"
	"netsim/cmd/operate"
	"netsim/infra/projector"
)

type streams struct {
	Status streamsStatus `cmd:"" default:"withargs" help:"Show lag and parked streams by family (the default)."`
	Parked streamsParked `cmd:"" help:"List the facts that cannot be applied, by stream."`
	Show   streamsShow   `cmd:"" help:"Show the parked facts of a stream with their data."`
	Step   streamsStep   `cmd:"" help:"Show every fact of a stream with its data, and the state before and after it."`
	Retry  streamsRetry  `cmd:"" help:"Apply parked facts again, in order: all facts of a stream or none."`
}

type streamsParked struct {
	ReadModel string `help:"The read model's schema." default:"readmodel" placeholder:"SCHEMA"`
	JSON      bool   `help:"Print JSON instead of a table."`
}

// Run lists the parked facts.
func (s streamsParked) Run(ctx context.Context) error {
	return withTools(ctx, func(t *operate.Tools) error {
		parked, err := t.Parked(ctx, projector.ParkedQuery{Schema: s.ReadModel})
		if err != nil {
			return err
		}
		return printParked(parked.Items, s.JSON)
	})
}

type streamsShow struct {
	Stream    string `arg:"" help:"The stream's id."`
	ReadModel string `help:"The read model's schema." default:"readmodel" placeholder:"SCHEMA"`
	JSON      bool   `help:"Print JSON instead of text."`
}

// Run shows each parked fact with its data.
func (s streamsShow) Run(ctx context.Context) error {
	return withTools(ctx, func(t *operate.Tools) error {
		parked, err := t.Parked(ctx, projector.ParkedQuery{Schema: s.ReadModel, Stream: s.Stream})
		if err != nil {
			return err
		}
		if len(parked.Items) == 0 {
			return fmt.Errorf("stream %s is not parked", s.Stream)
		}
		all := make([]api.ParkedFactContent, len(parked.Items))
		for i, fact := range parked.Items {
			p, err := t.ParkedContent(ctx, fact)
			if err != nil {
				return err
			}
			all[i] = p
			if !s.JSON {
				fmt.Printf("%d %s at %s/%d offset %d\n  reason: %s\n  data: %s\n",
					p.Sequence, printable(p.Type), p.Family, p.Partition, p.Offset, printable(p.Reason), printable(p.Data))
			}
		}
		if s.JSON {
			return printList(all)
		}
		return nil
	})
}

type streamsRetry struct {
	Stream string `arg:"" optional:"" help:"The stream's id."`
	All    bool   `help:"Every parked stream."`
	JSON   bool   `help:"Print JSON instead of a table."`
}

// Validate implements kong.Validatable.
func (s streamsRetry) Validate() error {
	if s.All == (s.Stream != "") {
		return errors.New("name a stream, or --all")
	}
	return nil
}

// Run retries the facts, and returns an error when some stay parked.
func (s streamsRetry) Run(ctx context.Context) error {
	return withTools(ctx, func(t *operate.Tools) error {
		left, err := t.RetryParked(ctx, s.Stream)
		if err != nil {
			return err
		}
		if err := printParked(left.Items, s.JSON); err != nil || left.Total == 0 {
			return err
		}
		return fmt.Errorf("%d facts stay parked", left.Total)
	})
}

func printParked(parked []api.ParkedFact, asJSON bool) error {
	if asJSON {
		return printList(parked)
	}
	var rows [][]string
	for _, p := range parked {
		rows = append(rows, []string{p.Stream, number(p.Sequence), p.Type, fmt.Sprintf("%s/%d@%d", p.Family, p.Partition, p.Offset), p.Reason})
	}
	return printTable("nothing is parked", "STREAM SEQUENCE TYPE RECORD REASON", rows)
}
