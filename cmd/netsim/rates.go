package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"netsim/billing/prices"
	"netsim/internal/service"
)

type rates struct {
	Apply applyRates `cmd:"" help:"Make the rates those of a file, from tomorrow on: rows that are no more in it end."`
}

type applyRates struct {
	File   string `arg:"" type:"existingfile" help:"A price list in YAML or JSON, as NETSIM_PRICES has it; its credit is left alone."`
	DryRun bool   `help:"Only show what would change." xor:"apply"`
	Yes    bool   `help:"Do not ask." xor:"apply"`
}

// errNotApplied is the error of an answer other than yes.
var errNotApplied = errors.New("nothing was changed")

// Run shows what the file changes, asks, and applies it.
func (a applyRates) Run(ctx context.Context) error {
	text, err := os.ReadFile(a.File)
	if err != nil {
		return err
	}
	list, err := prices.Read(text)
	if err != nil {
		return err
	}
	return withTools(ctx, func(t *service.Tools) error {
		return t.ApplyRates(ctx, list, func(p prices.Plan) (bool, error) {
			if err := p.Print(os.Stdout); err != nil || a.DryRun || len(p.Steps) == 0 {
				return false, err
			}
			if a.Yes || confirmed(os.Stdin) {
				return true, nil
			}
			return false, errNotApplied
		})
	})
}

func confirmed(in io.Reader) bool {
	fmt.Print("apply? [y/N] ")
	answer, _ := bufio.NewReader(in).ReadString('\n') //nolint:errcheck // no answer is no
	return strings.EqualFold(strings.TrimSpace(answer), "y")
}
