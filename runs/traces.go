package runs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"

	"netsim/fault"
	"netsim/projections"
	"netsim/simulator/chakra"
	"netsim/simulator/design"
	"netsim/simulator/engine"
	"netsim/simulator/mapping"
	"netsim/simulator/program"
	"netsim/simulator/replay"
	"netsim/traces"
)

// Replayed is the workload of a traceset of Chakra traces.
type Replayed struct {
	Settings design.Replay
	Program  *program.Program // nil until the traces are read
	Warnings replay.Warnings

	row    projections.Traceset
	scales []float64 // on the computation times of each rank
}

// MappingName is what a mapping file is called inside a simulation (document 2).
const MappingName = "chakra-mapping.txt"

// Mapped is the mapping file of a simulation.
type Mapped struct {
	ID, Name string
	File     ReceiptFile
}

// unknown is Inputs.Transfers of traces that are not read yet.
const unknown = -1

// Read reads the traces of the ranks, one after the other, if there are any.
// Its errors are like those of Inputs.
func (s *Stage) Read(ctx context.Context, in *Inputs) error {
	r := in.Replayed
	if r == nil {
		return nil
	}
	w, err := traces.Open(ctx, s.Objects, &r.row)
	if err != nil {
		return err
	}
	b := replay.New(in.Ranks, replay.Options{
		Groups: w.Groups, Algorithms: r.Settings.Algorithms, Serialize: r.Settings.Serialize, Callers: r.Settings.Callers,
		Abort: r.Settings.Abort, Times: r.scales,
		Sizes: max(r.Settings.Sizes, math.SmallestNonzeroFloat64), // 0 makes every size the least, not the default
	})
	if len(w.Files) != in.Ranks {
		return unfit("traceset %s has %d rank files, and %d ranks", r.row.ID, len(w.Files), in.Ranks)
	}
	for file := range opened(w.Files) {
		rank, err := chakra.RankOf(file.name)
		if err != nil || rank >= in.Ranks {
			err = unfit("traceset %s: file %s is of no rank from 0 to %d", r.row.ID, file.name, in.Ranks-1)
		} else {
			err = file.trace(b, rank, in.hashOf(file.name))
		}
		file.close()
		if err != nil {
			return err
		}
	}
	r.Program, err = b.Program()
	if err != nil {
		return unfit("traceset %s: %w", r.row.ID, err)
	}
	r.Warnings = b.Warnings()
	in.Transfers, _ = r.Program.Transfers()
	return nil
}

// hashOf is the hash of a file as it was uploaded, or "" for one from an archive.
func (in *Inputs) hashOf(name string) string {
	for _, f := range in.Traceset.Files {
		if f.Name == name {
			return f.Hash
		}
	}
	return ""
}

// undelivered is a fault of a mapping file; its text is the reason on its own
// (completions.md 5.1).
type undelivered struct{ error }

func (u undelivered) Unwrap() error { return u.error }

// place puts the ranks where the mapping file says, or else onto the servers
// of the application.
func (s *Stage) place(ctx context.Context, sim *projections.Simulation, in *Inputs, d *design.Document, a *design.Application) error {
	if sim.MappingFileID == "" {
		var err error
		if in.Hosts, err = d.Place(a, in.Fabric, in.Ranks); err != nil {
			return unfit("configuration %s: %w", sim.ConfigurationID, err)
		}
		return nil
	}
	settings, err := a.Replay()
	if err != nil {
		return unfit("configuration %s: %w", sim.ConfigurationID, err)
	}
	file, err := s.mapping(ctx, sim.MappingFileID, in)
	if err != nil {
		return err
	}
	in.listScaleUp = settings.ScaleUpRows
	about := fmt.Sprintf("mapping file %s (%s)", in.Mapped.Name, in.Mapped.ID)
	if n := file.RankCount(); n != in.Ranks {
		return unfit("%s places %d ranks, and traceset %s has %d", about, n, in.Traceset.ID, in.Ranks)
	}
	if in.Hosts, in.ScaleUp, err = design.Mapped(in.Fabric, file, settings.Packet); err != nil {
		return unfit("%s: %w", about, err)
	}
	return nil
}

