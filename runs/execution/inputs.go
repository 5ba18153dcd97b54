package execution

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"netsim/fault"
	"netsim/simulator/chakra"
	"netsim/simulator/collective"
	"netsim/simulator/document"
	"netsim/simulator/engine"
	"netsim/simulator/mapping"
	"netsim/simulator/presets"
	"netsim/simulator/topology"
	"netsim/simulator/units"
)

// Inputs are the checked inputs of an order.
type Inputs struct {
	Order     *Order
	Ranks     int
	Transfers int64 // an estimate for traffic; -1 for traces before Read
	Fabric    *topology.Fabric
	Traffic   []engine.Traffic // of uncoordinated applications
	Options   engine.Options

	TraceBytes int64 // maximum memory of the traces, 0 for 2 GiB

	files       Files
	groups      []collective.GroupSpec // of a simple traceset
	together    bool                   // whether the ranks of groups begin a phase together
	replayed    *replayed              // of a traceset with Chakra traces, nil for others
	hosts       []int32                // of the ranks
	scaleUp     *engine.ScaleUp
	listScaleUp bool        // whether the results list scaleUp
	kept        []keptInput // inputs that are copied to the results
}

type keptInput struct {
	name    string
	content []byte
}

// Prepare reads and checks the inputs of an order, except the traces of its ranks,
// which Read reads.
func Prepare(ctx context.Context, o *Order, files Files) (*Inputs, error) {
	in := &Inputs{Order: o, files: files}
	if h := Hash(o.Document); h != o.DocumentHash {
		return nil, unfit("configuration %s has the hash %s, the order says %s", o.ConfigurationID, h, o.DocumentHash)
	}
	doc, err := o.Configuration()
	if err != nil {
		return nil, unfit("configuration %s: %w", o.ConfigurationID, err)
	}
	if in.Fabric, err = doc.Fabric(); err != nil {
		return nil, unfit("configuration %s cannot be wired: %w", o.ConfigurationID, err)
	}
	if in.Options, err = doc.Options(time.Duration(o.DurationNs)); err != nil {
		return nil, unfit("configuration %s cannot be simulated: %w", o.ConfigurationID, err)
	}
	if in.Options.Seed != o.Seed {
		return nil, unfit("configuration %s has the seed %d, the order says %d", o.ConfigurationID, in.Options.Seed, o.Seed)
	}
	if a := doc.Chakra(); a != nil {
		return in, in.coordinated(ctx, doc, a)
	}
	return in, in.uncoordinated(doc)
}

// coordinated reads the workload of an application's ranks, and places the ranks on
// servers.
func (in *Inputs) coordinated(ctx context.Context, d *document.Document, a *document.Application) error {
	t := in.Order.Traceset
	if t == nil {
		return unfit("the configuration has no traceset")
	}
	var err error
	switch t.Format {
	case presets.Format:
		err = in.simple(ctx, a)
	case chakra.FormatBinary, chakra.FormatJSON:
		err = in.replay(a)
	default:
		err = unfit("traceset %s has the format %s, which this engine does not replay", t.ID, t.Format)
	}
	if err != nil {
		return err
	}
	if err := in.place(ctx, d, a); err != nil {
		return err
	}
	if in.replayed != nil {
		if in.replayed.scales, err = d.ComputeScales(in.Fabric, in.hosts); err != nil {
			return unfit("configuration %s: %w", in.Order.ConfigurationID, err)
		}
	}
	return nil
}

// simple reads the groups of a simple submission.
func (in *Inputs) simple(ctx context.Context, a *document.Application) error {
	t := in.Order.Traceset
	if len(t.Files) != 1 {
		return unfit("traceset %s has %d files, a simple one has one", t.ID, len(t.Files))
	}
	content, err := in.fetch(ctx, t.Files[0])
	if err != nil {
		return err
	}
	groups, err := presets.ParseWorkload(content)
	if err == nil {
		in.groups, err = a.Apply(groups)
	}
	if err != nil {
		return unfit("traceset %s: %w", t.ID, err)
	}
	settings, err := a.Replay()
	if err != nil {
		return unfit("configuration %s: %w", in.Order.ConfigurationID, err)
	}
	in.together = settings.Synchronize
	in.kept = append(in.kept, keptInput{t.Files[0].Name, content})
	in.Ranks = collective.Ranks(in.groups)
	in.Transfers = collective.Transfers(in.groups)
	return nil
}

