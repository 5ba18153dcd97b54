package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"netsim/api"
	"netsim/cmd/operate"
)

type reactions struct {
	Status reactionsStatus `cmd:"" default:"withargs" help:"Show lag and dead letters by handler and partition (the default)."`
	Dead   reactionsDead   `cmd:"" help:"List the dead letters: facts that a handler could not process."`
	Show   reactionsShow   `cmd:"" help:"Show a dead letter with its data."`
	Retry  reactionsRetry  `cmd:"" help:"Pass the facts of dead letters to their handlers again."`
}

type reactionsDead struct {
	JSON bool `help:"Print JSON instead of a table."`
}

// Run lists the dead letters.
func (r reactionsDead) Run(ctx context.Context) error {
	return withTools(ctx, func(t *operate.Tools) error {
		letters, err := t.DeadLetters(ctx, 0)
		if err != nil {
			return err
		}
		if r.JSON {
			return printList(letters.Items)
		}
		var rows [][]string
		for _, l := range letters.Items {
			rows = append(rows, []string{l.ID, l.Stream, l.Type, l.Reason})
		}
		return printTable(noDeadLetters, "LETTER STREAM TYPE REASON", rows)
	})
}

type reactionsShow struct {
	Letter string `arg:"" help:"The dead letter's name in the list."`
	JSON   bool   `help:"Print JSON instead of text."`
}

// Run shows a dead letter.
func (r reactionsShow) Run(ctx context.Context) error {
	return withTools(ctx, func(t *operate.Tools) error {
		letters, err := t.Letters(ctx, r.Letter)
		if err != nil {
			return err
		}
		l, err := t.LetterContent(ctx, letters[0])
		if err != nil {
			return err
		}
		if r.JSON {
			return printList([]api.DeadLetterContent{l})
		}
		_, err = fmt.Printf("%s of %s at %s/%d offset %d, event %s\n  handler: %s\n  reason: %s\n  data: %s\n",
			printable(l.Type), printable(l.Stream), printable(l.Family), l.Partition, l.Offset, printable(l.EventID),
			printable(l.Handler), printable(l.Reason), printable(l.Data))
		return err
	})
}

type reactionsRetry struct {
	Letter string `arg:"" optional:"" help:"The dead letter's name in the list."`
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

// Run retries the handlers, and returns an error when one fails again.
func (r reactionsRetry) Run(ctx context.Context) error {
	return withTools(ctx, func(t *operate.Tools) error {
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

func printRetried(retried []api.RetriedDeadLetter, asJSON bool) error {
	if asJSON {
		return printList(retried)
	}
	var rows [][]string
	for _, l := range retried {
		rows = append(rows, []string{l.ID, cmp.Or(l.Error, "settled")})
	}
	return printTable(noDeadLetters, "LETTER RESULT", rows)
}

const noDeadLetters = "there are no dead letters"
