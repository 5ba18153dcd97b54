package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	"netsim/billing/focus"
	"netsim/cmd/operate"
)

type billing struct {
	Rates  rates      `cmd:"" help:"The price list."`
	Export costExport `cmd:"" help:"Write daily costs as a FOCUS 1.2 cost and usage dataset."`
}

type costExport struct {
	From        time.Time `required:"" format:"2006-01-02" placeholder:"DATE" help:"First day, UTC."`
	To          time.Time `required:"" format:"2006-01-02" placeholder:"DATE" help:"Last day, UTC, included."`
	Account     string    `placeholder:"ID" help:"Account id; the whole platform when absent."`
	Format      string    `default:"csv" enum:"csv,parquet" help:"csv or parquet."`
	Out         string    `required:"" placeholder:"DIR" help:"Directory for the dataset and its metadata."`
	CreditPrice string    `default:"1" placeholder:"USD" help:"Price of a CREDIT: FOCUS bills in national currencies only."`
}

// Validate implements kong.Validatable.
func (e costExport) Validate() error {
	if e.To.Before(e.From) {
		return errors.New("--to is before --from")
	}
	return nil
}

// Run exports the costs.
func (e costExport) Run(ctx context.Context) error {
	debug.SetGCPercent(50) // a long export shares its machine, so it should use little memory
	return withTools(ctx, func(t *operate.Tools) error {
		done, err := t.ExportCosts(ctx, focus.Request{
			From: e.From, To: e.To, AccountID: e.Account, Format: e.Format, CreditPrice: e.CreditPrice,
		}, e.Out)
		if err != nil {
			return err
		}
		fmt.Printf("%s: %d rows, described in %s\n", done.Data, done.Rows, done.Metadata)
		for _, currency := range slices.Sorted(maps.Keys(done.Totals)) {
			fmt.Printf("total %s %s, equal to the cost summary\n", done.Totals[currency], currency)
		}
		return nil
	})
}
