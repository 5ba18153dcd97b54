package execution

import (
	"context"
	"fmt"
	"math"

	"netsim/events"
	"netsim/simulator/archive"
	"netsim/simulator/chakra"
	"netsim/simulator/document"
	"netsim/simulator/engine"
	"netsim/simulator/replay"
	"netsim/simulator/schedule"
)

// replayed is the workload of a traceset of Chakra traces.
type replayed struct {
	settings document.Replay
	scales   []float64          // factor on the computation times of each rank
	schedule *schedule.Schedule // nil until the traces are read
	warnings replay.Warnings
}

// unknown is the value of Inputs.Transfers before the traces are read.
const unknown = -1

// replay prepares the replay of Chakra traces, which Read reads.
func (in *Inputs) replay(a *document.Application) error {
	settings, err := a.Replay()
	if err != nil {
		return unfit("application %s: %w", a.Name, err)
	}
	in.replayed = &replayed{settings: settings}
	in.Ranks, in.Transfers = int(in.Order.Traceset.RankCount), unknown
	if in.Ranks < 1 {
		return unfit("traceset %s has no rank", in.Order.Traceset.ID)
	}
	return nil
}

// Traces reports whether the workload is Chakra traces. Their number of transfers
// is unknown until Read.
func (in *Inputs) Traces() bool { return in.replayed != nil }

// Read reads the traces of the ranks, one after another. Without traces it does
// nothing.
func (in *Inputs) Read(ctx context.Context) error {
	r, t := in.replayed, in.Order.Traceset
	if r == nil {
		return nil
	}
	files, groups, err := in.rankFiles(ctx)
	if err != nil {
		return err
	}
	b := replay.New(in.Ranks, replay.Options{
		Groups: groups, Algorithms: r.settings.Algorithms, Serialize: r.settings.Serialize, Callers: r.settings.Callers,
		Abort: r.settings.Abort, Times: r.scales, MaxBytes: in.TraceBytes,
		Sizes: max(r.settings.Sizes, math.SmallestNonzeroFloat64), // 0 means the smallest sizes, not the default
	})
	if len(files) != in.Ranks {
		return unfit("traceset %s has %d rank files, and %d ranks", t.ID, len(files), in.Ranks)
	}
	for file := range openAhead(ctx, in.files, files) {
		rank, err := chakra.RankOf(file.Name)
		if err != nil || rank >= in.Ranks {
			err = unfit("traceset %s: file %s is of no rank from 0 to %d", t.ID, file.Name, in.Ranks-1)
		} else {
			err = file.addTo(b, rank)
		}
		file.close()
		if err != nil {
			return err
		}
	}
	r.schedule, err = b.Schedule()
	if err != nil {
		return unfit("traceset %s: %w", t.ID, err)
	}
	r.warnings = b.Warnings()
	in.Transfers, _ = r.schedule.Transfers()
	return nil
}

// rankFiles lists the files of the ranks, and reads the process groups. groups is
// nil if the traceset defines none.
func (in *Inputs) rankFiles(ctx context.Context) (ranks []File, groups chakra.Groups, err error) {
	files := in.Order.Traceset.Files
	if in.Order.Traceset.Layout == events.LayoutFolder {
		if files, err = in.files.Unpacked(ctx, in.Order.Traceset); err != nil {
			return nil, nil, err
		}
	}
	for _, f := range files {
		switch {
		case f.Name == archive.GroupsFile:
			if groups, err = in.processGroups(ctx, f); err != nil {
				return nil, nil, err
			}
		case f.Role == events.RolePrimary:
			ranks = append(ranks, f)
		}
	}
	return ranks, groups, nil
}

func (in *Inputs) processGroups(ctx context.Context, f File) (chakra.Groups, error) {
	body, err := in.files.Open(ctx, f)
	if err != nil {
		return nil, err
	}
	defer body.Close() //nolint:errcheck // it was only read
	stored := newSummed(body)
	groups, err := chakra.ReadGroups(stored)
	switch {
	case stored.Err != nil:
		return nil, fmt.Errorf("read %s: %w", f.Name, stored.Err)
	case err != nil:
		return nil, unfit("%s: %w", f.Name, err)
	case stored.differs(f):
		return nil, unfit("file %s of the traceset does not match its hash", f.Name)
	}
	return groups, nil
}

// Input returns the engine's input. Traces must have been read.
func (in *Inputs) Input() engine.Input {
	input := engine.Input{
		Fabric: in.Fabric, Groups: in.groups, Synchronize: in.together, Hosts: in.hosts, ScaleUp: in.scaleUp, Traffic: in.Traffic, Options: in.Options,
	}
	if r := in.replayed; r != nil {
		input.Replay = &engine.Replay{Schedule: r.schedule, Synchronize: r.settings.Synchronize, Exclusive: r.settings.Exclusive}
	}
	return input
}

// listed returns the scale-up groups whose ports the results list, nil for none.
func (in *Inputs) listed() *engine.ScaleUp {
	if !in.listScaleUp {
		return nil
	}
	return in.scaleUp
}

// Flows returns the largest number of collectives' transfers in flight at once. For
// traces it is unknown, and Flows returns 0.
func (in *Inputs) Flows() int64 { return engine.MostFlows(in.groups) }
