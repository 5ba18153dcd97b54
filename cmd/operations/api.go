package operations

import (
	"cmp"
	"context"
	"errors"

	"netsim/api"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/projector"
	"netsim/infra/reactor"
	"netsim/stream/lake"
)

// API implements the operations below /api/v1/operations. The front end has checked that
// the caller is an operator.
type API struct {
	View View
	Acts Acts
}

// shownItems is the default of the parameter limit.
const shownItems = 100

func limitOf(given int64) int { return int(cmp.Or(given, shownItems)) }

// ListReadModels implements GET /operations/read-models.
func (a *API) ListReadModels(ctx context.Context, r api.ListReadModelsRequestObject) (api.ListReadModelsResponseObject, error) {
	list, err := a.View.ReadModels(ctx, limitOf(r.Params.Limit))
	return api.ListReadModels200JSONResponse(list), err
}

// ListStreamFamilies implements GET /operations/streams.
func (a *API) ListStreamFamilies(ctx context.Context, r api.ListStreamFamiliesRequestObject) (api.ListStreamFamiliesResponseObject, error) {
	list, err := a.View.StreamFamilies(ctx, limitOf(r.Params.Limit))
	return api.ListStreamFamilies200JSONResponse(list), err
}

// ListParkedFacts implements GET /operations/parked-facts.
func (a *API) ListParkedFacts(ctx context.Context, r api.ListParkedFactsRequestObject) (api.ListParkedFactsResponseObject, error) {
	list, err := a.View.Parked(ctx, projector.ParkedQuery{Schema: projector.Live, Stream: r.Params.Stream, Limit: limitOf(r.Params.Limit)})
	return api.ListParkedFacts200JSONResponse(list), err
}

// ShowParkedFact implements GET /operations/parked-facts/{stream}/{sequence}. The look is
// recorded before the data is read.
func (a *API) ShowParkedFact(ctx context.Context, r api.ShowParkedFactRequestObject) (api.ShowParkedFactResponseObject, error) {
	list, err := a.View.Parked(ctx, projector.ParkedQuery{Schema: projector.Live, Stream: r.Stream, Sequence: r.Sequence})
	if err != nil {
		return nil, err
	}
	if len(list.Items) == 0 {
		return nil, fault.New(fault.NotFound, "no fact of stream %s with the sequence %d is parked", r.Stream, r.Sequence)
	}
	if _, err := a.View.describe(ctx); err != nil { // without the log nothing begins
		return nil, err
	}
	var shown api.ParkedFactContent
	err = a.Acts.Look(ctx, Operation{"streams show", []string{"stream=" + r.Stream, argument("sequence", r.Sequence)}}, func() (err error) {
		shown, err = a.View.ParkedContent(ctx, list.Items[0])
		return err
	})
	return api.ShowParkedFact200JSONResponse(shown), err
}

// ListReactions implements GET /operations/reactions.
func (a *API) ListReactions(ctx context.Context, r api.ListReactionsRequestObject) (api.ListReactionsResponseObject, error) {
	list, err := a.View.Reactions(ctx, limitOf(r.Params.Limit))
	return api.ListReactions200JSONResponse(list), err
}

// ListDeadLetters implements GET /operations/dead-letters.
func (a *API) ListDeadLetters(ctx context.Context, r api.ListDeadLettersRequestObject) (api.ListDeadLettersResponseObject, error) {
	list, err := a.View.DeadLetters(ctx, limitOf(r.Params.Limit))
	return api.ListDeadLetters200JSONResponse(list), err
}

// ShowDeadLetter implements GET /operations/dead-letters/{handler_name}/{family}/{partition}/{offset}.
// The look is recorded before the data is read.
func (a *API) ShowDeadLetter(ctx context.Context, r api.ShowDeadLetterRequestObject) (api.ShowDeadLetterResponseObject, error) {
	letters, err := a.View.Letters(ctx, reactor.LetterID(r.HandlerName, events.Position{Family: events.Family(r.Family), Partition: int32(r.Partition), Offset: r.Offset}))
	if err != nil {
		return nil, err
	}
	var shown api.DeadLetterContent
	err = a.Acts.Look(ctx, Operation{"reactions show", []string{"letter=" + letters[0].ID}}, func() (err error) {
		shown, err = a.View.LetterContent(ctx, letters[0])
		return err
	})
	return api.ShowDeadLetter200JSONResponse(shown), err
}

// ListJobs implements GET /operations/jobs.
func (a *API) ListJobs(ctx context.Context, r api.ListJobsRequestObject) (api.ListJobsResponseObject, error) {
	list, err := a.View.Jobs(ctx, limitOf(r.Params.Limit))
	return api.ListJobs200JSONResponse(list), err
}

// ListOpenRuns implements GET /operations/runs.
func (a *API) ListOpenRuns(ctx context.Context, r api.ListOpenRunsRequestObject) (api.ListOpenRunsResponseObject, error) {
	list, err := a.View.OpenRuns(ctx, limitOf(r.Params.Limit))
	return api.ListOpenRuns200JSONResponse(list), err
}

// ShowUpgrade implements GET /operations/upgrade.
func (a *API) ShowUpgrade(ctx context.Context, _ api.ShowUpgradeRequestObject) (api.ShowUpgradeResponseObject, error) {
	s, err := a.View.Upgrade(ctx)
	return api.ShowUpgrade200JSONResponse(s), err
}

// ShowLake implements GET /operations/lake.
func (a *API) ShowLake(ctx context.Context, _ api.ShowLakeRequestObject) (api.ShowLakeResponseObject, error) {
	s, err := a.View.Lake(ctx)
	if errors.Is(err, lake.ErrMissing) {
		return nil, fault.New(fault.NotFound, "this deployment has no lake")
	}
	return api.ShowLake200JSONResponse(s), err
}

// ListPublicTopics implements GET /operations/public-topics.
func (a *API) ListPublicTopics(ctx context.Context, r api.ListPublicTopicsRequestObject) (api.ListPublicTopicsResponseObject, error) {
	list, err := a.View.PublicTopics(ctx, limitOf(r.Params.Limit))
	return api.ListPublicTopics200JSONResponse(list), err
}

// ShowLogCheckpoint implements GET /operations/checkpoint.
func (a *API) ShowLogCheckpoint(ctx context.Context, _ api.ShowLogCheckpointRequestObject) (api.ShowLogCheckpointResponseObject, error) {
	s, err := a.View.LogCheckpoint(ctx)
	return api.ShowLogCheckpoint200JSONResponse(s), err
}

// ListOperatorActs implements GET /operations/acts.
func (a *API) ListOperatorActs(ctx context.Context, r api.ListOperatorActsRequestObject) (api.ListOperatorActsResponseObject, error) {
	list, err := a.View.Acts(ctx, limitOf(r.Params.Limit))
	return api.ListOperatorActs200JSONResponse(list), err
}
