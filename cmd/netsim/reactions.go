package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"text/tabwriter"

	"netsim/infra/reactor"
	"netsim/internal/service"
)

type reactions struct {
	Dead  reactionsDead  `cmd:"" help:"List the dead letters: facts that a handler could not process."`
	Show  reactionsShow  `cmd:"" help:"Show a dead letter with its data."`
	Retry reactionsRetry `cmd:"" help:"Pass the facts of dead letters to their handlers again."`
}

type reactionsDead struct {
	JSON bool `help:"Print JSON instead of a table."`
}

// Run lists.
func (r reactionsDead) Run(ctx context.Context) error {
	return withTools(ctx, func(t *service.Tools) error {
		letters, err := t.DeadLetters(ctx, "")
		switch {
		case err != nil:
			return err
		case r.JSON:
			return printJSON(letters)
		case len(letters) == 0:
			_, err = fmt.Println("there are no dead letters")
			return err
		}
		table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "LETTER\tSTREAM\tTYPE\tREASON") //nolint:errcheck // Flush reports it
		for _, l := range letters {
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", //nolint:errcheck // Flush reports it
				printable(l.ID), printable(l.Stream), printable(l.Type), printable(l.Reason))
		}
		return table.Flush()
	})
}

type reactionsShow struct {
	Letter string `arg:"" help:"The dead letter, as the list names it."`
	JSON   bool   `help:"Print JSON instead of text."`
}

// Run shows a dead letter.
func (r reactionsShow) Run(ctx context.Context) error {
	return withTools(ctx, func(t *service.Tools) error {
		letters, err := t.DeadLetters(ctx, r.Letter)
		if err != nil {
			return err
		}
		l := letters[0]
		body, err := t.DeadLetterBody(ctx, l)
		if err != nil {
			return err
		}
		if r.JSON {
			return printJSON([]any{struct {
				reactor.DeadLetter
				Data string `json:"data"`
			}{l, body}})
		}
		_, err = fmt.Printf("%s of %s at %s/%d offset %d, event %s\n  handler: %s\n  reason: %s\n  data: %s\n",
			printable(l.Type), printable(l.Stream), printable(string(l.Family)), l.Partition, l.Offset, printable(l.EventID),
			printable(l.Handler), printable(l.Reason), printable(body))
		return err
	})
}

type reactionsRetry struct {
	Letter string `arg:"" optional:"" help:"The dead letter, as the list names it."`
	All    bool   `help:"Every dead letter."`
	JSON   bool   `help:"Print JSON instead of a table."`
}

// Validate implements kong.Validatable.
func (r reactionsRetry) Validate() error {
	if r.All == (r.Letter != "") {
		return errors.New("name a dead letter, or --all")
	}
	return nil
}

// Run retries, and fails when a handler fails again.
func (r reactionsRetry) Run(ctx context.Context) error {
	return withTools(ctx, func(t *service.Tools) error {
		retried, err := t.RetryDeadLetters(ctx, r.Letter)
		if printed := printRetried(retried, r.JSON); err == nil {
			err = printed
		}
		if err != nil {
			return err
		}
		failed := 0
		for _, l := range retried {
			if l.Error != "" {
				failed++
			}
		}
		if failed > 0 {
			return fmt.Errorf("%d of %d dead letters failed again", failed, len(retried))
		}
		return nil
	})
}

func printRetried(retried []service.Retried, asJSON bool) error {
	if asJSON {
		return printJSON(retried)
	}
	if len(retried) == 0 {
		_, err := fmt.Println("there are no dead letters")
		return err
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "LETTER\tRESULT") //nolint:errcheck // Flush reports it
	for _, l := range retried {
		fmt.Fprintf(table, "%s\t%s\n", printable(l.ID), cmp.Or(printable(l.Error), "settled")) //nolint:errcheck // Flush reports it
	}
	return table.Flush()
}
