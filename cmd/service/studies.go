package service

import (
	"context"

	"netsim/api"
	"netsim/events"
	"netsim/runs/studies"
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
		Points: f.Points / max(started.Replicates, 1), Runs: f.Points - f.Shared, Shared: f.Shared,
		Currency: api.StudyForecastCurrency(money.Currency), MostHeld: money.MostHeld,
	}
	if money.Known {
		seconds := money.Time.Seconds()
		view.RunSeconds, view.Cost = &seconds, money.Cost
	}
	return view, nil
}
