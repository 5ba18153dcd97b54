package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"netsim/cmd/operate"
	"netsim/infra/projector"
)

type readModel struct {
	Status  readModelStatus `cmd:"" help:"Show the progress of each read model and what prevents its promotion."`
	Rebuild rebuild         `cmd:"" help:"Replay the log into a schema beside the live one, and follow the log until the schema is promoted."`
	Diff    diff            `cmd:"" help:"Compare a read model with the live one at the same log position."`
	Digest  digest          `cmd:"" help:"Print digests of a read model and its log position. Two read models with the same digests at the same position are equal."`
	Promote promote         `cmd:"" help:"Replace the live read model with a rebuilt one. The old one stays as readmodel_before, or, when it has another form, is served by its release as readmodel_FORM."`
	Drop    dropModel       `cmd:"" help:"Remove a read model that is not the live one."`
}

type rebuild struct {
	Schema string `arg:"" help:"The schema to create or to continue."`
	Once   bool   `help:"End when the schema has caught up with the log."`

	AcceptLostTail string `help:"Continue with a log that has lost records. The log records this reason." placeholder:"REASON"`
}

// Run rebuilds the read model until it is promoted or the process gets a signal.
func (r rebuild) Run(ctx context.Context) error {
	debug.SetGCPercent(200) // a rebuild makes much garbage beside few rows that stay
	return withTools(ctx, func(t *operate.Tools) error {
		began := time.Now()
		var last projector.Report
		promoted, err := t.Rebuild(ctx, r.Schema, !r.Once, r.AcceptLostTail, func(now projector.Report) {
			last = now
			fmt.Println(r.Schema+":", progress(now, time.Since(began)))
		})
		switch {
		case err != nil:
			return err
		case promoted:
			_, err = fmt.Printf("%s is promoted\n", r.Schema)
		case r.Once:
			took := time.Since(began)
			_, err = fmt.Printf("%s: applied %d facts in %s (%.0f a second)\n",
				r.Schema, last.Facts, took.Round(time.Millisecond), float64(last.Facts)/took.Seconds())
		default:
			_, err = fmt.Printf("%s is stopped; repeat the command to continue\n", r.Schema)
		}
		return err
	})
}

// progress describes the progress of a rebuild that has run for the duration ran.
func progress(r projector.Report, ran time.Duration) string {
	text := fmt.Sprintf("%d of %d records", r.Records, r.Records+r.LagRecords)
	if r.Parked > 0 {
		text += fmt.Sprintf(", %d facts PARKED ('netsim streams parked --read-model ...' lists them)", r.Parked)
	}
	switch rate := float64(r.Facts) / ran.Seconds(); {
	case r.Indexing:
		return text + ", making the indexes"
	case r.LagRecords == 0:
		return text
	case rate == 0:
		return text
	default:
		left := time.Duration(float64(r.LagRecords) / rate * float64(time.Second))
		return fmt.Sprintf("%s, %.0f facts a second, about %s left", text, rate, left.Round(time.Second))
	}
}

type diff struct {
	Schema string `arg:"" help:"The read model to compare with the live one."`

	WithPostgresFile string        `help:"Compare with the live read model of another database. The file has its address." type:"existingfile" placeholder:"FILE"`
	Timeout          time.Duration `help:"How long to wait until both are at the same position." default:"10m"`
}

// Validate implements kong.Validatable.
func (d diff) Validate() error {
	if d.Timeout <= 0 {
		return errors.New("--timeout must be longer than 0s")
	}
	return nil
}

// compare compares the read models.
func (d diff) compare(ctx context.Context, t *operate.Tools) (projector.Comparison, error) {
	if d.WithPostgresFile == "" {
		return t.Diff(ctx, d.Schema)
	}
	address, err := os.ReadFile(d.WithPostgresFile)
	if err != nil {
		return projector.Comparison{}, err
	}
	return t.DiffWith(ctx, d.Schema, strings.TrimSpace(string(address)))
}

// Run compares the read models, and returns an error when they differ.
func (d diff) Run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, d.Timeout)
	defer cancel()
	return withTools(ctx, func(t *operate.Tools) error {
		c, err := d.compare(ctx, t)
		if err != nil {
			return err
		}
		fmt.Printf("compared after %d records: %s\n", c.Position.Records(), c.Position)
		for _, one := range c.Differences {
			fmt.Printf("%s: %d rows only in the live read model, %d only in %s, such as %s\n",
				one.Table, one.OnlyA, one.OnlyB, d.Schema, one.Row)
		}
		if len(c.Differences) > 0 {
			return fmt.Errorf("%d tables differ", len(c.Differences))
		}
		_, err = fmt.Println("equal")
		return err
	})
}

type digest struct {
	Schema  string        `help:"The read model; the live one by default." default:"readmodel"`
	At      string        `help:"The position to digest at, as this command and diff print it. A read model beside the live one is projected up to it." placeholder:"POSITION"`
	Ranges  int           `help:"How many digests each table has: a power of two, at most 4096." default:"1"`
	Timeout time.Duration `help:"How long to wait for the position." default:"10m"`
}

// Validate implements kong.Validatable.
func (d digest) Validate() error {
	switch {
	case d.Timeout <= 0:
		return errors.New("--timeout must be longer than 0s")
	case d.Ranges < 1 || d.Ranges > projector.MaxDigestRanges || d.Ranges&(d.Ranges-1) != 0:
		return fmt.Errorf("--ranges must be a power of two from 1 to %d", projector.MaxDigestRanges)
	}
	_, err := projector.ParsePosition(d.At)
	return err
}

// Run prints a line for each range of each table.
func (d digest) Run(ctx context.Context) error {
	var at projector.Position
	if d.At != "" {
		var err error
		if at, err = projector.ParsePosition(d.At); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, d.Timeout)
	defer cancel()
	return withTools(ctx, func(t *operate.Tools) error {
		found, err := t.Digest(ctx, d.Schema, at, d.Ranges)
		if err != nil {
			return err
		}
		fmt.Printf("position: %s\n", found.Position)
		for _, r := range found.Ranges {
			fmt.Printf("%s %d %d %s\n", r.Table, r.Range, r.Rows, r.Sum)
		}
		return nil
	})
}

type promote struct {
	Schema  string        `arg:"" help:"The read model to promote."`
	Timeout time.Duration `help:"How long to wait for the read model and for long reads." default:"1h"`
}

// Validate implements kong.Validatable.
func (p promote) Validate() error {
	if p.Timeout <= 0 {
		return errors.New("--timeout must be longer than 0s")
	}
	return nil
}

// Run promotes the read model and prints each step.
func (p promote) Run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.Timeout)
	defer cancel()
	return withTools(ctx, func(t *operate.Tools) error {
		after, err := t.Promote(ctx, p.Schema, func(step projector.Step, detail string) { fmt.Println(step, detail) })
		if len(after) > 0 {
			fmt.Println("the log has lost records that the previous read model had seen:\n- " + strings.Join(after, "\n- "))
		}
		return err
	})
}

type dropModel struct {
	Schema string `arg:"" help:"The read model to remove."`
}

// Run drops the read model.
func (d dropModel) Run(ctx context.Context) error {
	return withTools(ctx, func(t *operate.Tools) error { return t.Drop(ctx, d.Schema) })
}
