package export

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"netsim/events"
	"netsim/fault"
	"netsim/infra/eventlog"
	"netsim/stream/tables"
)

// Export is one run of an export.
type Export struct {
	Request
	Log     Log
	Facts   Reader // of frames: data need not be decoded
	Records eventlog.RecordReader
	Target  Target
	Workers int           // partitions at a time; as many as processors when 0
	Stall   time.Duration // how long the read model may judge nothing more; a minute when 0
	Report  func(Progress)
	// Step, when set, is called at each step of a file; an error ends the export there.
	Step func(step string) error

	mu       sync.Mutex // of the manifest
	manifest *Manifest
	owned    map[string]bool // the workspaces of the account of the filter
	read     atomic.Int64
	facts    atomic.Int64
}

// Run writes the files that are missing, and returns the manifest. After an error, a run
// with the same request goes on.
func (x *Export) Run(ctx context.Context) (*Manifest, error) {
	if err := x.check(); err != nil {
		return nil, err
	}
	x.Workers, x.Stall = cmp.Or(x.Workers, runtime.GOMAXPROCS(0)), cmp.Or(x.Stall, time.Minute)
	if err := x.Target.Begin(ctx); err != nil {
		return nil, err
	}
	defer x.Target.Close() //nolint:errcheck // nothing is written any more
	if err := x.open(ctx); err != nil {
		return nil, err
	}
	if x.manifest.Complete {
		return x.manifest, nil
	}
	stop := x.reporting()
	err := x.run(ctx)
	stop()
	if err != nil {
		return x.manifest, fmt.Errorf("%w; the same command goes on after %d files", err, len(x.manifest.Files))
	}
	return x.manifest, nil
}

func (x *Export) run(ctx context.Context) error {
	if err := x.learnWorkspaces(ctx); err != nil {
		return err
	}
	parts := slices.Clone(x.manifest.Partitions)
	slices.SortStableFunc(parts, func(a, b Partition) int { return cmp.Compare(b.To-b.Next, a.To-a.Next) })
	group, working := errgroup.WithContext(ctx)
	group.SetLimit(x.Workers)
	for _, p := range parts {
		if p.Next < p.To {
			group.Go(func() error { return x.partition(working, p) })
		}
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return x.record(ctx, func(m *Manifest) { m.Complete = true })
}

// open reads the manifest, or begins one. It removes files that are not listed.
func (x *Export) open(ctx context.Context) error {
	names, err := x.Target.Names(ctx)
	if err != nil {
		return err
	}
	if !slices.Contains(names, ManifestName) {
		if len(names) > 0 {
			return fault.New(fault.Conflict, "the target has files, such as %s, and no %s: use an empty one", names[0], ManifestName)
		}
		x.manifest = newManifest(x.Request, x.Log)
		return x.record(ctx, func(*Manifest) {})
	}
	if x.manifest, err = ReadManifest(ctx, x.Target); err != nil {
		return err
	}
	if err := x.manifest.resumable(x.Request, x.Log); err != nil {
		return err
	}
	if err := x.prove(ctx); err != nil {
		return err
	}
	x.manifest.describe()
	for _, name := range names {
		if name == ManifestName || x.manifest.lists(name) {
			continue
		}
		if !ours(name, x.Format) {
			return fault.New(fault.Conflict, "the target has the file %s, which the export did not write", name)
		}
		if err := x.Target.Remove(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// prove refuses a log that is not the one of which the files have the facts.
func (x *Export) prove(ctx context.Context) error {
	for _, p := range x.manifest.Partitions {
		at, err := events.ParseAnchor(p.Anchor)
		if err != nil {
			return fmt.Errorf("read %s: %w", ManifestName, err)
		}
		other, err := eventlog.Prove(ctx, x.Records, p.Topic, p.Partition, at)
		if err != nil {
			return err
		}
		if other != "" {
			return fault.New(fault.Conflict, "the export has facts that the log does not have: %s; use another target", other)
		}
	}
	return nil
}

// ReadManifest reads the manifest of an export.
func ReadManifest(ctx context.Context, t Target) (*Manifest, error) {
	in, err := t.Open(ctx, ManifestName)
	if err != nil {
		return nil, err
	}
	defer in.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(in)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", ManifestName, err)
	}
	return parseManifest(text)
}

// ours reports whether a name is one of a file of an export.
func ours(name, format string) bool {
	return slices.ContainsFunc(tables.All(), func(t *tables.Table) bool {
		return strings.HasPrefix(name, t.Name+"-") && strings.HasSuffix(name, "."+format)
	})
}

// record changes the manifest and stores it.
func (x *Export) record(ctx context.Context, change func(*Manifest)) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	change(x.manifest)
	text, err := x.manifest.encode()
	if err != nil {
		return err
	}
	return x.Target.Replace(ctx, ManifestName, text)
}

// learnWorkspaces finds the workspaces of the account of the filter, up to the end of
// the log at the beginning of the export.
func (x *Export) learnWorkspaces(ctx context.Context) error {
	if x.Filters.Account == "" {
		return nil
	}
	x.owned = map[string]bool{}
	topic := x.Log.topic(events.Workspaces)
	if topic == nil {
		return nil
	}
	table := tables.For(events.Workspaces)
	account := table.Index("account_id")
	var row tables.Row
	for n, to := range topic.Ends {
		for from := int64(0); from < to; {
			b, err := x.next(ctx, events.Workspaces, int32(n), from)
			if err != nil {
				return err
			}
			for i := range b.Facts {
				if err := table.Row(&row, &b.Facts[i]); err != nil {
					return err
				}
				if text(&row, account) == x.Filters.Account {
					x.owned[strings.Clone(b.Facts[i].Stream)] = true
				}
			}
			from = b.To
		}
	}
	return nil
}

func (x *Export) step(name string) error {
	if x.Step == nil {
		return nil
	}
	return x.Step(name)
}
