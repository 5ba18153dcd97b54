package main

import (
	"context"
	"fmt"
	"slices"

	"netsim/cmd/operate"
	"netsim/infra/projector"
	"netsim/infra/reactor"
	"netsim/projections"
)

type readModelStatus struct{ listing }

// Run prints every read model, and for each the partitions that lag most.
func (c readModelStatus) Run(ctx context.Context) error {
	return withTools(ctx, func(t *operate.Tools) error {
		models, err := t.ReadModels(ctx)
		if err != nil {
			return err
		}
		for i := range models {
			slices.SortStableFunc(models[i].Partitions, func(a, b projector.PartitionStatus) int {
				return int(min(max(b.LagRecords+b.Parked-a.LagRecords-a.Parked, -1), 1))
			})
		}
		if c.JSON {
			return c.printJSON(models)
		}
		return c.print(models)
	})
}

func (c readModelStatus) printJSON(models []projector.Status) error {
	type model struct {
		projector.Status
		Partitions page[projector.PartitionStatus] `json:"partitions"`
	}
	all := make([]model, len(models))
	for i, m := range models {
		all[i] = model{m, pageOf(m.Partitions, c.Limit)}
	}
	return printJSON(pageOf(all, len(all)))
}

func (c readModelStatus) print(models []projector.Status) error {
	var rows, parts [][]string
	total := 0
	for _, m := range models {
		made := "this release"
		if !m.ThisRelease {
			made = "another release"
		}
		rows = append(rows, []string{m.Schema, made, m.Projector, number(m.Facts), number(m.LagRecords), age(m.LagSeconds), number(m.ParkedStreams)})
		total += len(m.Partitions)
		for _, p := range m.Partitions[:min(len(m.Partitions), c.Limit)] {
			parts = append(parts, []string{m.Schema, string(p.Family), number(p.Partition), number(p.Next), number(p.End), number(p.LagRecords), age(p.LagSeconds), number(p.Parked)})
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
	fmt.Print(page[[]string]{parts, total}.rest())
	return nil
}

type streamsStatus struct{ listing }

// Run prints a row for each family of streams.
func (c streamsStatus) Run(ctx context.Context) error {
	return withTools(ctx, func(t *operate.Tools) error {
		all, err := t.StreamStatus(ctx)
		if err != nil {
			return err
		}
		families := pageOf(all, c.Limit)
		if c.JSON {
			return printJSON(families)
		}
		var rows [][]string
		for _, f := range families.Items {
			rows = append(rows, []string{string(f.Family), number(f.Partitions), number(f.Records), number(f.LagRecords), age(f.LagSeconds), number(f.ParkedStreams), number(f.ParkedFacts)})
		}
		err = printTable("the log has no streams", "FAMILY PARTITIONS RECORDS LAG BEHIND PARKED-STREAMS PARKED-FACTS", rows)
		fmt.Print(families.rest())
		return err
	})
}

type reactionsStatus struct{ listing }

// Run prints a row for each handler and partition.
func (c reactionsStatus) Run(ctx context.Context) error {
	return withTools(ctx, func(t *operate.Tools) error {
		all, letters, err := t.ReactionStatus(ctx)
		if err != nil {
			return err
		}
		handlers := pageOf(all, c.Limit)
		if c.JSON {
			return printJSON(struct {
				page[reactor.Status]
				DeadLetters int `json:"deadLetters"`
			}{handlers, letters})
		}
		var rows [][]string
		for _, h := range handlers.Items {
			rows = append(rows, []string{h.Handler, string(h.Family), number(h.Partition), number(h.Next), number(h.LagRecords), age(h.LagSeconds), number(h.DeadLetters), since(h.DeadSince)})
		}
		if err := printTable("the log has no partitions", "HANDLER FAMILY PARTITION NEXT LAG BEHIND DEAD-LETTERS OLDEST", rows); err != nil {
			return err
		}
		fmt.Print(handlers.rest())
		_, err = fmt.Printf("%d dead letters are open\n", letters)
		return err
	})
}

type jobsStatus struct{ listing }

// Run prints a row for each kind and state.
func (c jobsStatus) Run(ctx context.Context) error {
	return withTools(ctx, func(t *operate.Tools) error {
		all, err := t.JobStatus(ctx)
		if err != nil {
			return err
		}
		kinds := pageOf(all, c.Limit)
		if c.JSON {
			return printJSON(kinds)
		}
		var rows [][]string
		for _, k := range kinds.Items {
			rows = append(rows, []string{k.Kind, k.State, number(k.Jobs), age(k.OldestSeconds), number(k.Attempts), since(k.LastErrorAt), short(k.LastError)})
		}
		err = printTable("there are no jobs", "KIND STATE JOBS OLDEST ATTEMPTS LAST-ERROR-AGE LAST-ERROR", rows)
		fmt.Print(kinds.rest())
		return err
	})
}

type runsStatus struct{ listing }

// Run prints the number of runs by state and engine, and then the runs.
func (c runsStatus) Run(ctx context.Context) error {
	return withTools(ctx, func(t *operate.Tools) error {
		all, counts, err := t.RunStatus(ctx, c.Limit)
		if err != nil {
			return err
		}
		total := 0
		var summary, rows [][]string
		for _, n := range counts {
			total += int(n.Simulations)
			summary = append(summary, []string{n.Status, n.Engine, number(n.Simulations)})
		}
		runs := page[operate.RunStatus]{append([]operate.RunStatus{}, all...), total}
		if c.JSON {
			return printJSON(struct {
				page[operate.RunStatus]
				Counts []projections.OpenCount `json:"counts"`
			}{runs, append([]projections.OpenCount{}, counts...)})
		}
		for _, r := range runs.Items {
			rows = append(rows, []string{r.Simulation, r.Status, r.Engine, age(r.AgeSeconds), r.Job, r.Worker, progressOf(r), r.Account})
		}
		if err := printTable("no simulation is open", "STATUS ENGINE SIMULATIONS", summary); err != nil || len(rows) == 0 {
			return err
		}
		fmt.Println()
		err = printTable("", "SIMULATION STATUS ENGINE AGE JOB WORKER PROGRESS ACCOUNT", rows)
		fmt.Print(runs.rest())
		return err
	})
}

// progressOf describes how much of its payload a run has delivered, and for how long it
// has stalled.
func progressOf(r operate.RunStatus) string {
	var text string
	switch {
	case r.TotalBytes > 0:
		text = fmt.Sprintf("%s of %s", size(r.DeliveredBytes), size(r.TotalBytes))
	case r.DeliveredBytes > 0:
		text = size(r.DeliveredBytes)
	}
	if r.StalledSince != nil {
		text += " stalled for " + since(r.StalledSince)
	}
	return text
}
