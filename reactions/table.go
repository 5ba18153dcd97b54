package reactions

import (
	"context"

	"netsim/billing"
	"netsim/content/simple/unfold"
	"netsim/content/uploads"
	"netsim/events"
	"netsim/runs/studies"
)

// Handler reacts to the facts of some families.
type Handler struct {
	// Name must not change, because the consumer groups of the handler have it.
	Name     string
	Families []events.Family
	// AtOnce is how many facts of a family it gets at once, 0 for the reactor's default.
	AtOnce int
	// React may be called again with the same fact.
	React func(ctx context.Context, f events.Fact) error
}

// Parts are the parts of the service that react to facts, each with its domain.
type Parts struct {
	Metering    *billing.Metering
	Submissions *unfold.Submissions
	Simulation  *Simulation
	Traceset    *Traceset
	Life        *TracesetLife
	Uploads     *uploads.Uploads
	Workspace   *Workspace
	Enqueue     func(context.Context, studies.Job) error // a job of a study
}

// Billing is the name of the handler that meters usage.
const Billing = "billing"

// meteredAtOnce is large because the metering combines the work for concurrent facts.
const meteredAtOnce = 1024

// Table lists every handler: what follows from a fact.
func Table(p Parts) []Handler {
	return []Handler{
		// Usage begins, changes or ends; holds of credit are released.
		{Billing, []events.Family{events.Simulations, events.Tracesets, events.MappingFiles, events.Workspaces}, meteredAtOnce, p.Metering.React},
		// A simple submission gets its traceset and its configuration, and then its run.
		{"simple", []events.Family{events.Simulations}, 0, p.Submissions.React},
		// A simulation is checked again, its run is enqueued, or its files are removed.
		{"simulation", []events.Family{events.Simulations}, 0, p.Simulation.React},
		// A study gets the job that requests or removes its runs.
		{"studies", []events.Family{events.Simulations}, 0, studies.React(p.Enqueue)},
		// The metadata of an uploaded traceset are extracted.
		{"traceset", []events.Family{events.Tracesets}, 0, p.Traceset.React},
		// A traceset that is used expires later.
		{"uses", []events.Family{events.Simulations, events.Configurations}, 0, p.Life.React},
		// An interrupted completion is finished, and the staged objects of an upload are removed.
		{"uploads", []events.Family{events.MappingFiles}, 0, p.Uploads.React},
		// The resources of a deleted workspace are deleted, running simulations when they have ended.
		{"workspace", []events.Family{events.Workspaces, events.Simulations}, 0, p.Workspace.React},
	}
}

// Families returns, by handler, the families whose facts it gets.
func Families() map[string][]events.Family {
	families := map[string][]events.Family{}
	for _, h := range Table(Parts{}) {
		families[h.Name] = h.Families
	}
	return families
}
