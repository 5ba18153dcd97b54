package main

import (
	"context"
	"fmt"

	"netsim/cmd/operate"
)

type publicStatus struct{ listing }

// Run prints a row for each partition of the log.
func (c publicStatus) Run(ctx context.Context) error {
	return withTools(ctx, func(t *operate.Tools) error {
		s, err := t.PublicTopics(ctx, c.Limit)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(s)
		}
		var rows [][]string
		for _, p := range s.Items {
			rows = append(rows, []string{p.Topic, p.Family, number(p.Partition), number(p.Next), number(p.LagRecords), age(p.LagSeconds)})
		}
		if err := printTable("the log has no partitions", "TOPIC FAMILY PARTITION NEXT LAG BEHIND", rows); err != nil {
			return err
		}
		fmt.Print(rest(len(rows), s.Total))
		with := "in transactions"
		if !s.Transactions {
			with = "without transactions: id and sequence tell a repeat"
		}
		if s.Publisher == "" {
			_, err = fmt.Printf("no process publishes; it would, %s\n", with)
		} else {
			_, err = fmt.Printf("published %s by %s\n", with, printable(s.Publisher))
		}
		return err
	})
}

type republish struct {
	Family string `arg:"" help:"The family, such as billing."`
}

// Run makes a public topic again.
func (r republish) Run(ctx context.Context) error {
	return withTools(ctx, func(t *operate.Tools) error {
		if err := t.Republish(ctx, r.Family); err != nil {
			return err
		}
		_, err := fmt.Printf("the public topic of %s is made again and is being filled from the first fact; its consumers must begin at offset 0\n", printable(r.Family))
		return err
	})
}
