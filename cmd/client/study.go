package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"netsim/cmd/table"
	"netsim/sdk/go/api"
)

type studies struct {
	Start  studyStart  `cmd:"" help:"Start a study."`
	Watch  studyWatch  `cmd:"" help:"Follow a study until it has ended."`
	List   studyList   `cmd:"" help:"List studies, the newest first."`
	Table  studyTable  `cmd:"" help:"Show the points of a study with their figures."`
	Pareto studyPareto `cmd:"" help:"Draw the points of a study by price and time, and list those that no other one beats in both."`
	Stop   studyStop   `cmd:"" help:"Stop a study and its simulations."`
}

// study names the study of a command.
type study struct {
	ID string `arg:"" name:"study" predictor:"study" help:"Its id."`
}

type studyStart struct {
	options
	File      string `arg:"" type:"path" help:"A file with the study in JSON; - is standard input."`
	Name      string `placeholder:"NAME" help:"Its name, in place of the file's."`
	Workspace string `placeholder:"ID" predictor:"workspace" help:"Where to make it, in place of the file's."`
	Watch     bool   `help:"Follow the study until it has ended, as study watch does."`
}

// Help implements kong.HelpProvider.
func (studyStart) Help() string {
	return `A study of two switches: {"name": "radix", "base": {"simple": {"workload": {"ranks": 8, "phases": [{"operationType": "allReduce", ` +
		`"dataSize": 1048576}]}}}, "axes": [{"field": "topologyConstraints.switchRadix", "values": ["64x800G", "128x400G"]}]}`
}

// Run starts a study.
func (c studyStart) Run(ctx context.Context, t *Terminal) error {
	return c.run(ctx, t, func(ctx context.Context, s *session) error {
		text, err := s.read(c.File)
		if err != nil {
			return err
		}
		var start api.StudyStart
		if err := strict(c.File, text, &start); err != nil {
			return err
		}
		start.Name, start.WorkspaceID = cmp.Or(c.Name, start.Name), cmp.Or(c.Workspace, start.WorkspaceID)
		made, err := s.StartStudy(ctx, nil, start)
		if err != nil {
			return err
		}
		if c.Watch {
			return s.watchStudy(ctx, made.ID)
		}
		return s.print(t, line(made, "%s", made.ID))
	})
}

type studyWatch struct {
	options
	study
}

// Run follows a study.
func (c studyWatch) Run(ctx context.Context, t *Terminal) error {
	return c.run(ctx, t, func(ctx context.Context, s *session) error { return s.watchStudy(ctx, c.ID) })
}

var errStudy = errors.New("the study did not complete")

// watchStudy follows a study until it has ended, as watch does. It returns an error unless it
// has completed.
func (s *session) watchStudy(ctx context.Context, id string) error {
	bar := s.bar(id)
	defer bar.end()
	for event, err := range s.WatchStudy(ctx, id) {
		if err != nil {
			return err
		}
		if s.forProgram() {
			if err := s.printLine(s.Terminal, answer{value: event}); err != nil {
				return err
			}
		}
		p := event.Progress
		bar.show(string(event.Status), 1-float64(p.Unfinished+p.Waiting)/float64(max(runsOf(p), 1)))
	}
	bar.end()
	found, err := s.GetStudy(ctx, id, nil)
	if err != nil {
		return err
	}
	if !s.forProgram() {
		if _, err := fmt.Fprintln(s.Out, endingOfStudy(found)); err != nil {
			return err
		}
	}
	if found.Status != api.StudyStatusCompleted {
		return fmt.Errorf("%w: it is %s", errStudy, strings.TrimSpace(string(found.Status)+" "+found.Reason))
	}
	return nil
}

func endingOfStudy(found *api.Study) string {
	p := found.Progress
	text := fmt.Sprintf("%s %s: %d points, %d of %d runs completed", found.ID, found.Status, found.Points, p.Completed+p.Shared, runsOf(p))
	if n := p.Failed + p.Invalid; n > 0 {
		text += fmt.Sprintf(", %d failed", n)
	}
	return text
}

