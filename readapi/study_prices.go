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

// priceListView returns a price list in the form in which a study takes its own.
func priceListView(l *analysis.PriceList) api.FabricPriceList {
	classes := func(list []analysis.PriceClass) api.PriceClasses {
		return api.Each(list, func(c *analysis.PriceClass) api.PriceClass {
			return api.PriceClass{Gbps: c.Gbps, Price: c.Price, Watts: c.Watts}
		})
	}
	return api.FabricPriceList{
		Version: l.Version, Currency: l.Currency, Assumption: l.Assumption,
		Switches: classes(l.Switches), Nics: classes(l.NICs), Copper: classes(l.Copper), Optical: classes(l.Optical), Servers: classes(l.Servers),
	}
}
