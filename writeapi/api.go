// Package writeapi implements the operations that change something. A handler
// decodes the request, runs one command, and makes the response from the state that
// the command made. When the command returns, every read shows that state. The
// package uses neither SQL nor Kafka: it reads through the interface Views.
package writeapi

import (
	"context"

	"netsim/api"
	"netsim/commands/handle"
	"netsim/content/simple"
	"netsim/events"
	"netsim/runs/studies/plan"
)

// API implements the POST, PATCH and DELETE operations, except the preview and
// the checks that change nothing. It also implements the download and resolve
// operations of tracesets, because they record a use.
type API struct {
	Commands    *handle.Handler
	Views       Views
	Sessions    Sessions
	Completions Completions
	Direct      DirectUploads
	Engines     Engines
	Quotas      Quotas
	MaxFiles    int // of an upload

	Webhooks       WebhookViews
	WebhookSecrets WebhookSecrets
	WebhookURLs    WebhookURLs
	// Hold reserves credit for a simulation before it is requested, or returns
	// PaymentRequired. Repeating it reserves nothing more.
	Hold func(ctx context.Context, simulation, correlationID string, requested events.SimulationRequested) error
	// ForecastStudy returns what a study would do and cost if it started now. It changes
	// nothing.
	ForecastStudy func(ctx context.Context, started events.StudyStarted) (api.StudyForecast, error)
	// StudySources reads what a study of a configuration and its axes name.
	StudySources func(ctx context.Context, started events.StudyStarted) (*plan.Sources, error)
	// Check checks what the points of studies run, as the bodies of requests are checked.
	Check plan.Check
	// RequireCredit returns PaymentRequired if the account has no credit for simulations.
	RequireCredit func(ctx context.Context, account string) error
	// Unfold makes the traceset and the configuration of a simple submission.
	// Repeating it changes nothing.
	Unfold func(ctx context.Context, from handle.Origin, simulation string, requested events.SimulationRequested, submission *simple.Submission) error
}

// Quotas checks the quotas of accounts.
type Quotas interface {
	// AdmitRun returns RateLimited if another run would exceed a quota.
	AdmitRun(ctx context.Context, account string) error
	// AdmitStudy returns RateLimited if another study would exceed a quota.
	AdmitStudy(ctx context.Context, account string) error
	// AdmitUpload returns RateLimited if an upload of that size, in bytes, would
	// exceed a quota.
	AdmitUpload(ctx context.Context, account string, size int64) error
}

// Engines calls the remote engines.
type Engines interface {
	// TerminateRun asks an engine to stop a run. It returns the HTTP status of the
	// response, or an error if there is none.
	TerminateRun(ctx context.Context, baseURL, runID string) (status int, err error)
}
