package readapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"netsim/api"
	"netsim/commands"
	"netsim/fault"
	"netsim/projections"
	"netsim/runs/studies/analysis"
	"netsim/simulator/document"
	"netsim/simulator/document/difference"
	"netsim/simulator/results"
)

// CompareSimulations implements GET /simulations/{sim_id}/compare/{other_id}.
func (a *API) CompareSimulations(ctx context.Context, r api.CompareSimulationsRequestObject) (api.CompareSimulationsResponseObject, error) {
	var runs [2]projections.Simulation
	var reports [2]*results.Report
	for i, id := range [...]string{r.SimID, r.OtherID} {
		var err error
		if runs[i], err = a.SimulationRow(ctx, id); err != nil {
			return nil, err
		}
	}
	for i := range runs {
		var err error
		if reports[i], err = a.report(ctx, &runs[i]); err != nil {
			return nil, err
		}
	}
	documents, err := a.documents(ctx, &runs)
	if err != nil {
		return nil, err
	}
	changes, err := inputChanges(&runs[0], &runs[1], documents)
	if err != nil {
		return nil, err
	}
	fabrics, err := comparedFabrics(documents)
	if err != nil {
		return nil, fmt.Errorf("compare the fabrics of %s and %s: %w", r.SimID, r.OtherID, err)
	}
	if was, is := reports[0].EngineVersion, reports[1].EngineVersion; was != is {
		changes = append(changes, runChange("engineVersion", was, is))
	}
	c := results.Compare(reports[0], reports[1])
	compared, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("compare %s and %s: %w", r.SimID, r.OtherID, err)
	}
	texts := make([]string, len(changes))
	for i := range changes {
		texts[i] = changes[i].Text
	}
	view := api.SimulationComparison{
		SimulationID: r.SimID, OtherID: r.OtherID, Sentence: c.Sentence(r.SimID, r.OtherID, texts), Results: compared, Fabrics: fabrics,
		Inputs: api.ComparedInputs{
			Equal: len(changes) == 0, Changes: []api.InputChange{}, Omitted: int64(max(0, len(changes)-maxChanges)),
		},
	}
	for _, x := range changes[:min(len(changes), maxChanges)] {
		view.Inputs.Changes = append(view.Inputs.Changes, api.InputChange{
			Kind: api.InputChangeKind(x.Kind), Subject: x.Subject, Path: x.Path, Before: briefly(x.Before), After: briefly(x.After), Text: x.Text,
		})
	}
	return api.CompareSimulations200JSONResponse(view), nil
}

const (
	maxChanges = 100  // that a comparison lists
	maxValue   = 1024 // bytes of a value in it
)

// briefly returns a value, or nothing if it is long.
func briefly(value json.RawMessage) json.RawMessage {
	if len(value) > maxValue {
		return nil
	}
	return value
}

// report reads the summary.json of a completed simulation.
func (a *API) report(ctx context.Context, s *projections.Simulation) (*results.Report, error) {
	if s.Status != commands.Completed {
		return nil, fault.New(fault.Conflict, "simulation %s is %s, not completed", s.ID, s.Status)
	}
	set, err := a.results(ctx, s.ID)
	if err != nil {
		return nil, err
	}
	text, err := a.summaryText(ctx, &set)
	if err != nil {
		return nil, err
	}
	if text == nil {
		return nil, fault.New(fault.NotFound, "simulation %s has no summary.json", s.ID)
	}
	report, err := results.ReadReport(bytes.NewReader(text))
	if err != nil && s.Engine == commands.EngineRemote {
		return nil, fault.New(fault.NotFound, "simulation %s of a remote engine cannot be compared: %s", s.ID, err.Error())
	}
	return report, err
}