// runsOf returns how many runs a study has: for each point one, or one for each replicate.
func runsOf(p api.StudyProgress) int64 {
	return p.Completed + p.Shared + p.Failed + p.Invalid + p.Terminated + p.Unfinished + p.Waiting
}

type studyList struct {
	options
	page
}

// Validate implements kong.Validatable.
func (c studyList) Validate() error {
	if err := c.page.check(); err != nil {
		return err
	}
	return c.options.Validate()
}

// Run lists studies.
func (c studyList) Run(ctx context.Context, t *Terminal) error {
	return c.ask(ctx, t, func(ctx context.Context, s *session) (answer, error) {
		list, rows := []api.StudyListItem{}, [][]string{}
		for found, err := range s.AllStudies(ctx, api.ListStudiesParams{
			Limit: c.pageSize(), Status: given(c.Status), Search: given(c.Search), WorkspaceID: given(c.Workspace),
		}) {
			if err != nil {
				return answer{}, err
			}
			list = append(list, found)
			rows = append(rows, []string{found.ID, string(found.Status), fmt.Sprint(found.Points), moment(found.CreatedAt), found.Name})
			if len(list) == c.Limit {
				break
			}
		}
		return answer{list, func(w io.Writer) error {
			return table.Write(w, "there is no study", "STUDY STATUS POINTS CREATED NAME", rows)
		}}, nil
	})
}

type studyStop struct {
	options
	study
}

// Run stops a study.
func (c studyStop) Run(ctx context.Context, t *Terminal) error {
	return c.ask(ctx, t, func(ctx context.Context, s *session) (answer, error) {
		found, err := s.TerminateStudy(ctx, c.ID, nil)
		if err != nil {
			return answer{}, err
		}
		return line(found, "%s", endingOfStudy(found)), nil
	})
}

type studyTable struct {
	options
	study
	Status string `placeholder:"STATUS" help:"Only the points with this status, such as completed."`
}

// Run shows the points.
func (c studyTable) Run(ctx context.Context, t *Terminal) error {
	return c.ask(ctx, t, func(ctx context.Context, s *session) (answer, error) {
		points, rows := []api.StudyResult{}, [][]string{}
		for point, err := range s.AllStudyResults(ctx, c.ID, api.GetStudyResultsParams{Status: given(c.Status)}) {
			if err != nil {
				return answer{}, err
			}
			points = append(points, point)
			row := []string{fmt.Sprint(point.Point), string(point.Status), "", "", "", inputs(point.Inputs)}
			if f := point.Figures; f != nil {
				row[2], row[4] = simulated(f.SimulatedTimePs), f.Bottleneck
			}
			if f := point.Fabric; f != nil {
				row[3] = f.Price
			}
			rows = append(rows, row)
		}
		return answer{points, func(w io.Writer) error {
			return table.Write(w, "there is no point", "POINT STATUS TIME PRICE BOTTLENECK INPUTS", rows)
		}}, nil
	})
}

// inputs formats the values of a point's axes, by the last member of each path.
func inputs(of map[string]any) string {
	var all []string
	for _, field := range slices.Sorted(maps.Keys(of)) {
		value, _ := json.Marshal(of[field]) // it was JSON
		all = append(all, field[strings.LastIndexByte(field, '.')+1:]+"="+strings.Trim(string(value), `"`))
	}
	return strings.Join(all, " ")
}

// simulated formats a simulated time in ps.
func simulated(ps int64) string {
	value, unit := float64(ps), 0
	units := []string{"ps", "ns", "us", "ms", "s"}
	for value >= 1000 && unit < len(units)-1 {
		value, unit = value/1000, unit+1
	}
	return fmt.Sprintf("%.4g%s", value, units[unit])
}