// mapping reads the mapping file and checks that it is the one.
func (s *Stage) mapping(ctx context.Context, id string, in *Inputs) (*mapping.File, error) {
	row, err := projections.FindMappingFile(ctx, s.DB, id)
	if err != nil {
		return nil, err
	}
	in.Mapped = &Mapped{ID: id, Name: row.Name, File: ReceiptFile{Name: MappingName, Hash: row.ContentHash, Size: row.SizeBytes}}
	gone := undelivered{fault.New(fault.Unprocessable, "mapping file %s (%s) could not be delivered", row.Name, id)}
	body, _, err := s.Objects.Get(ctx, row.ObjectKey)
	if fault.Is(err, fault.NotFound) {
		return nil, gone
	}
	if err != nil {
		return nil, err
	}
	defer body.Close() //nolint:errcheck // it was only read
	stored := &summed{r: body, sum: sha256.New()}
	file, err := mapping.Parse(stored)
	switch {
	case stored.err != nil:
		return nil, fmt.Errorf("read %s: %w", row.ObjectKey, stored.err)
	case err != nil, row.ContentHash != "sha256:"+hex.EncodeToString(stored.sum.Sum(nil)):
		return nil, gone
	}
	return file, nil
}

// replay prepares the replay of Chakra traces, which Read reads.
func (s *Stage) replay(in *Inputs, row projections.Traceset, a *design.Application) error {
	settings, err := a.Replay()
	if err != nil {
		return unfit("application %s: %w", a.Name, err)
	}
	in.Replayed = &Replayed{Settings: settings, row: row}
	in.Ranks, in.Transfers = int(row.RankCount), unknown
	if in.Ranks < 1 {
		return unfit("traceset %s has no rank", row.ID)
	}
	return nil
}

// stored checks that the files of a traceset are there.
func (s *Stage) stored(ctx context.Context, in *Inputs) error {
	if in.Replayed.row.Layout == traces.LayoutFolder {
		w, err := traces.Open(ctx, s.Objects, &in.Replayed.row)
		if err == nil && len(w.Files) != in.Ranks {
			err = fault.New(fault.NotFound, "traceset %s has %d of %d rank files stored", in.Traceset.ID, len(w.Files), in.Ranks)
		}
		return err
	}
	for _, f := range in.Traceset.Files {
		if _, err := s.Objects.Head(ctx, f.ObjectKey); fault.Is(err, fault.NotFound) {
			return fault.New(fault.NotFound, "file %s of the traceset is not stored", f.Name)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// warnings logs what is doubtful about the traces.
func (l *logbook) warnings(w replay.Warnings) {
	for _, text := range w.First {
		l.add(0, levelWarn, componentProvisioner, "%s", text)
	}
	if rest := w.Count - len(w.First); rest > 0 {
		l.add(0, levelWarn, componentProvisioner, "%d more warnings about the traces", rest)
	}
}

// engineInput is what the engine runs.
func (in *Inputs) engineInput() engine.Input {
	input := engine.Input{
		Fabric: in.Fabric, Groups: in.Groups, Hosts: in.Hosts, ScaleUp: in.ScaleUp, Traffic: in.Traffic, Options: in.Options,
	}
	if r := in.Replayed; r != nil {
		input.Replay = &engine.Replay{Program: r.Program, Synchronize: r.Settings.Synchronize, Exclusive: r.Settings.Exclusive}
	}
	return input
}

// listed are the scale-up groups whose ports the results list, nil for none.
func (in *Inputs) listed() *engine.ScaleUp {
	if !in.listScaleUp {
		return nil
	}
	return in.ScaleUp
}

// nothing reports whether there is nothing to simulate.
func (in *Inputs) nothing() bool {
	return in.Transfers == 0 && (in.Replayed == nil || in.Replayed.Program.Computations == 0)
}
