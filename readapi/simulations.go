package readapi

import (
	"context"
	"math"
	"math/bits"
	"net/http"
	"slices"
	"strings"

	"netsim/api"
	"netsim/commands"
	"netsim/events"
	"netsim/infra/web"
	"netsim/projections"
	"netsim/readapi/access"
	"netsim/simulator/units"
)

// simulationPage is a page whose rows are already JSON.
type simulationPage struct{ *web.List }

func (p simulationPage) VisitListSimulationsResponse(w http.ResponseWriter) error { return p.Reply(w) }

// ListSimulations implements GET /simulations (document 1, Simulations): those
// of the workspaces that the caller is a member of.
func (a *API) ListSimulations(ctx context.Context, r api.ListSimulationsRequestObject) (api.ListSimulationsResponseObject, error) {
	p := r.Params
	if err := access.Member(ctx, p.WorkspaceID); err != nil {
		return nil, err
	}
	l, err := a.listing(ctx, r, 100)
	if err != nil {
		return nil, err
	}
	page := web.NewList("simulations")
	items, next, err := projections.ListSimulations(ctx, a.DB, projections.SimulationQuery{
		Scope: access.Owned(l.caller).In(p.WorkspaceID), Search: p.Search, Sort: simulationOrder(p.Sort), Page: l.page,
		Statuses: known(p.Status, commands.Validating, commands.Provisioning, commands.Running,
			commands.Completed, commands.Failed, commands.Terminated, commands.Invalid),
		Where: []projections.Filter{projections.Within("created_at", p.CreatedAfter.Time, p.CreatedBefore.Time)},
	}, page.Body)
	if err != nil {
		return nil, err
	}
	page.Body, page.Count, page.NextCursor = items.JSON, items.Count, l.seal(next)
	return simulationPage{page}, nil
}

// known returns the known values of a comma-separated filter: nil for no filter,
// an empty list when all its values are unknown.
func known(filter string, values ...string) []string {
	if filter == "" {
		return nil
	}
	asked := strings.Split(filter, ",")
	return slices.DeleteFunc(values, func(v string) bool { return !slices.Contains(asked, v) })
}

// simulationOrder parses a sort parameter that the contract has checked.
func simulationOrder(sort string) []projections.Order {
	if sort == "" {
		return []projections.Order{{Key: "created", Desc: true}}
	}
	var order []projections.Order
	for part := range strings.SplitSeq(sort, ",") {
		key, direction, _ := strings.Cut(part, ":")
		order = append(order, projections.Order{Key: key, Desc: direction == "desc"})
	}
	return order
}

// GetSimulation implements GET /simulations/{sim_id}.
func (a *API) GetSimulation(ctx context.Context, r api.GetSimulationRequestObject) (api.GetSimulationResponseObject, error) {
	s, err := a.SimulationRow(ctx, r.SimID)
	if err != nil {
		return nil, err
	}
	view, err := a.simulationView(ctx, &s)
	return api.GetSimulation200JSONResponse(view), err
}

// RequestedSimulation returns a simulation right after its request, as GET does.
func (a *API) RequestedSimulation(ctx context.Context, requested *events.Event) (api.Simulation, error) {
	s := projections.BegunSimulation(requested)
	return a.simulationView(ctx, &s)
}

// Simulation returns a simulation as GET does. It does not check access, because
// its callers respond to a permitted write.
func (a *API) Simulation(ctx context.Context, id string) (api.Simulation, error) {
	s, _, err := a.Rows.Simulation(ctx, id)
	if err != nil {
		return api.Simulation{}, err
	}
	return a.simulationView(ctx, &s)
}

func (a *API) simulationView(ctx context.Context, s *projections.Simulation) (api.Simulation, error) {
	view := api.Simulation{
		ID: s.ID, WorkspaceID: s.WorkspaceID,
		ConfigurationID: s.ConfigurationID, ConfigurationVersion: s.ConfigurationVersion,
		Name: s.Name, Status: api.SimulationStatus(s.Status),
		CreatedAt: timestamp(s.CreatedAt), StartedAt: timestampOf(s.StartedAt), CompletedAt: timestampOf(s.CompletedAt),
		FailureReason: s.FailureReason, Progress: progressView(s.RunProgress()),
	}
	if s.EventsProcessed > 0 { // before the first progress, zeros would mislead
		view.Metrics = &api.SimulationMetrics{
			SimulatedTime: simulatedTime(s), EventsProcessed: s.EventsProcessed, Throughput: throughput(s),
		}
	}
	var err error
	view.AppliedMappingFile, err = a.mappingFileReference(ctx, s.MappingFileID)
	return view, err
}

func simulatedTime(s *projections.Simulation) string {
	return units.FormatDuration(s.SimulatedTimeNs * 1000)
}

// throughput returns the delivered payload in bits per simulated second, rounded
// down.
func throughput(s *projections.Simulation) string {
	const bitsPerByteInNs = 8e9
	hi, lo := bits.Mul64(uint64(s.DeliveredBytes), bitsPerByteInNs)
	if elapsed := uint64(s.SimulatedTimeNs); hi < elapsed {
		rate, _ := bits.Div64(hi, lo, elapsed)
		return units.FormatRate(int64(min(rate, math.MaxInt64)))
	}
	return units.FormatRate(0)
}
