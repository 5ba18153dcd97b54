package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"netsim/fault"
	"netsim/simulator/document"
)

// Repeat makes each combination as many points in a row, its replicates. They differ in the
// seeds of their runs. Every error is the client's.
func (p *Plan) Repeat(replicates int64) error {
	if replicates <= 1 {
		return nil
	}
	if replicates > MaxReplicates || int64(p.points)*replicates > MaxPoints {
		return fmt.Errorf("replicates must be at most %d, and the points with their replicates at most %d; got %d points of %d", MaxReplicates, MaxPoints, p.points, replicates)
	}
	for i, a := range p.Axes {
		if Kind(a.Field) == Seed {
			return fmt.Errorf("replicates must be 1, because axes[%d] has the seeds; got %d", i, replicates)
		}
	}
	p.replicates = int(replicates)
	return nil
}

// Replicates returns how many points in a row differ in their seeds only.
func (p *Plan) Replicates() int { return p.replicates }

// Points returns the number of points, with the replicates.
func (p *Plan) Points() int { return p.points * p.replicates }

// Each calls do for each point, in order. It returns OutOfTime if ctx ends before that.
func (p *Plan) Each(ctx context.Context, do func(point int) error) error {
	for point := range p.Points() {
		if ctx.Err() != nil {
			return OutOfTime{point, ctx.Err()}
		}
		if err := do(point); err != nil {
			return err
		}
	}
	return nil
}

// OutOfTime is the error of a walk over points that ended before the last one.
type OutOfTime struct {
	Done  int   // points
	Cause error // of the context
}

func (e OutOfTime) Error() string { return fmt.Sprintf("after %d points: %s", e.Done, e.Cause) }

// Unwrap returns the error of the context.
func (e OutOfTime) Unwrap() error { return e.Cause }

// The kinds of axes: what their values change. Points compete in time and price only if they
// have the same workload, and points that differ in their seeds only are replicates.
const (
	Workload = "workload"
	Design   = "design"
	Seed     = "seed"
)

// Kind returns the kind of the axis of a field (completions.md section 11).
func Kind(field string) string {
	f, err := parse(field)
	if err != nil {
		return Design
	}
	switch f[0].Member {
	case "workload", "groups", Traceset, document.Applications:
		return Workload
	}
	if seed, _ := parse(seedField); f.within(seed) {
		return Seed
	}
	return Design
}

// seedField is the seed in the document of a configuration.
const seedField = "globalParameters.SimulationParameters.RandomSeed"

// Key returns what two points have in common if and only if they have the same values of all
// axes of some kinds.
func (p *Plan) Key(point int, kinds ...string) string {
	var key []byte
	for i, k := range p.At(point) {
		if slices.Contains(kinds, Kind(p.Axes[i].Field)) {
			key = append(strconv.AppendInt(key, int64(k), 10), ' ')
		}
	}
	return string(key)
}

// Apart returns the fault of an axis whose field is that of another one, or a part of it, in
// a base. The base is a JSON text. Only the start of a study calls it: studies that were
// started before it did keep their points.
func (p *Plan) Apart(base string) error {
	var tree map[string]any
	if err := json.Unmarshal([]byte(base), &tree); err != nil {
		return fmt.Errorf("read the base: %w", err)
	}
	fields := make([]Field, len(p.Axes))
	for i, a := range p.Axes {
		fields[i] = FieldOf(a).in(tree)
	}
	for i, f := range fields {
		for j, other := range fields {
			if i != j && f.within(other) && (i > j || !other.within(f)) {
				return fault.New(fault.Validation, "axes[%d].field must not be a part of that of axes[%d], %s; got %s", i, j, p.Axes[j].Field, p.Axes[i].Field)
			}
		}
	}
	return nil
}
