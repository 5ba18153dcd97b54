package runs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"netsim/commands"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/objects"
	"netsim/projections"
	"netsim/simulator/blueprint"
	"netsim/simulator/chakra"
	"netsim/simulator/collective"
	"netsim/simulator/design"
	"netsim/simulator/engine"
	"netsim/simulator/topology"
	"netsim/simulator/units"
)

// Stage reads what a simulation runs on.
type Stage struct {
	DB      projections.Reader // the read model
	Objects *objects.Store
}

// Inputs are what a simulation runs on, checked to fit together.
type Inputs struct {
	ConfigurationStatus string                 // of the version
	DocumentHash        string                 // sha256: of the document's canonical text
	Traceset            Traceset               // none when the applications are not coordinated
	Groups              []collective.GroupSpec // of a simple traceset
	Replayed            *Replayed              // or the traces of another
	Hosts               []int32                // of the ranks
	Mapped              *Mapped                // nil without a mapping file
	ScaleUp             *engine.ScaleUp
	listScaleUp         bool // in the results
	Traffic             []engine.Traffic
	Fabric              *topology.Fabric
	Options             engine.Options
	Ranks               int
	Transfers           int64 // of traffic the expected ones, -1 of traces until Read
}

// Traceset is the workload that is replayed.
type Traceset struct {
	ID          string
	Status      string
	Format      string
	LibraryHash string
	Files       []events.TracesetFile
}

// Inputs reads and checks the inputs of a simulation. A fault says what is
// wrong with them: NotFound that something is missing, which may yet come,
// Unprocessable that they can never run. Any other error may pass.
func (s *Stage) Inputs(ctx context.Context, sim *projections.Simulation) (*Inputs, error) {
	in := new(Inputs)
	document, err := s.document(ctx, sim, in)
	if err != nil {
		return nil, err
	}
	if in.Fabric, err = document.Fabric(); err != nil {
		return nil, unfit("configuration %s cannot be wired: %w", sim.ConfigurationID, err)
	}
	if in.Options, err = document.Options(time.Duration(sim.DurationNs)); err != nil {
		return nil, unfit("configuration %s cannot be simulated: %w", sim.ConfigurationID, err)
	}
	if e := document.Engine(); e != builtin {
		return nil, unfit("engine %s is not available", e)
	}
	if a := document.Chakra(); a != nil {
		return in, s.coordinated(ctx, sim, in, document, a)
	}
	return in, in.uncoordinated(document, sim)
}

// coordinated reads what the ranks of an application run, and places them.
func (s *Stage) coordinated(ctx context.Context, sim *projections.Simulation, in *Inputs, d *design.Document, a *design.Application) error {
	row, err := s.traceset(ctx, sim, in)
	if err != nil {
		return err
	}
	switch row.Format {
	case formatSimple:
		err = s.simple(ctx, in, a)
	case chakra.FormatBinary, chakra.FormatJSON:
		err = s.replay(in, row, a)
	default:
		err = unfit("traceset %s has the format %s, which this engine does not replay", row.ID, row.Format)
	}
	if err != nil {
		return err
	}
	if err := s.place(ctx, sim, in, d, a); err != nil {
		return err
	}
	if in.Replayed != nil {
		if in.Replayed.scales, err = d.ComputeScales(in.Fabric, in.Hosts); err != nil {
			return unfit("configuration %s: %w", sim.ConfigurationID, err)
		}
		return s.stored(ctx, in)
	}
	return nil
}

// simple reads the groups of a simple submission.
func (s *Stage) simple(ctx context.Context, in *Inputs, a *design.Application) error {
	t := &in.Traceset
	if len(t.Files) != 1 {
		return unfit("traceset %s has %d files, a simple one has one", t.ID, len(t.Files))
	}
	content, err := s.fetch(ctx, t.Files[0])
	if err != nil {
		return err
	}
	groups, err := blueprint.ParseWorkload(content)
	if err == nil {
		in.Groups, err = a.Apply(groups)
	}
	if err != nil {
		return unfit("traceset %s: %w", t.ID, err)
	}
	in.Ranks = collective.Ranks(in.Groups)
	for _, g := range in.Groups {
		for _, phase := range g.Phases {
			plan := collective.NewPlan(phase, g.GroupSize)
			in.Transfers += int64(g.Count) * plan.Transfers()
		}
	}
	return nil
}

// maxMessages bounds a simulation of traffic: some minutes of work, and rows of
// the per-transfer record for all.
const maxMessages = 5_000_000

