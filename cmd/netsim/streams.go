package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"text/tabwriter"

	"netsim/infra/projector"
	"netsim/internal/service"
)

type streams struct {
	Parked streamsParked `cmd:"" help:"List the facts that cannot be applied, by stream."`
	Show   streamsShow   `cmd:"" help:"Show the parked facts of a stream with their data."`
	Retry  streamsRetry  `cmd:"" help:"Apply parked facts again, in order, all of a stream or none."`
}

type streamsParked struct {
	ReadModel string `help:"The read model's schema." default:"readmodel" placeholder:"SCHEMA"`
	JSON      bool   `help:"Print JSON instead of a table."`
}

// Run lists.
func (s streamsParked) Run(ctx context.Context) error {
	return withTools(ctx, func(t *service.Tools) error {
		parked, err := t.Parked(ctx, s.ReadModel, "")
		if err != nil {
			return err
		}
		return printParked(parked, s.JSON)
	})
}

type streamsShow struct {
	Stream    string `arg:"" help:"The stream's id."`
	ReadModel string `help:"The read model's schema." default:"readmodel" placeholder:"SCHEMA"`
	JSON      bool   `help:"Print JSON instead of text."`
}

// Run shows each parked fact with its data.
func (s streamsShow) Run(ctx context.Context) error {
	return withTools(ctx, func(t *service.Tools) error {
		parked, err := t.Parked(ctx, s.ReadModel, s.Stream)
		if err != nil {
			return err
		}
		if len(parked) == 0 {
			return fmt.Errorf("stream %s is not parked", s.Stream)
		}
		type shown struct {
			projector.Parked
			Data string `json:"data"`
		}
		all := make([]shown, len(parked))
		for i, p := range parked {
			body, err := t.ParkedBody(ctx, p)
			if err != nil {
				return err
			}
			all[i] = shown{p, body}
			if !s.JSON {
				fmt.Printf("%d %s at %s/%d offset %d\n  reason: %s\n  data: %s\n",
					p.Sequence, printable(p.Type), p.Family, p.Partition, p.Offset, printable(p.Reason), printable(body))
			}
		}
		if s.JSON {
			return printJSON(all)
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

// Run retries, and fails when something stays parked.
func (s streamsRetry) Run(ctx context.Context) error {
	return withTools(ctx, func(t *service.Tools) error {
		left, err := t.RetryParked(ctx, s.Stream)
		if err != nil {
			return err
		}
		if err := printParked(left, s.JSON); err != nil || len(left) == 0 {
			return err
		}
		return fmt.Errorf("%d facts stay parked", len(left))
	})
}

func printParked(parked []projector.Parked, asJSON bool) error {
	if asJSON {
		return printJSON(parked)
	}
	if len(parked) == 0 {
		_, err := fmt.Println("nothing is parked")
		return err
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "STREAM\tSEQUENCE\tTYPE\tRECORD\tREASON") //nolint:errcheck // Flush reports it
	for _, p := range parked {
		fmt.Fprintf(table, "%s\t%d\t%s\t%s/%d@%d\t%s\n", //nolint:errcheck // Flush reports it
			printable(p.Stream), p.Sequence, printable(p.Type), p.Family, p.Partition, p.Offset, printable(p.Reason))
	}
	return table.Flush()
}

// printJSON prints a list, [] when it is empty.
func printJSON[T any](list []T) error {
	if list == nil {
		list = []T{}
	}
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	return out.Encode(list)
}
