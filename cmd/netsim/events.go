package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"netsim/cmd/operate"
	"netsim/events"
	"netsim/stream/export"
)

type eventTools struct {
	Export eventsExport `cmd:"" help:"Write facts to files; the same command resumes an interrupted export."`
	Verify eventsVerify `cmd:"" help:"Compare the files of an export with its manifest."`
	Tail   eventsTail   `cmd:"" help:"Follow facts: each is one line of CloudEvents JSON."`

	Status    publicStatus `cmd:"" default:"withargs" help:"Show how far the public topics are (the default)."`
	Republish republish    `cmd:"" help:"Make the public topic of a family again, from its first fact."`
}

// factFilters are the filters that export and tail share.
type factFilters struct {
	Family    []events.Family `placeholder:"NAME" help:"Only these families, such as billing; separated by commas or repeated."`
	Type      []string        `placeholder:"TYPE" help:"Only these event types."`
	Stream    []string        `placeholder:"ID" help:"Only these streams."`
	Workspace []string        `placeholder:"ID" help:"Only facts of these workspaces."`
}

func (f factFilters) filters() export.Filters {
	return export.Filters{Families: f.Family, Types: f.Type, Streams: f.Stream, Workspaces: f.Workspace}
}

type eventsExport struct {
	factFilters
	Account   string        `placeholder:"ID" help:"Only facts of this account and its workspaces."`
	FromTime  time.Time     `placeholder:"TIME" help:"Only events that happened at or after this time, such as 2026-11-01T00:00:00Z."`
	ToTime    time.Time     `placeholder:"TIME" help:"Only events that happened before this time."`
	Format    string        `default:"parquet" enum:"parquet,ndjson,csv" help:"parquet, ndjson or csv."`
	To        string        `required:"" placeholder:"TARGET" help:"A directory, or s3://bucket/prefix in the object store of the settings."`
	FileBytes int64         `default:"268435456" placeholder:"BYTES" help:"Size of a file: the keys and values of its records, before encoding."`
	Stall     time.Duration `default:"1m" placeholder:"DURATION" help:"How long to wait while the read model judges nothing more."`
}

// Validate implements kong.Validatable.
func (e eventsExport) Validate() error {
	switch {
	case e.FileBytes < 1:
		return errors.New("--file-bytes must be above zero")
	case e.Stall <= 0:
		return errors.New("--stall must be above zero")
	case !e.ToTime.IsZero() && !e.FromTime.Before(e.ToTime):
		return errors.New("--to-time must be after --from-time")
	}
	return nil
}

// Run exports facts.
func (e eventsExport) Run(ctx context.Context) error {
	debug.SetGCPercent(200) // an export makes much garbage beside little that stays
	r := export.Request{Format: e.Format, FileBytes: e.FileBytes, Filters: e.filters()}
	r.Filters.Account, r.Filters.From, r.Filters.To = e.Account, e.FromTime, e.ToTime
	return withTools(ctx, func(t *operate.Tools) error {
		m, err := t.ExportFacts(ctx, r, operate.ExportOptions{To: e.To, Stall: e.Stall, Report: reportExport})
		if err != nil {
			return err
		}
		_, err = fmt.Printf("%s: %d facts in %d files, listed in %s\n", e.To, m.Rows(), len(m.Files), export.ManifestName)
		return err
	})
}

// reportExport prints how far an export is.
func reportExport(p export.Progress) {
	share := 100.0
	if p.Total > 0 {
		share = 100 * float64(p.Read) / float64(p.Total)
	}
	fmt.Fprintf(os.Stderr, "%.1f %% of %d records, %d facts written, %.0f records/s, %d files, about %s left\n",
		share, p.Total, p.Facts, float64(p.Read)/p.Spent.Seconds(), p.Files, p.Left().Round(time.Second))
}

type eventsVerify struct {
	Target string `arg:"" help:"A directory, or s3://bucket/prefix."`
}

// Run compares the files with the manifest.
func (e eventsVerify) Run(ctx context.Context) error {
	m, found, err := operate.VerifyExport(ctx, e.Target)
	if err != nil {
		return err
	}
	for _, f := range found {
		fmt.Println("FOUND", f)
	}
	if len(found) > 0 {
		return errFound
	}
	_, err = fmt.Printf("%d facts in %d files are as the manifest says\n", m.Rows(), len(m.Files))
	return err
}

type eventsTail struct {
	factFilters
	Since         time.Duration `placeholder:"DURATION" help:"Begin with the facts that were recorded in this time, such as 10m."`
	FromBeginning bool          `help:"Begin with the first fact of the log."`
	Count         int64         `short:"n" placeholder:"N" help:"End after this many facts."`
}

// Validate implements kong.Validatable.
func (e eventsTail) Validate() error {
	switch {
	case e.Since < 0:
		return errors.New("--since must be above zero")
	case e.Count < 0:
		return errors.New("--count must be above zero")
	case e.Since > 0 && e.FromBeginning:
		return errors.New("--since and --from-beginning can't be used together")
	}
	return nil
}

// Run writes facts until the process gets a signal or its output is closed.
func (e eventsTail) Run(ctx context.Context) error {
	return withTools(ctx, func(t *operate.Tools) error {
		err := t.TailFacts(ctx, e.filters(), operate.TailOptions{Beginning: e.FromBeginning, Since: e.Since, Count: e.Count}, os.Stdout)
		if ctx.Err() != nil {
			return nil
		}
		return err
	})
}