// uncoordinated reads what applications send on their own.
func (in *Inputs) uncoordinated(d *design.Document, sim *projections.Simulation) error {
	var err error
	if in.Traffic, err = d.Traffic(in.Fabric, in.Options.Seed); err != nil {
		return unfit("configuration %s: %w", sim.ConfigurationID, err)
	}
	span := sim.DurationNs*1000 + in.Options.WarmUp
	hosts := map[int32]bool{}
	for i := range in.Traffic {
		t := &in.Traffic[i]
		in.Transfers += t.Expected(in.Fabric, in.Options, span)
		for _, h := range append(slices.Clone(t.Clients), t.Servers...) {
			hosts[h] = true
		}
	}
	in.Ranks = len(hosts)
	switch {
	case in.Transfers == 0:
		return unfit("the applications would hardly send a message in %s; lengthen the duration or raise Load", units.FormatDuration(span))
	case in.Transfers > maxMessages:
		return unfit("the applications would send about %d messages in %s, more than the %d that are simulated; "+
			"shorten the duration to %s, lower Load or raise MessageSize", in.Transfers, units.FormatDuration(span),
			maxMessages, units.FormatDuration(int64(float64(span)*maxMessages/float64(in.Transfers))))
	}
	return nil
}

// Check looks whether a simulation can run: it returns the hash of its
// document, or the reason why it cannot, or an error when that cannot be told
// now (completions.md 5.1, the recheck).
func (s *Stage) Check(ctx context.Context, sim *projections.Simulation) (documentHash, reason string, err error) {
	in, err := s.Inputs(ctx, sim)
	switch {
	case fault.Is(err, fault.NotFound), fault.Is(err, fault.Unprocessable):
		return "", err.Error(), nil
	case err != nil:
		return "", "", err
	case in.ConfigurationStatus != commands.Validated:
		return "", fmt.Sprintf("version %d of configuration %s is %s, not validated",
			sim.ConfigurationVersion, sim.ConfigurationID, in.ConfigurationStatus), nil
	case in.Transfers == 0:
		return "", engine.ErrNothing.Error(), nil
	}
	reason, err = s.withoutFile(ctx, sim.MappingFileID)
	return in.DocumentHash, reason, err
}

// withoutFile is the reason why a simulation cannot begin with its mapping
// file. One that has begun goes on without (document 2).
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

func (s *Stage) document(ctx context.Context, sim *projections.Simulation, in *Inputs) (*design.Document, error) {
	v, err := projections.FindConfigurationVersion(ctx, s.DB, sim.ConfigurationID, sim.ConfigurationVersion)
	if err != nil {
		return nil, err
	}
	in.ConfigurationStatus, in.Traceset.ID = v.Status, v.TracesetID
	if sim.TracesetID != "" {
		in.Traceset.ID = sim.TracesetID // fixed when the simulation was requested
	}
	sum := sha256.Sum256([]byte(v.Document))
	in.DocumentHash = "sha256:" + hex.EncodeToString(sum[:])
	document, err := design.Parse(v.Document)
	if err != nil {
		return nil, unfit("configuration %s: %w", sim.ConfigurationID, err)
	}
	return document, nil
}

// formatSimple is the format of simple submissions.
const formatSimple = "simple_v1"

// traceset finds the workload that is replayed.
func (s *Stage) traceset(ctx context.Context, sim *projections.Simulation, in *Inputs) (row projections.Traceset, err error) {
	t := &in.Traceset
	if t.ID == "" {
		return row, unfit("the configuration has no traceset")
	}
	if row, err = projections.FindTraceset(ctx, s.DB, t.ID); err != nil {
		return row, err
	}
	t.Status, t.Format, t.LibraryHash = row.Status, row.Format, row.LibraryHash
	if err := json.Unmarshal([]byte(row.Files), &t.Files); err != nil {
		return row, fmt.Errorf("read the files of traceset %s: %w", t.ID, err)
	}
	if t.Status != "ready" && sim.StartedAt == nil { // a run that has begun goes on while the bytes are there
		return row, unfit("traceset %s is %s, not ready", t.ID, t.Status)
	}
	return row, nil
}

// fetch reads a file of a traceset whole and checks that it is the one.
func (s *Stage) fetch(ctx context.Context, f events.TracesetFile) ([]byte, error) {
	body, _, err := s.Objects.Get(ctx, f.ObjectKey)
	if fault.Is(err, fault.NotFound) {
		return nil, fault.New(fault.NotFound, "file %s of the traceset is not stored", f.Name)
	}
	if err != nil {
		return nil, err
	}
	defer body.Close() //nolint:errcheck // it was only read
	content, err := io.ReadAll(io.LimitReader(body, f.Size+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.ObjectKey, err)
	}
	sum := sha256.Sum256(content)
	if f.Hash != "sha256:"+hex.EncodeToString(sum[:]) {
		return nil, unfit("file %s of the traceset does not match its hash", f.Name)
	}
	return content, nil
}

// unfit is a fault of inputs that can never run; its text is the reason.
func unfit(format string, args ...any) error {
	return fault.New(fault.Unprocessable, "%s", fmt.Errorf(format, args...).Error())
}