// fetch reads a whole file of a traceset and checks its hash.
func (in *Inputs) fetch(ctx context.Context, f File) ([]byte, error) {
	body, err := in.files.Open(ctx, f)
	if err != nil {
		return nil, err
	}
	defer body.Close() //nolint:errcheck // it was only read
	content, err := io.ReadAll(io.LimitReader(body, f.Size+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.Name, err)
	}
	if Hash(content) != f.Hash {
		return nil, unfit("file %s of the traceset does not match its hash", f.Name)
	}
	return content, nil
}

// maxMessages limits the messages of uncoordinated traffic. This number takes some
// minutes to simulate, and fits in the per-transfer record.
const maxMessages = 5_000_000

// uncoordinated reads the traffic of uncoordinated applications.
func (in *Inputs) uncoordinated(d *document.Document) error {
	var err error
	if in.Traffic, err = d.Traffic(in.Fabric, in.Options.Seed); err != nil {
		return unfit("configuration %s: %w", in.Order.ConfigurationID, err)
	}
	span := in.Order.DurationNs*1000 + in.Options.WarmUp
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

// Undelivered is the fault that a mapping file could not be delivered. Its text is
// the whole reason of the failure (completions.md 5.1).
type Undelivered struct{ error }

// Unwrap returns the fault.
func (u Undelivered) Unwrap() error { return u.error }

// place places the ranks on the servers of the mapping file or, without one, on the
// servers of the application's logical group.
func (in *Inputs) place(ctx context.Context, d *document.Document, a *document.Application) error {
	m := in.Order.MappingFile
	if m == nil {
		var err error
		if in.hosts, err = d.Place(a, in.Fabric, in.Ranks); err != nil {
			return unfit("configuration %s: %w", in.Order.ConfigurationID, err)
		}
		return nil
	}
	settings, err := a.Replay()
	if err != nil {
		return unfit("configuration %s: %w", in.Order.ConfigurationID, err)
	}
	file, err := in.mapping(ctx, m)
	if err != nil {
		return err
	}
	in.listScaleUp = settings.ScaleUpRows
	about := fmt.Sprintf("mapping file %s (%s)", m.Title, m.ID)
	if n := file.RankCount(); n != in.Ranks {
		return unfit("%s places %d ranks, and traceset %s has %d", about, n, in.Order.Traceset.ID, in.Ranks)
	}
	if in.hosts, in.scaleUp, err = document.Mapped(in.Fabric, file, settings.Packet); err != nil {
		return unfit("%s: %w", about, err)
	}
	return nil
}

// mapping reads the mapping file and checks its hash.
func (in *Inputs) mapping(ctx context.Context, m *MappingFile) (*mapping.File, error) {
	gone := Undelivered{unfit("mapping file %s (%s) could not be delivered", m.Title, m.ID)}
	body, err := in.files.Open(ctx, m.File)
	if fault.Is(err, fault.NotFound) {
		return nil, gone
	}
	if err != nil {
		return nil, err
	}
	defer body.Close() //nolint:errcheck // it was only read
	stored := newSummed(io.LimitReader(body, m.Size+1))
	var text bytes.Buffer
	file, err := mapping.Parse(io.TeeReader(stored, &text))
	switch {
	case stored.Err != nil:
		return nil, fmt.Errorf("read %s: %w", m.Name, stored.Err)
	case err != nil, stored.differs(m.File):
		return nil, gone
	}
	in.kept = append(in.kept, keptInput{m.Name, text.Bytes()})
	return file, nil
}
