package main

import (
	"context"
	"fmt"

	"netsim/api"
	"netsim/cmd/operate"
	"netsim/cmd/table"
)

type readModelStatus struct{ listing }

// Run prints every read model, and for each the partitions that lag most.
func (c readModelStatus) Run(ctx context.Context) error {
	return withTools(ctx, func(t *operate.Tools) error {
		models, err := t.ReadModels(ctx, c.Limit)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(models)
		}
		return c.print(models.Items)
	})
}

func (c readModelStatus) print(models []api.ReadModel) error {
	var rows, parts [][]string
	total := int64(0)
	for _, m := range models {
		made := "this release"
		if !m.ThisRelease {
			made = "another release"
		}
		rows = append(rows, []string{m.Schema, made, m.Projector, number(m.Facts), number(m.LagRecords), age(m.LagSeconds), number(m.ParkedStreams)})
		total += m.Partitions.Total
		for _, p := range m.Partitions.Items {
			parts = append(parts, []string{m.Schema, p.Family, number(p.Partition), number(p.Next), number(p.End), number(p.LagRecords), age(p.LagSeconds), number(p.Parked)})
		}
	}
	if err := printTable("there is no read model: 'netsim serve' makes it", "SCHEMA MADE-BY PROJECTED-BY FACTS LAG BEHIND PARKED", rows); err != nil || len(rows) == 0 {
		return err
	}
	for _, m := range models {
		for _, obstacle := range m.Obstacles {
			fmt.Printf("promote %s: %s\n", m.Schema, printable(obstacle))
		}
	}
	fmt.Println()
	if err := printTable("", "SCHEMA FAMILY PARTITION NEXT END LAG BEHIND PARKED", parts); err != nil {
		return err
	}
	fmt.Print(rest(len(parts), total))
	return nil
}

type streamsStatus struct{ listing }

// Run prints a row for each family of streams.
func (c streamsStatus) Run(ctx context.Context) error {
	return withTools(ctx, func(t *operate.Tools) error {
		families, err := t.StreamFamilies(ctx, c.Limit)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(families)
		}
		var rows [][]string
		for _, f := range families.Items {
			rows = append(rows, []string{f.Family, number(f.Partitions), number(f.Records), number(f.LagRecords), age(f.LagSeconds), number(f.ParkedStreams), number(f.ParkedFacts)})
		}
		err = printTable("the log has no streams", "FAMILY PARTITIONS RECORDS LAG BEHIND PARKED-STREAMS PARKED-FACTS", rows)
		fmt.Print(rest(len(rows), families.Total))
		return err
	})
}

type reactionsStatus struct{ listing }

// Run prints a row for each handler; the JSON has one for each of its partitions.
func (c reactionsStatus) Run(ctx context.Context) error {
	return withTools(ctx, func(t *operate.Tools) error {
		if c.JSON {
			partitions, err := t.Reactions(ctx, c.Limit)
			if err != nil {
				return err
			}
			return printJSON(partitions)
		}
		all, err := t.Reactions(ctx, 0)
		if err != nil {
			return err
		}
		handlers := operate.ByHandler(all.Items)
		var rows [][]string
		for _, h := range handlers[:min(c.Limit, len(handlers))] {
			rows = append(rows, []string{h.Handler, number(h.Partitions), number(h.LagRecords), age(h.LagSeconds), number(h.DeadLetters), since(h.DeadSince)})
		}
		if err := printTable("the log has no partitions", "HANDLER PARTITIONS LAG BEHIND DEAD-LETTERS OLDEST", rows); err != nil {
			return err
		}
		fmt.Print(rest(len(rows), int64(len(handlers))))
		_, err = fmt.Printf("%d dead letters are open\n", all.DeadLetters)
		return err
	})
}

type jobsStatus struct{ listing }

// Run prints a row for each kind and state.
func (c jobsStatus) Run(ctx context.Context) error {
	return withTools(ctx, func(t *operate.Tools) error {
		kinds, err := t.Jobs(ctx, c.Limit)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(kinds)
		}
		var rows [][]string
		for _, k := range kinds.Items {
			rows = append(rows, []string{k.Kind, k.State, number(k.Jobs), age(k.OldestSeconds), number(k.Attempts), since(k.LastErrorAt), short(k.LastError)})
		}
		err = printTable("there are no jobs", "KIND STATE JOBS OLDEST ATTEMPTS LAST-ERROR-AGE LAST-ERROR", rows)
		fmt.Print(rest(len(rows), kinds.Total))
		return err
	})
}

type runsStatus struct{ listing }

// Run prints the number of runs by state and engine, and then the runs.
func (c runsStatus) Run(ctx context.Context) error {
	return withTools(ctx, func(t *operate.Tools) error {
		runs, err := t.OpenRuns(ctx, c.Limit)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(runs)
		}
		var summary, rows [][]string
		for _, n := range runs.Counts {
			summary = append(summary, []string{n.Status, n.Engine, number(n.Simulations)})
		}
		for _, r := range runs.Items {
			rows = append(rows, []string{r.Simulation, r.Status, r.Engine, age(r.AgeSeconds), r.Job, r.Worker, progressOf(r), r.Account})
		}
		if err := printTable("no simulation is open", "STATUS ENGINE SIMULATIONS", summary); err != nil || len(rows) == 0 {
			return err
		}
		fmt.Println()
		err = printTable("", "SIMULATION STATUS ENGINE AGE JOB WORKER PROGRESS ACCOUNT", rows)
		fmt.Print(rest(len(rows), runs.Total))
		return err
	})
}

// progressOf describes how much of its payload a run has delivered, and for how long it
// has stalled.
func progressOf(r api.OpenRun) string {
	var text string
	switch {
	case r.TotalBytes > 0:
		text = fmt.Sprintf("%s of %s", table.Size(r.DeliveredBytes), table.Size(r.TotalBytes))
	case r.DeliveredBytes > 0:
		text = table.Size(r.DeliveredBytes)
	}
	if r.StalledSince != nil {
		text += " stalled for " + since(r.StalledSince)
	}
	return text
}
