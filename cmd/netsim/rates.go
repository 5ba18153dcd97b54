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
	"netsim/cmd/operate"
)

type rates struct {
	Apply applyRates `cmd:"" help:"Apply the rates in a file from tomorrow on; rates that are missing in the file end."`
}

type applyRates struct {
	File   string `arg:"" type:"existingfile" help:"A price list in YAML or JSON, as in NETSIM_PRICES; its credit is ignored."`
	DryRun bool   `help:"Only show what would change." xor:"apply"`
	Yes    bool   `help:"Do not ask." xor:"apply"`
}

// errNotApplied is returned when the operator does not confirm the change.
var errNotApplied = errors.New("nothing was changed")

// Run shows the changes, asks for confirmation, and applies them.
func (a applyRates) Run(ctx context.Context) error {
	text, err := os.ReadFile(a.File)
	if err != nil {
		return err
	}
	list, err := prices.Read(text)
	if err != nil {
		return err
	}
	return withTools(ctx, func(t *operate.Tools) error {
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
	answer, _ := bufio.NewReader(in).ReadString('\n') //nolint:errcheck // an unreadable answer counts as no
	return strings.EqualFold(strings.TrimSpace(answer), "y")
}
