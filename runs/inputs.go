package runs

import (
	"context"
	"fmt"
	"io"
	"time"

	"netsim/commands"
	"netsim/content/traces"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/objects"
	"netsim/projections"
	"netsim/runs/execution"
	"netsim/simulator/mapping"
)

// Stage reads the inputs of simulations.
type Stage struct {
	DB      projections.Reader // the read model
	Objects *objects.Store
	Remote  bool // whether the settings name remote engines
	Limits  Limits
}

// Staged is the order of a simulation, with further facts about its inputs.
type Staged struct {
	execution.Order

	Engine              string // builtin or remote
	ConfigurationStatus string // of the version
}

// Order makes the order of a simulation. Its errors are those of the read model, or
// faults like those of package execution.
func (s *Stage) Order(ctx context.Context, sim *projections.Simulation) (*Staged, error) {
	v, err := projections.FindConfigurationVersion(ctx, s.DB, sim.ConfigurationID, sim.ConfigurationVersion)
	if err != nil {
		return nil, err
	}
	o := &Staged{ConfigurationStatus: v.Status, Order: execution.Order{
		SimulationID: sim.ID, Name: sim.Name, ConfigurationID: sim.ConfigurationID, ConfigurationVersion: sim.ConfigurationVersion,
		DocumentHash: execution.Hash(v.Document), Document: v.Document, DurationNs: sim.DurationNs,
	}}
	doc, err := o.Configuration()
	if err != nil {
		return nil, unfit("configuration %s: %w", sim.ConfigurationID, err)
	}
	options, err := doc.Options(time.Duration(sim.DurationNs))
	if err != nil {
		return nil, unfit("configuration %s cannot be simulated: %w", sim.ConfigurationID, err)
	}
	asked := doc.Engine()
	if asked != commands.EngineBuiltin && (asked != commands.EngineRemote || !s.Remote) {
		return nil, unfit("engine %s is not available", asked)
	}
	o.Engine, o.Seed = asked, options.Seed
	switch {
	case asked == commands.EngineRemote:
		o.StartedAt = sim.CreatedAt // known before the start, and the same in every order of the run
	case sim.StartedAt != nil:
		o.StartedAt = *sim.StartedAt
	}
	if sim.CheckpointIntervalNs > 0 {
		o.Checkpointing = &execution.Checkpointing{IntervalNs: sim.CheckpointIntervalNs}
	}
	if doc.Chakra() == nil {
		return o, nil
	}
	traceset := v.TracesetID
	if sim.TracesetID != "" {
		traceset = sim.TracesetID // fixed when the simulation was requested
	}
	if o.Traceset, err = s.traceset(ctx, sim, traceset); err != nil || sim.MappingFileID == "" {
		return o, err
	}
	m, err := projections.FindMappingFile(ctx, s.DB, sim.MappingFileID)
	if err != nil {
		return nil, err
	}
	o.MappingFile = &execution.MappingFile{ID: sim.MappingFileID, Title: m.Name, File: execution.File{
		Name: mapping.Name, Hash: m.ContentHash, Size: m.SizeBytes, Key: m.ObjectKey,
	}}
	return o, nil
}

// traceset finds the traceset of a simulation.
func (s *Stage) traceset(ctx context.Context, sim *projections.Simulation, id string) (*execution.Traceset, error) {
	if id == "" {
		return nil, nil //nolint:nilnil // Prepare refuses a configuration that needs a traceset
	}
	row, err := projections.FindTraceset(ctx, s.DB, id)
	if err != nil {
		return nil, err
	}
	if row.Status != commands.TracesetReady && sim.StartedAt == nil { // a run that has started needs only the bytes
		return nil, unfit("traceset %s is %s, not ready", id, row.Status)
	}
	files, err := row.FileList()
	if err != nil {
		return nil, err
	}
	t := &execution.Traceset{ID: id, LibraryHash: row.LibraryHash, Format: row.Format, Layout: row.Layout, RankCount: row.RankCount}
	for _, f := range files {
		t.Files = append(t.Files, execution.File{Name: f.Name, Role: f.Role, Hash: f.Hash, Size: f.Size, Key: f.ObjectKey})
	}
	return t, nil
}

