package readapi

import (
	"context"

	"netsim/api"
	"netsim/content/simple"
	"netsim/simulator/collective"
	"netsim/simulator/topology"
)

// PreviewSimple implements POST /simple/simulations/preview (completions.md
// section 4.3): the topology that the submission would get. It records nothing.
func (a *API) PreviewSimple(_ context.Context, r api.PreviewSimpleRequestObject) (api.PreviewSimpleResponseObject, error) {
	_, derived, err := simple.Resolve(r.Body)
	if err != nil {
		return nil, err
	}
	return api.PreviewSimple200JSONResponse{Topology: topologyView(derived)}, nil
}

func topologyView(d topology.Derivation) api.DerivedTopology {
	view := api.DerivedTopology{
		TierCount: int64(d.TierCount), TotalHosts: int64(d.TotalHosts),
		RanksPerHost: int64(d.RanksPerHost), RanksPerRack: int64(d.RanksPerRack),
		Links: api.TopologyLinks{
			HostToRSW: int64(d.Links.HostToRsw), RSWToFSW: int64(d.Links.RswToFsw), FSWToSSW: int64(d.Links.FswToSsw),
		},
		ResolvedConstraints: api.ResolvedConstraints{
			SwitchRadix: d.Resolved.SwitchRadix, SubscriptionRatio: d.Resolved.SubscriptionRatio,
			NicNetworkPortSpeed: int64(d.Resolved.NicNetworkPortSpeed), EffectiveNicSpeed: int64(d.Resolved.EffectiveNicSpeed),
			SwitchLinkSpeed: int64(d.Resolved.SwitchLinkSpeed), SwitchingCapacityGbps: int64(d.Resolved.SwitchingCapacityGbps),
		},
	}
	for _, t := range d.Tiers {
		view.Tiers = append(view.Tiers, api.TopologyTier{
			Name: api.TopologyTierName(t.Name), SwitchCount: int64(t.SwitchCount),
			DownlinksPerSwitch: int64(t.DownlinksPerSwitch), UplinksPerSwitch: int64(t.UplinksPerSwitch),
			DownlinkDataRateGbps: int64(t.DownlinkDataRateGbps), UplinkDataRateGbps: int64(t.UplinkDataRateGbps),
			EffectiveSubscriptionRatio: t.EffectiveSubscriptionRatio,
			SwitchCapacityUtilization:  t.SwitchCapacityUtilization,
		})
	}
	return view
}

// GetCompatibility implements GET /simple/compatibility (completions.md
// section 4.4).
func (a *API) GetCompatibility(context.Context, api.GetCompatibilityRequestObject) (api.GetCompatibilityResponseObject, error) {
	var entries []api.CompatibilityEntry
	for _, c := range collective.Matrix() {
		entries = append(entries, api.CompatibilityEntry{
			OperationType: c.OperationType, AllowedAlgorithms: c.AllowedAlgorithms,
			DefaultAlgorithm: c.DefaultAlgorithm, PowerOfTwoRequired: c.PowerOfTwoRequired,
		})
	}
	return api.GetCompatibility200JSONResponse{Entries: entries}, nil
}
