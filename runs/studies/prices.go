package studies

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"netsim/commands"
	"netsim/projections"
	"netsim/runs/studies/analysis"
	"netsim/runs/studies/plan"
	"netsim/simulator/collective"
	"netsim/simulator/presets"
	"netsim/simulator/topology"
	"netsim/simulator/validation"
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
	network     string // the values of the axes that change a document's network, and the traceset
}

// Price is what a fabric costs, what it is made of, and what validation warns of.
type Price struct {
	analysis.Bill
	Parts    *analysis.Fabric
	Warnings []validation.Finding
}

// PricesOf reads what a study of a configuration names.
func PricesOf(ctx context.Context, db projections.Reader, s *projections.Study, p *plan.Plan) (*Prices, error) {
	f := &Prices{List: analysis.CurrentPrices(), study: s, plan: p, known: map[fabricKey]*Price{}}
	var err error
	if s.Prices != "" {
		f.List, err = analysis.ParsePrices(s.Prices)
	}
	if s.Kind == commands.StudyOfSimple || err != nil {
		return f, err
	}
	f.sources, err = SourcesOf(ctx, db, s, p)
	return f, err
}

// Of returns the price of a point's fabric.
func (f *Prices) Of(point int) (*Price, error) {
	key, build, err := f.fabric(point)
	if err != nil {
		return nil, fmt.Errorf("the fabric of study %s: %w", f.study.ID, err)
	}
	if known := f.known[key]; known != nil {
		return known, nil
	}
	price := new(Price)
	if price.Parts, price.Warnings, err = build(); err == nil {
		price.Bill, err = f.List.Bill(price.Parts, f.study.Servers)
	}
	if err != nil {
		return nil, fmt.Errorf("the fabric of study %s: %w", f.study.ID, err)
	}
	f.known[key] = price
	return price, nil
}

// buildFabric lists the parts of a fabric, and what validation warns of.
type buildFabric func() (*analysis.Fabric, []validation.Finding, error)

// fabric returns what identifies the fabric of a point, and how to build it. The documents of
// submissions have no warnings.
func (f *Prices) fabric(point int) (key fabricKey, build buildFabric, err error) {
	if f.sources != nil {
		return f.wired(point)
	}
	simple, err := plan.Simple(f.study.Base, f.plan, point, nil)
	if err != nil {
		return key, nil, err
	}
	key.constraints, key.ranks = simple.Constraints, collective.Ranks(simple.Groups)
	return key, func() (*analysis.Fabric, []validation.Finding, error) {
		d, err := topology.Derive(key.constraints, key.ranks)
		return analysis.DerivedFabric(&d), nil, err
	}, nil
}

// wired is fabric for a study of a configuration. The values of the axes that change the
// network identify it, so that only one document of each network is made.
func (f *Prices) wired(point int) (key fabricKey, build buildFabric, err error) {
	for i, value := range f.plan.Values(point) {
		if field := f.plan.Axes[i].Field; plan.OfNetwork(field) || field == plan.Traceset {
			key.network += value + "\n"
		}
	}
	return key, func() (*analysis.Fabric, []validation.Finding, error) {
		made, err := f.sources.Configured(f.plan, point)
		if err != nil {
			return nil, nil, err
		}
		with := validation.Attachments{Traceset: &validation.Traceset{Status: "ready", Ranks: made.Ranks}}
		findings, wired := validation.Survey(made.Document, with)
		if wired == nil {
			if wired, err = made.Document.Fabric(); err != nil {
				return nil, nil, err
			}
		}
		warnings := slices.DeleteFunc(findings, func(f validation.Finding) bool { return f.Severity != validation.Warning })
		return analysis.WiredFabric(wired), warnings, nil
	}, nil
}

// NamesAlgorithms reports whether the traceset of a point says which algorithm each of its
// collectives has. That of a submission does.
func (f *Prices) NamesAlgorithms(point int) bool {
	if f.sources == nil {
		return true
	}
	traceset := f.sources.Traceset
	for i, value := range f.plan.Values(point) {
		if f.plan.Axes[i].Field == plan.Traceset {
			traceset = ""
			_ = json.Unmarshal([]byte(value), &traceset) // the start has checked it; null is none
		}
	}
	return f.sources.Tracesets[traceset].Format == presets.Format
}
