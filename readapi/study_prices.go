package readapi

import (
	"netsim/api"
	"netsim/runs/studies/analysis"
)

// fabricView returns what a fabric is made of, and what it costs.
func fabricView(bill *analysis.Bill, parts *analysis.Fabric) api.StudyFabric {
	return api.StudyFabric{
		Price: analysis.DecimalText(bill.Price), PowerWatts: analysis.DecimalText(bill.Watts),
		Switches: analysis.CountParts(parts.Switches), Nics: analysis.CountParts(parts.NICs),
		Links: analysis.CountParts(parts.Copper) + analysis.CountParts(parts.Optical),
	}
}
