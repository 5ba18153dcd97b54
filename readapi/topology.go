package readapi

import (
	"context"

	"netsim/api"
	"netsim/api/report"
	"netsim/fault"
	"netsim/simulator/summary"
)

// ValidateTopology implements POST /topology/validate (completions.md section
// 2.6). The response depends only on the request.
func (a *API) ValidateTopology(_ context.Context, r api.ValidateTopologyRequestObject) (api.ValidateTopologyResponseObject, error) {
	found, err := summary.Validate(*r.Body)
	if err != nil {
		return nil, fault.New(fault.Validation, "%s", err)
	}
	view := api.TopologyValidation{
		Validation: report.Of(found.Findings), TopologyMap: found.Map, Checksum: found.Checksum,
		SimulationParameters: []api.TopologyFigure{}, SwitchBandwidth: []api.SwitchBandwidth{},
	}
	if o := found.Summary; o != nil {
		view.SimulationParameters = figures(o)
		for _, b := range o.Bandwidth {
			view.SwitchBandwidth = append(view.SwitchBandwidth, api.SwitchBandwidth{
				Name: b.Name, Model: b.Model, NetworkTier: int64(b.Tier),
				SwitchingCapacity: b.Capacity, SwitchingCapacityUnit: b.Unit,
			})
		}
	}
	return api.ValidateTopology200JSONResponse(view), nil
}

func figures(o *summary.Summary) []api.TopologyFigure {
	return []api.TopologyFigure{
		{Name: api.TopologyFigureNameTotalHosts, Label: "Hosts", Value: int64(o.Hosts)},
		{Name: api.TopologyFigureNameTotalNics, Label: "NICs", Value: int64(o.NICs)},
		{Name: api.TopologyFigureNameTotalRanks, Label: "Ranks", Value: int64(o.Ranks)},
		{Name: api.TopologyFigureNameTotalSwitches, Label: "Switches", Value: int64(o.Switches)},
		{Name: api.TopologyFigureNameTotalLinks, Label: "Links", Value: int64(o.Links)},
		{Name: api.TopologyFigureNameRackCount, Label: "Racks", Value: int64(o.Racks)},
		{Name: api.TopologyFigureNamePodCount, Label: "Pods", Value: int64(o.Pods)},
		{Name: api.TopologyFigureNameTopologyTiers, Label: "Tiers", Value: int64(o.Tiers)},
	}
}
