package runs

import (
	"context"
	"fmt"
	"time"

	"netsim/commands"
	"netsim/events"
	"netsim/projections"
	"netsim/simulator/engine"
	"netsim/simulator/results"
)

// ReceiptName is that of the file from which a run can be repeated.
const ReceiptName = "receipt.json"

// Receipt says on what a run was run, so that it can be repeated to the byte.
type Receipt struct {
	SimulationID         string          `json:"simulationId"`
	Name                 string          `json:"name"`
	ConfigurationID      string          `json:"configurationId"`
	ConfigurationVersion int64           `json:"configurationVersion"`
	DocumentHash         string          `json:"documentHash"`
	Traceset             ReceiptTraceset `json:"traceset,omitzero"` // none of traffic
	MappingFile          *ReceiptMapping `json:"mappingFile,omitempty"`
	Engine               string          `json:"engine"`
	EngineVersion        string          `json:"engineVersion"`
	Seed                 uint64          `json:"seed"`
	DurationNs           int64           `json:"durationNs"` // bound on simulated time
	StartedAt            time.Time       `json:"startedAt"`  // the instant of simulated time 0
	Partial              bool            `json:"partial"`
	Files                []ReceiptFile   `json:"files"` // all others
}

// ReceiptTraceset is the workload of a run.
type ReceiptTraceset struct {
	ID          string        `json:"id"`
	LibraryHash string        `json:"libraryHash"`
	Files       []ReceiptFile `json:"files"`
}

// ReceiptMapping is the mapping file of a run.
type ReceiptMapping struct {
	ID string `json:"id"`
	ReceiptFile
}

// ReceiptFile is a file and its hash.
type ReceiptFile struct {
	Name string `json:"name"`
	Hash string `json:"hash"` // sha256: and hex
	Size int64  `json:"size"` // bytes
}

// publish closes the result files and records that they are there.
func (a *attempt) publish(ctx context.Context, recorder *results.Recorder, result *engine.Result, p engine.Progress, partial bool) error {
	if err := recorder.Close(result); err != nil {
		return fmt.Errorf("close the results of %s: %w", a.sim.ID, err)
	}
	if err := a.log.end(ctx); err != nil {
		return fmt.Errorf("close the log of %s: %w", a.sim.ID, err)
	}
	if err := a.files.writeJSON(ReceiptName, a.receipt(partial)); err != nil {
		return err
	}
	manifest, err := a.files.seal()
	if err != nil {
		return fmt.Errorf("write the manifest of %s: %w", a.sim.ID, err)
	}
	_, err = commands.Handle(ctx, a.Commands, target(&a.sim), origin(a.sim.ID, "publish", manifest), commands.PublishResults{
		Published: events.SimulationResultsPublished{
			Prefix: a.files.prefix, Manifest: manifest,
			Files: int64(len(a.files.done.Files)), Bytes: a.files.size(),
			TotalPackets: p.Packets, AvgLatencyPs: p.AvgLatency(), Partial: partial,
			Reached: recorded(&p),
		},
	})
	if err != nil {
		return fmt.Errorf("publish the results of %s: %w", a.sim.ID, err)
	}
	return a.unlessDeleted(ctx)
}

// unlessDeleted removes results that came after their simulation was deleted:
// its purge may have been before them.
func (a *attempt) unlessDeleted(ctx context.Context) error {
	sim, err := projections.FindSimulation(ctx, a.DB, a.sim.ID)
	if err != nil || sim.Deleted == "" {
		return err
	}
	return a.Purge(ctx, a.sim.ID)
}

func (a *attempt) receipt(partial bool) Receipt {
	r := Receipt{
		SimulationID: a.sim.ID, Name: a.sim.Name,
		ConfigurationID: a.sim.ConfigurationID, ConfigurationVersion: a.sim.ConfigurationVersion,
		DocumentHash: a.in.DocumentHash,
		Traceset:     ReceiptTraceset{ID: a.in.Traceset.ID, LibraryHash: a.in.Traceset.LibraryHash},
		Engine:       builtin, EngineVersion: engine.Version, Seed: a.in.Options.Seed,
		DurationNs: a.sim.DurationNs, StartedAt: a.sim.StartedAt.UTC(), Partial: partial,
	}
	if m := a.in.Mapped; m != nil {
		r.MappingFile = &ReceiptMapping{ID: m.ID, ReceiptFile: m.File}
	}
	for _, f := range a.in.Traceset.Files {
		r.Traceset.Files = append(r.Traceset.Files, ReceiptFile{Name: f.Name, Hash: f.Hash, Size: f.Size})
	}
	for _, f := range a.files.done.Files {
		r.Files = append(r.Files, ReceiptFile{Name: f.Name, Hash: "sha256:" + f.SHA256, Size: f.Size})
	}
	return r
}
