package client

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"netsim/cmd/table"
	netsim "netsim/sdk/go"
	"netsim/sdk/go/api"
)

type sims struct {
	Submit  simSubmit  `cmd:"" help:"Submit a simulation."`
	Watch   simWatch   `cmd:"" help:"Follow a simulation until it has ended."`
	List    simList    `cmd:"" help:"List simulations, the newest first."`
	Results simResults `cmd:"" help:"Show the results of a simulation, and download their files."`
	Compare simCompare `cmd:"" help:"Compare two completed simulations; the exit code is 1 if they differ."`
	Explain simExplain `cmd:"" help:"Show why a simulation takes as long as it does."`
	Stop    simStop    `cmd:"" help:"Stop a simulation. What it has computed stays."`
}

// simulation names the simulation of a command.
type simulation struct {
	ID string `arg:"" name:"simulation" predictor:"simulation" help:"Its id."`
}

// page limits a list.
type page struct {
	Limit     int    `default:"20" placeholder:"ROWS" help:"Most rows to print."`
	Status    string `placeholder:"STATUS" help:"Only those with this status, such as completed."`
	Search    string `placeholder:"TEXT" help:"Only those with this text in their name."`
	Workspace string `placeholder:"ID" predictor:"workspace" help:"Only those of this workspace."`
}

// given returns a pointer to a parameter that was given, and else nil.
func given[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}

// pageSize is that of the requests of a list.
func (p page) pageSize() *int64 { return new(int64(min(max(p.Limit, 1), 100))) }

// check is Validate of what embeds both a page and the options.
func (p page) check() error {
	if p.Limit < 1 {
		return fmt.Errorf("--limit must be at least 1")
	}
	return nil
}

func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}

type simList struct {
	options
	page
}

// Validate implements kong.Validatable.
func (c simList) Validate() error {
	if err := c.page.check(); err != nil {
		return err
	}
	return c.options.Validate()
}

// Run lists simulations.
func (c simList) Run(ctx context.Context, t *Terminal) error {
	return c.ask(ctx, t, func(ctx context.Context, s *session) (answer, error) {
		list, rows := []api.SimulationListItem{}, [][]string{}
		for run, err := range s.AllSimulations(ctx, api.ListSimulationsParams{
			Limit: c.pageSize(), Status: given(c.Status), Search: given(c.Search), WorkspaceID: given(c.Workspace),
		}) {
			if err != nil {
				return answer{}, err
			}
			list = append(list, run)
			rows = append(rows, []string{run.ID, string(run.Status), moment(run.CreatedAt), run.Name})
			if len(list) == c.Limit {
				break
			}
		}
		return answer{list, func(w io.Writer) error {
			return table.Write(w, "there is no simulation", "SIMULATION STATUS CREATED NAME", rows)
		}}, nil
	})
}

type simWatch struct {
	options
	simulation
}

// Run follows a simulation.
func (c simWatch) Run(ctx context.Context, t *Terminal) error {
	return c.run(ctx, t, func(ctx context.Context, s *session) error { return s.watch(ctx, c.ID) })
}

// watch follows a simulation until it has ended: for a program with a line for each change,
// and for people with a bar and a sentence. It returns an error unless it has completed.
func (s *session) watch(ctx context.Context, id string) error {
	bar := s.bar(id)
	defer bar.end()
	for event, err := range s.Watch(ctx, id) {
		if err != nil {
			return err
		}
		if s.forProgram() {
			if err := s.printLine(s.Terminal, answer{value: event}); err != nil {
				return err
			}
		}
		bar.show(string(event.Status), doneOf(event.Progress))
	}
	bar.end()
	run, err := s.GetSimulation(ctx, id, nil)
	if err != nil {
		return err
	}
	if !s.forProgram() {
		if _, err := fmt.Fprintln(s.Out, ending(run)); err != nil {
			return err
		}
	}
	return netsim.Failed(run)
}

// ending says how a simulation is.
func ending(run *api.Simulation) string {
	text := fmt.Sprintf("%s %s", run.ID, run.Status)
	if run.Metrics != nil && run.Metrics.SimulatedTime != "" {
		text += ", simulated time " + run.Metrics.SimulatedTime
	}
	return text
}

// doneOf returns the part of a simulation that is done, by what has a known whole.
func doneOf(p *api.SimulationProgress) float64 {
	switch {
	case p == nil:
		return 0
	case p.TotalBytes > 0:
		return float64(p.DeliveredBytes) / float64(p.TotalBytes)
	case p.TotalCollectives > 0:
		return float64(p.FinishedCollectives) / float64(p.TotalCollectives)
	case p.TotalRanks > 0:
		return float64(p.FinishedRanks) / float64(p.TotalRanks)
	}
	return 0
}

type simStop struct {
	options
	simulation
}

// Run stops a simulation.
func (c simStop) Run(ctx context.Context, t *Terminal) error {
	return c.ask(ctx, t, func(ctx context.Context, s *session) (answer, error) {
		run, err := s.TerminateSimulation(ctx, c.ID, nil)
		if err != nil {
			return answer{}, err
		}
		return line(run, "%s", ending(run)), nil
	})
}

type simCompare struct {
	options
	simulation
	Other string `arg:"" predictor:"simulation" help:"The id of the other one."`
}

// Run compares two simulations.
func (c simCompare) Run(ctx context.Context, t *Terminal) error {
	return c.run(ctx, t, func(ctx context.Context, s *session) error {
		found, err := s.CompareSimulations(ctx, c.ID, c.Other, nil)
		if err != nil {
			return err
		}
		figures, rows := found.Results.Figures, [][]string{}
		differs := !found.Inputs.Equal
		add := func(name, unit string, counts api.ComparedCounts) {
			rows = append(rows, []string{name, fmt.Sprint(counts.This), fmt.Sprint(counts.Other), unit})
			differs = differs || counts.This != counts.Other
		}
		add("simulated time", "ps", figures.SimulatedTimePs)
		add("mean time of computations", "ps", figures.MeanComputeTimePs)
		add("mean exposed communication", "ps", figures.MeanExposedTimePs)
		add("mean time of transfers", "ps", figures.MeanTransferTimePs)
		add("goodput", "bit/s", figures.GoodputBps)
		add("payload", "bytes", figures.PayloadBytes)
		add("ranks", "", figures.Ranks)
		add("collectives", "", figures.Collectives)
		add("transfers", "", figures.Transfers)
		err = s.print(t, answer{found, func(w io.Writer) error {
			if err := table.Write(w, "", "FIGURE THIS OTHER UNIT", rows); err != nil {
				return err
			}
			lines := []string{}
			for _, change := range found.Inputs.Changes {
				lines = append(lines, table.Printable(change.Text))
			}
			if found.Inputs.Omitted > 0 {
				lines = append(lines, fmt.Sprintf("%d more changes of the inputs", found.Inputs.Omitted))
			}
			_, err := fmt.Fprintln(w, strings.Join(append(lines, table.Printable(found.Sentence)), "\n"))
			return err
		}})
		if err == nil && differs {
			err = errDiffers
		}
		return err
	})
}
