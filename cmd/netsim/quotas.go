package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"netsim/cmd/operate"
)

type quotas struct {
	Show showQuotas `cmd:"" help:"Print the quotas of an account."`
	Set  setQuotas  `cmd:"" help:"Set quotas of an account; running processes apply them at once."`
}

type showQuotas struct {
	Account string `arg:"" help:"Account id."`
}

// Run prints the quotas.
func (s showQuotas) Run(ctx context.Context) error {
	return withTools(ctx, func(t *operate.Tools) error { return s.print(ctx, t) })
}

func (s showQuotas) print(ctx context.Context, t *operate.Tools) error {
	q, err := t.Quotas(ctx, s.Account)
	if err != nil {
		return err
	}
	var rows [][]string
	for _, name := range slices.Sorted(maps.Keys(q.Settings)) {
		if limit, set := q.Set[name]; set {
			rows = append(rows, []string{name, number(limit), "set, instead of " + operate.QuotaText(q.Settings[name])})
		} else {
			rows = append(rows, []string{name, operate.QuotaText(q.Settings[name]), "by default"})
		}
	}
	return printTable("there are no quotas", "", rows)
}

type setQuotas struct {
	Account string            `arg:"" help:"Account id."`
	Limits  map[string]string `arg:"" help:"NAME=LIMIT, or NAME=default for the limit of the settings."`
}

// Run sets the quotas and prints all quotas of the account.
func (s setQuotas) Run(ctx context.Context) error {
	limits := make(map[string]*int64, len(s.Limits))
	for name, text := range s.Limits {
		if text == "default" {
			limits[name] = nil
			continue
		}
		limit, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return fmt.Errorf("%s=%s: the limit must be an integer or 'default'", name, text)
		}
		limits[name] = &limit
	}
	return withTools(ctx, func(t *operate.Tools) error {
		if err := t.SetQuotas(ctx, s.Account, limits); err != nil {
			return err
		}
		return showQuotas{s.Account}.print(ctx, t)
	})
}
