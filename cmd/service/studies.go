package service

import (
	"context"

	"netsim/api"
	"netsim/api/contract"
	"netsim/events"
	"netsim/runs/studies"
	"netsim/runs/studies/plan"
)

// forecastStudy returns what a study would do and cost if it started now.
func (d *domain) forecastStudy(ctx context.Context, started events.StudyStarted) (api.StudyForecast, error) {
	f, err := d.studies.Forecast(ctx, started)
	if err != nil {
		return api.StudyForecast{}, err
	}
	money, err := d.holds.Forecast(ctx, started.AccountID, f.Runs, studies.Window)
	if err != nil {
		return api.StudyForecast{}, err
	}
	view := api.StudyForecast{
		Points: f.Points, Runs: f.Points - f.Shared, Shared: f.Shared,
		Currency: api.StudyForecastCurrency(money.Currency), MostHeld: money.MostHeld,
	}
	if money.Known {
		seconds := money.Time.Seconds()
		view.RunSeconds, view.Cost = &seconds, money.Cost
	}
	return view, nil
}

// studySources reads what a study of a configuration names, for the check of its points.
// Their documents keep the bounds of those that clients send.
func (d *domain) studySources(ctx context.Context, started events.StudyStarted) (*plan.Sources, error) {
	terms, err := contract.Load()
	if err != nil {
		return nil, err
	}
	sources, err := d.studies.Sources(ctx, started)
	if err != nil {
		return nil, err
	}
	sources.Check = func(document []byte) error { return terms.CheckBody("UpdateConfiguration", document) }
	return sources, nil
}
