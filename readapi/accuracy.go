package readapi

import (
	"bytes"
	"context"
	"fmt"

	"netsim/api"
	"netsim/commands"
	"netsim/fault"
	"netsim/projections"
	"netsim/simulator/accuracy"
	"netsim/simulator/document"
	"netsim/simulator/presets"
	"netsim/simulator/results"
)

// accuracy returns what is known of the accuracy of the simulated time of published
// results. It is not stored, so results keep their bytes when more is compared.
func (a *API) accuracy(ctx context.Context, set *resultSet) (api.Accuracy, error) {
	known, err := a.knownAccuracy(ctx, set)
	if err != nil {
		return api.Accuracy{}, fmt.Errorf("find the accuracy of %s: %w", set.simulation.ID, err)
	}
	view := api.Accuracy{Class: api.AccuracyClass(known.Class), Outside: []string{}, Basis: known.Basis}
	if len(known.Outside) > 0 {
		// Results are open to every user, but the list has values of the configuration.
		_, err := a.SimulationRow(ctx, set.simulation.ID)
		if err != nil && !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Forbidden) {
			return api.Accuracy{}, err
		}
		if err == nil {
			view.Outside = known.Outside
		}
	}
	if known.Rows > 0 {
		view.Band = api.AccuracyBand{
			LowestPercent: known.Lowest, HighestPercent: known.Highest,
			Cases: int64(known.Rows), References: known.References,
		}
	}
	return view, nil
}

func (a *API) knownAccuracy(ctx context.Context, set *resultSet) (accuracy.Accuracy, error) {
	s := &set.simulation
	switch {
	case s.Engine == commands.EngineRemote:
		return accuracy.Unknown("a remote engine computed it"), nil
	case s.Status != commands.Completed:
		return accuracy.Unknown("it was not completed"), nil
	}
	text, err := a.summaryText(ctx, set)
	if err != nil {
		return accuracy.Accuracy{}, err
	}
	report, err := results.ReadReport(bytes.NewReader(text))
	if err != nil { // of an engine that wrote another form, or without simulated time
		return accuracy.Unknown("its summary.json does not say what ran"), nil
	}
	run := ranOf(report)
	version, err := projections.FindConfigurationVersion(ctx, a.DB, s.ConfigurationID, s.ConfigurationVersion)
	if fault.Is(err, fault.NotFound) {
		return accuracy.Unknown("its configuration is gone"), nil
	}
	if err != nil {
		return accuracy.Accuracy{}, err
	}
	if run.Document, err = document.Parse(version.Document); err != nil {
		return accuracy.Accuracy{}, err
	}
	run.Mapped = s.MappingFileID != ""
	if run.Traces, err = a.traced(ctx, s); err != nil {
		return accuracy.Accuracy{}, err
	}
	table, err := accuracy.Generated()
	if err != nil {
		return accuracy.Accuracy{}, err
	}
	return table.Of(run)
}

// ranOf returns what a summary says of the run.
func ranOf(r *results.Report) *accuracy.Run {
	run := &accuracy.Run{
		Engine: r.EngineVersion, Ranks: r.Ranks, Count: r.Collectives, Unlisted: r.MoreKinds > 0,
		Ended: r.End == results.Finished && r.UnfinishedRanks == 0,
	}
	for i := range r.Kinds {
		k := &r.Kinds[i]
		run.Collectives = append(run.Collectives, accuracy.Collective{
			Operation: k.OperationType, Algorithm: k.Algorithm, Bytes: k.SizeBytes, Ranks: k.GroupSize,
		})
	}
	for i := range r.LimitedBy {
		switch r.LimitedBy[i].Kind {
		case results.LimitedByPort:
			run.ScaleUp = true
		case results.LimitedBySwitching:
			run.Switching = true
		}
	}
	return run
}

// traced reports whether the workload of a simulation is traces. A traceset of which no
// row is left counts as traces, of which less is known.
func (a *API) traced(ctx context.Context, s *projections.Simulation) (bool, error) {
	if s.Simple != "" {
		return false, nil
	}
	t, err := projections.FindTraceset(ctx, a.DB, s.TracesetID)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return false, err
	}
	return t.Format != presets.Format, nil
}
