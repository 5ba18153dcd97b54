package studies

import (
	"context"
	"fmt"

	"netsim/commands"
	"netsim/projections"
	"netsim/runs/studies/analysis"
	"netsim/runs/studies/plan"
	"netsim/simulator/collective"
	"netsim/simulator/topology"
)

// Prices says what the fabrics of a study's points cost. Points of submissions with
// equal constraints and as many ranks have the same fabric, and so have points of a
// configuration with equal values of the axes that change the network.
type Prices struct {
	List analysis.PriceList

	study   *projections.Study
	plan    *plan.Plan
	sources *plan.Sources // of a study of a configuration
	known   map[fabricKey]*Price
}

type fabricKey struct {
	constraints topology.Constraints
	ranks       int
	network     string // the values of the axes that change a document's network
}

// Price is what a fabric costs, and what it is made of.
type Price struct {
	analysis.Bill
	Parts *analysis.Fabric
}

// PricesOf reads what a study of a configuration names.
func PricesOf(ctx context.Context, db projections.Reader, s *projections.Study, p *plan.Plan) (*Prices, error) {
	f := &Prices{List: analysis.CurrentPrices(), study: s, plan: p, known: map[fabricKey]*Price{}}
	if s.Kind == commands.StudyOfSimple {
		return f, nil
	}
	var err error
	f.sources, err = SourcesOf(ctx, db, s, p)
	return f, err
}

// Of returns the price of a point's fabric.
func (f *Prices) Of(point int) (*Price, error) {
	key, parts, err := f.fabric(point)
	if err != nil {
		return nil, fmt.Errorf("the fabric of study %s: %w", f.study.ID, err)
	}
	if known := f.known[key]; known != nil {
		return known, nil
	}
	price := new(Price)
	if price.Parts, err = parts(); err == nil {
		price.Bill, err = f.List.Bill(price.Parts)
	}
	if err != nil {
		return nil, fmt.Errorf("the fabric of study %s: %w", f.study.ID, err)
	}
	f.known[key] = price
	return price, nil
}

// fabric returns what identifies the fabric of a point, and a function that lists its parts.
func (f *Prices) fabric(point int) (key fabricKey, parts func() (*analysis.Fabric, error), err error) {
	if f.sources != nil {
		return f.wired(point)
	}
	simple, err := plan.Simple(f.study.Base, f.plan, point)
	if err != nil {
		return key, nil, err
	}
	key.constraints, key.ranks = simple.Constraints, collective.Ranks(simple.Groups)
	return key, func() (*analysis.Fabric, error) {
		d, err := topology.Derive(key.constraints, key.ranks)
		return analysis.DerivedFabric(&d), err
	}, nil
}

// wired is fabric for a study of a configuration. The values of the axes that change the
// network identify it, so that only one document of each network is made.
func (f *Prices) wired(point int) (key fabricKey, parts func() (*analysis.Fabric, error), err error) {
	for i, value := range f.plan.Values(point) {
		if plan.OfNetwork(f.plan.Axes[i].Field) {
			key.network += value + "\n"
		}
	}
	return key, func() (*analysis.Fabric, error) {
		made, err := f.sources.Configured(f.plan, point)
		if err != nil {
			return nil, err
		}
		wired, err := made.Document.Fabric()
		if err != nil {
			return nil, err
		}
		return analysis.WiredFabric(wired), nil
	}, nil
}