// Inputs reads and checks the inputs of a simulation. It does not read traces, but
// checks that they are stored.
func (s *Stage) Inputs(ctx context.Context, sim *projections.Simulation) (*Staged, *execution.Inputs, error) {
	o, err := s.Order(ctx, sim)
	if err != nil {
		return nil, nil, err
	}
	in, err := execution.Prepare(ctx, &o.Order, stored{s.Objects})
	if err == nil && in.Traces() {
		err = s.stored(ctx, o.Traceset)
	}
	return o, in, err
}

// stored checks that the files of a traceset are stored.
func (s *Stage) stored(ctx context.Context, t *execution.Traceset) error {
	if t.Layout == events.LayoutFolder {
		files, err := stored{s.Objects}.Unpacked(ctx, t)
		ranks := int64(0)
		for _, f := range files {
			if f.Role == events.RolePrimary {
				ranks++
			}
		}
		if err == nil && ranks != t.RankCount {
			err = fault.New(fault.NotFound, "traceset %s has %d of %d rank files stored", t.ID, ranks, t.RankCount)
		}
		return err
	}
	for _, f := range t.Files {
		if _, err := s.Objects.Head(ctx, f.Key); fault.Is(err, fault.NotFound) {
			return notStored(f)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// Check checks whether a simulation can run (completions.md 5.1, the recheck). It
// returns the hash of the document if it can, the reason if it cannot, and an error
// if that is unknown.
func (s *Stage) Check(ctx context.Context, sim *projections.Simulation) (documentHash, reason string, err error) {
	o, in, err := s.Inputs(ctx, sim)
	switch {
	case fault.Is(err, fault.NotFound), fault.Is(err, fault.Unprocessable):
		return "", err.Error(), nil
	case err != nil:
		return "", "", err
	case o.ConfigurationStatus != commands.Validated:
		return "", fmt.Sprintf("version %d of configuration %s is %s, not validated",
			sim.ConfigurationVersion, sim.ConfigurationID, o.ConfigurationStatus), nil
	}
	if err := s.Limits.check(in); err != nil && o.Engine == commands.EngineBuiltin {
		return "", err.Error(), nil
	}
	reason, err = s.withoutFile(ctx, sim.MappingFileID)
	return o.DocumentHash, reason, err
}

// withoutFile returns a reason not to start if the mapping file of a simulation is
// deleted, otherwise "". After its start a simulation no longer needs the file
// (document 2).
func (s *Stage) withoutFile(ctx context.Context, id string) (reason string, err error) {
	if id == "" {
		return "", nil
	}
	m, err := projections.FindMappingFile(ctx, s.DB, id)
	if err == nil && m.Deleted {
		reason = fmt.Sprintf("mapping file %s (%s) is deleted", m.Name, id)
	}
	return reason, err
}

// stored opens the files of orders in the object store.
type stored struct{ *objects.Store }

// Open implements execution.Files.
func (s stored) Open(ctx context.Context, f execution.File) (io.ReadCloser, error) {
	body, _, err := s.Get(ctx, f.Key)
	if fault.Is(err, fault.NotFound) {
		return nil, notStored(f)
	}
	return body, err
}

// Unpacked implements execution.Files.
func (s stored) Unpacked(ctx context.Context, t *execution.Traceset) ([]execution.File, error) {
	unpacked, err := traces.Unpacked(ctx, s.Store, t.LibraryHash)
	if err != nil {
		return nil, err
	}
	files := make([]execution.File, len(unpacked))
	for i, f := range unpacked {
		files[i] = execution.File{Name: f.Name, Role: f.Role, Size: f.Size, Key: f.ObjectKey}
	}
	return files, nil
}

func notStored(f execution.File) error {
	return fault.New(fault.NotFound, "file %s of the traceset is not stored", f.Name)
}

// unfit returns the fault of inputs that can never run. Its text is the reason.
func unfit(format string, args ...any) error {
	return fault.New(fault.Unprocessable, "%s", fmt.Errorf(format, args...).Error())
}
