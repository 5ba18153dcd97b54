package traces

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/objects"
	"netsim/projections"
	"netsim/simulator/archive"
	"netsim/simulator/chakra"
)

// Extractor extracts the metadata of tracesets from their files.
type Extractor struct {
	Commands *handle.Handler
	DB       projections.Reader
	Objects  *objects.Store
	Limits   chakra.Limits // of each rank file
}

// Extract reads the files of a traceset that is processing, and records their
// metadata or why they cannot be used. It does nothing for a traceset in another
// status. An error means a temporary problem: Extract may be repeated.
func (x *Extractor) Extract(ctx context.Context, id string) error {
	t, err := projections.FindTraceset(ctx, x.DB, id)
	if err != nil || t.Status != commands.TracesetProcessing {
		return err
	}
	extracted, err := x.read(ctx, &t)
	wrong := new(refusal)
	if packed := new(archive.Refusal); errors.As(err, &packed) {
		err = refuse(packed.File, "%s", packed.Reason)
	}
	switch {
	case errors.As(err, &wrong):
		return x.record(ctx, &t, commands.RefuseExtraction{
			ID: id, Failed: events.TracesetMetadataFailed{Reason: wrong.Error(), File: wrong.file},
		})
	case fault.Is(err, fault.NotFound): // a missing file will not come back
		return x.record(ctx, &t, commands.RefuseExtraction{ID: id, Failed: events.TracesetMetadataFailed{Reason: err.Error()}})
	case err != nil:
		return fmt.Errorf("extract traceset %s: %w", id, err)
	}
	return x.record(ctx, &t, commands.RecordExtraction{ID: id, Extracted: extracted})
}

// record sends a command. The command records nothing when another extraction has
// recorded its result.
func (x *Extractor) record(ctx context.Context, t *projections.Traceset, c commands.Command[commands.Traceset]) error {
	_, err := handle.Command(ctx, x.Commands, handle.Target{Stream: t.ID, PartitionKey: t.Partition},
		handle.System(), c)
	return err
}

// read reads the files. It returns a refusal when they cannot be used.
func (x *Extractor) read(ctx context.Context, t *projections.Traceset) (events.TracesetMetadataExtracted, error) {
	found, err := x.unpack(ctx, t)
	if err != nil {
		return found, err
	}
	w, err := Open(ctx, x.Objects, t)
	if err != nil {
		return found, err
	}
	report, err := chakra.Inspect(w.Files, w.Groups, x.Limits)
	if err != nil {
		return found, err
	}
	for _, f := range report.Findings {
		if !f.Warning {
			return found, complaint(report, f)
		}
		found.Warnings = append(found.Warnings, f.String())
	}
	found.Warnings = found.Warnings[:min(len(found.Warnings), chakra.MaxFindings)]
	found.RankCount = int64(len(w.Files))
	if err := fitsDescription(t.Workload, found.RankCount); err != nil {
		return found, err
	}
	found.Format = t.Format
	if len(report.Traces) > 0 {
		found.Format = report.Traces[0].Format
	}
	if found.Layout == "" {
		for _, trace := range report.Traces {
			found.Ranges = append(found.Ranges, events.RankRange{File: trace.File, Start: int64(trace.Rank), End: int64(trace.Rank)})
		}
	}
	found.Summary, err = summarize(report.Traces, w.Groups)
	return found, err
}

// complaint returns the refusal for the first error of a report.
func complaint(report *chakra.Report, first chakra.Finding) error {
	file := first.File
	first.File = "" // the refusal names it
	if more := report.Errors - 1; more > 0 {
		return refuse(file, "%s; there are %d more errors", first.String(), more)
	}
	return refuse(file, "%s", first.String())
}

// unpack stores all files of a traceset with archives in its library's folder, and
// sets the layout of t. For a traceset without archives it changes nothing.
func (x *Extractor) unpack(ctx context.Context, t *projections.Traceset) (events.TracesetMetadataExtracted, error) {
	var found events.TracesetMetadataExtracted
	files, err := t.FileList()
	if err != nil {
		return found, err
	}
	u := newUnpacking(ctx, x.Objects, Folder(t.LibraryHash))
	var others []events.TracesetFile
	archives := 0
	for _, f := range files {
		var isArchive bool
		if f.Role == events.RolePrimary {
			isArchive, err = u.File(f.Name, func() (io.ReadCloser, error) { return get(ctx, x.Objects, f) })
		}
		if err != nil {
			_ = u.puts.Wait() // the first error is returned
			return found, err
		}
		if isArchive {
			archives++
		} else {
			others = append(others, f)
		}
	}
	if err := u.puts.Wait(); err != nil || archives == 0 {
		return found, err
	}
	for _, f := range others {
		rank, err := chakra.RankOf(f.Name)
		switch {
		case f.Role != events.RolePrimary, f.Name == archive.GroupsFile:
		case err != nil:
			return found, refuse(f.Name, "the file is neither a rank file, rank_<n>.chakra.json or <prefix>.<n>.et, nor an archive of them")
		default:
			u.Hold(f.Name, int64(rank))
		}
		if err := u.copy(ctx, f); err != nil {
			return found, err
		}
	}
	t.Layout = events.LayoutFolder
	found.Layout, found.FileCount, found.Warnings = events.LayoutFolder, int64(u.Len()), u.Warnings
	for file, r := range u.Ranks {
		found.Ranges = append(found.Ranges, events.RankRange{File: file, Start: r.First, End: r.Last})
	}
	slices.SortFunc(found.Ranges, func(a, b events.RankRange) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.File, b.File))
	})
	return found, nil
}

// fitsDescription refuses workload metadata that declares another number of ranks
// than the files have.
func fitsDescription(text string, ranks int64) error {
	if text == "" {
		return nil
	}
	var described struct {
		Shape       struct{ RankCount *int64 }
		Parallelism struct{ DP, TP, SP, EP, PP *int64 }
	}
	if err := json.Unmarshal([]byte(text), &described); err != nil {
		return fmt.Errorf("read the workload metadata: %w", err)
	}
	if n := described.Shape.RankCount; n != nil && *n != ranks {
		return refuse("", "workloadMetadata.shape.rankCount is %d, and the files have %d ranks", *n, ranks)
	}
	p := described.Parallelism
	product, given := int64(1), false
	for _, degree := range []*int64{p.DP, p.TP, p.SP, p.EP, p.PP} {
		if degree == nil {
			continue
		}
		given = true
		if *degree < 1 || product > maxProduct / *degree {
			return refuse("", "the product of workloadMetadata.parallelism is out of range, and the files have %d ranks", ranks)
		}
		product *= *degree
	}
	if given && product != ranks {
		return refuse("", "the product of dp, tp, sp, ep and pp of workloadMetadata.parallelism is %d, and the files have %d ranks", product, ranks)
	}
	return nil
}

const maxProduct = 1 << 53