// summaryText returns the summary.json of a result set, nil if it has none.
func (a *API) summaryText(ctx context.Context, set *resultSet) ([]byte, error) {
	const name = "summary.json"
	if !slices.ContainsFunc(set.files, func(f resultFile) bool { return f.Name == name }) {
		return nil, nil
	}
	body, _, err := a.Objects.Get(ctx, set.simulation.ResultsPrefix+name)
	if err != nil {
		return nil, fmt.Errorf("read the summary of %s: %w", set.simulation.ID, err)
	}
	defer body.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(io.LimitReader(body, results.MaxReport))
	if err != nil {
		return nil, fmt.Errorf("read the summary of %s: %w", set.simulation.ID, err)
	}
	return text, nil
}

// documents returns the configurations that two runs have, "" for one that is gone.
func (a *API) documents(ctx context.Context, runs *[2]projections.Simulation) (texts [2]string, err error) {
	for i := range runs {
		v, err := projections.FindConfigurationVersion(ctx, a.DB, runs[i].ConfigurationID, runs[i].ConfigurationVersion)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return texts, err
		}
		texts[i] = v.Document
	}
	return texts, nil
}

// inputChanges returns the differences of the inputs of two runs: of the submissions if both
// are simple ones, else of the configurations, and of what a run's request names beside them.
func inputChanges(this, other *projections.Simulation, documents [2]string) (changes []difference.Change, err error) {
	simple := this.Simple != "" && other.Simple != ""
	switch {
	case simple:
		changes, err = difference.Fields([]byte(this.Simple), []byte(other.Simple))
	case documents[0] == "" || documents[1] == "":
		if this.ConfigurationID != other.ConfigurationID {
			changes = append(changes, runChange("configurationId", this.ConfigurationID, other.ConfigurationID))
		}
	case documents[0] != documents[1]:
		var d difference.Difference
		d, err = difference.Of([]byte(documents[0]), []byte(documents[1]))
		changes = d.Changes
	}
	if err != nil {
		return nil, fmt.Errorf("compare the inputs of %s and %s: %w", this.ID, other.ID, err)
	}
	for _, x := range []struct{ field, was, is string }{
		{"duration", this.Duration, other.Duration},
		{"mappingFileId", this.MappingFileID, other.MappingFileID},
		{"engine", this.Engine, other.Engine},
	} {
		if x.was != x.is {
			changes = append(changes, runChange(x.field, x.was, x.is))
		}
	}
	if this.TracesetID != other.TracesetID && !simple { // those of simple submissions follow from their groups
		changes = append(changes, runChange("tracesetId", this.TracesetID, other.TracesetID))
	}
	return changes, nil
}

// comparedFabrics returns what the networks of two configurations cost.
func comparedFabrics(documents [2]string) (api.ComparedFabrics, error) {
	list := analysis.CurrentPrices()
	view := api.ComparedFabrics{PriceList: list.Version, Currency: list.Currency}
	for i, side := range [...]**api.StudyFabric{&view.This, &view.Other} {
		if documents[i] == "" {
			continue
		}
		if i == 1 && documents[0] == documents[1] {
			view.Other = view.This
			continue
		}
		doc, err := document.Parse(documents[i])
		if err != nil {
			return view, err
		}
		wired, err := doc.Fabric()
		if err != nil {
			return view, err
		}
		parts := analysis.WiredFabric(wired)
		bill, err := list.Bill(parts, false)
		if err != nil {
			return view, err
		}
		fabric := fabricView(&bill, parts)
		*side = &fabric
	}
	return view, nil
}

// runChange returns the difference of a text in the request of a run; "" is an absent one.
func runChange(field, was, is string) difference.Change {
	c := difference.Change{Kind: difference.Changed, Subject: "run", Path: field}
	switch {
	case was == "":
		c.Kind, c.Text = difference.Added, field+" "+is+" added"
	case is == "":
		c.Kind, c.Text = difference.Removed, field+" "+was+" removed"
	default:
		c.Before, c.After = quoted(was), quoted(is)
		c.Text = strings.Join([]string{field, was, "→", is}, " ")
	}
	return c
}

func quoted(text string) json.RawMessage {
	b, _ := json.Marshal(text) // a string always has a JSON form
	return b
}
