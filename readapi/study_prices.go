package readapi

import (
	"netsim/api"
	"netsim/runs/studies/pricing"
)

// fabricView returns what a fabric is made of, and what it costs.
func fabricView(bill *pricing.Bill, parts *pricing.Fabric) api.StudyFabric {
	return api.StudyFabric{
		Price: pricing.Text(bill.Price), PowerWatts: pricing.Text(bill.Watts),
		Switches: pricing.Count(parts.Switches), Nics: pricing.Count(parts.NICs),
		Links: pricing.Count(parts.Copper) + pricing.Count(parts.Optical),
	}
}
