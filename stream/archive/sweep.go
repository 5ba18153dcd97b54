package archive

import (
	"context"
	"fmt"
	"slices"
	"strconv"
)

// Swept says which files of an archive no note names.
type Swept struct {
	Garbage []string // of segments whose note names another file, or none
	Open    []string // of segments without a note: an archiver may be writing it
}

// Sweep looks for files that no note of the archive names: those of archivers that were
// killed, or that lost a segment to another one. With remove it removes the garbage, while
// archivers may run: the note of a segment is written once, so a file that it does not
// name will never be of the archive. It removes nothing of an archive with damage, and
// nothing that is not named like a segment's file.
func Sweep(ctx context.Context, target Target, keys []string, remove bool) (s Swept, err error) {
	if err := target.Begin(ctx); err != nil {
		return s, err
	}
	defer target.Close() //nolint:errcheck // nothing is written any more
	// The files are listed first: each note that commits one of them is then read.
	names, err := target.Names(ctx)
	if err != nil {
		return s, err
	}
	a, damage, err := Open(ctx, target, keys)
	if err != nil {
		return s, err
	}
	if len(damage) > 0 {
		return s, fmt.Errorf("%w: %s", ErrDamaged, damage[0])
	}
	named := map[string]bool{}
	for _, sections := range a.sections {
		for _, p := range sections {
			named[p.file] = true
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if !isFile.MatchString(name) || named[name] {
			continue
		}
		number, err := strconv.ParseInt(name[:numberDigits], 10, 64)
		if err != nil {
			return s, fmt.Errorf("the number of %s: %w", name, err)
		}
		if number > a.last.Number {
			s.Open = append(s.Open, name)
			continue
		}
		if remove {
			if err := target.Remove(ctx, name); err != nil {
				return s, err
			}
		}
		s.Garbage = append(s.Garbage, name)
	}
	return s, nil
}

// numberDigits is the length of a number in the name of a file.
const numberDigits = 12
