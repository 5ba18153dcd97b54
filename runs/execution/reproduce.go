package execution

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"netsim/simulator/engine"
)

// Name is the name of this program as a remote engine.
const Name = "netsim"

// ReadReceipt reads a receipt.
func ReadReceipt(text []byte) (Receipt, error) {
	var r Receipt
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("the receipt cannot be read: %w", err)
	}
	if r.Document == "" || len(r.Results) == 0 {
		return r, errors.New("the receipt has no document or no files: it is not one of netsim's, or of an engine before 1.1.0")
	}
	return r, nil
}

// Reproduce runs the order of a receipt again on the files of the directory dir. It
// returns the number of result files that are equal to those of the receipt, and
// writes the results to the directory out unless out is "". The error says which
// inputs are missing or different, why the order cannot run, or which results
// differ. A receipt of another engine or version is refused, unless anyEngine is set.
func Reproduce(ctx context.Context, want Receipt, dir, out string, anyEngine bool) (equal int, err error) {
	if same := slices.Contains([]string{Builtin, Name}, want.Engine) && want.EngineVersion == engine.Version; !same && !anyEngine {
		return 0, fmt.Errorf("the receipt is of engine %s %s and this is %s %s, whose results may differ; --any-engine runs it anyway",
			want.Engine, want.EngineVersion, Name, engine.Version)
	}
	temp, err := os.MkdirTemp("", "netsim-traces-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(temp) //nolint:errcheck // a leftover directory is harmless
	files, results := new(Folder), new(Outcome)
	if files.Dir, err = os.OpenRoot(dir); err != nil {
		return 0, err
	}
	defer files.Dir.Close() //nolint:errcheck // it was only read
	if files.Unpack, err = os.OpenRoot(temp); err != nil {
		return 0, err
	}
	defer files.Unpack.Close() //nolint:errcheck // it is removed
	if out != "" {
		if err := os.MkdirAll(out, 0o755); err != nil {
			return 0, err
		}
		if results.Dir, err = os.OpenRoot(out); err != nil {
			return 0, err
		}
		defer results.Dir.Close() //nolint:errcheck // every file is closed
		defer results.Abandon()
	}
	wrong, err := files.Check(ctx, &want.Order)
	if err != nil {
		return 0, err
	}
	if len(wrong) > 0 {
		return 0, fmt.Errorf("%d of %d input files are not those of the receipt:\n  %s",
			len(wrong), len(want.Inputs()), strings.Join(wrong, "\n  "))
	}
	end, err := repeat(ctx, &want, files, results)
	if err != nil {
		return 0, err
	}
	return compare(&want, results.Files, end)
}

// repeat runs the order of a receipt up to the end of its run.
func repeat(ctx context.Context, want *Receipt, files Files, results *Outcome) (ended End, err error) {
	in, err := Prepare(ctx, &want.Order, files)
	if err == nil {
		err = in.Read(ctx)
	}
	if err != nil {
		return ended, fmt.Errorf("the order cannot be run: %w", err)
	}
	end := want.End
	c := Config{Create: results.Create, UpTo: end.UpToPs}
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	switch {
	case end.Events != nil && *end.Events+end.Reports > 0:
		c.StopAfter, c.StopReports = *end.Events, end.Reports
	case end.Events != nil:
		cancel() // the run was stopped before its first event
	case end.State == Stopped && end.UpToPs == 0:
		return ended, errors.New("the receipt is of a run that was stopped and does not say where, so that it cannot be repeated")
	}
	run, err := Start(in, c)
	if err != nil {
		return ended, err
	}
	_, err = run.Run(running)
	reason := ""
	switch {
	case ctx.Err() != nil:
		return ended, ctx.Err()
	case err != nil:
		reason = run.Failure(err.Error())
	case end.State == Failed:
		reason = end.Reason // the caller failed the run, for example because of a stall
	}
	return run.Close(reason)
}

// compare compares the results with those of the receipt.
func compare(want *Receipt, got []Result, end End) (equal int, err error) {
	var wrong []string
	seen := map[string]Result{}
	for _, f := range got {
		seen[f.Name] = f
	}
	for _, f := range want.Results {
		is, made := seen[f.Name]
		delete(seen, f.Name)
		switch {
		case !made:
			wrong = append(wrong, f.Name+" is not among the results")
		case is.Hash != f.Hash:
			wrong = append(wrong, fmt.Sprintf("%s has %d bytes and the hash %s, the receipt says %d and %s", f.Name, is.Size, is.Hash, f.Size, f.Hash))
		default:
			equal++
		}
	}
	for name := range seen {
		wrong = append(wrong, name+" is not in the receipt")
	}
	slices.Sort(wrong)
	if len(wrong) > 0 {
		return equal, fmt.Errorf("not reproduced: %d files are equal and %d differ; the run ended as %s, the receipt's as %s:\n  %s",
			equal, len(wrong), end.State, want.End.State, strings.Join(wrong, "\n  "))
	}
	return equal, nil
}
