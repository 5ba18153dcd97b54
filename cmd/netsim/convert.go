package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"netsim/simulator/archive"
	"netsim/simulator/chakra"
	"netsim/simulator/collective"
	"netsim/simulator/document"
	"netsim/simulator/goal"
	"netsim/simulator/presets"
	"netsim/simulator/replay"
)

type convert struct {
	Workload string `arg:"" type:"existingfile" help:"A schedule in GOAL's text form, or the workload.simple.json of a simple submission's traceset."`
	Out      string `required:"" help:"A directory for the traces, one for each rank; files of the same names are replaced." placeholder:"DIR"`
	Binary   bool   `help:"Write the binary form of Chakra, which other simulators read too, as rank.N.et, instead of rank_N.chakra.json."`
}

// Run writes the traces and prints what they have.
func (c convert) Run() error {
	if err := os.MkdirAll(c.Out, 0o755); err != nil {
		return err
	}
	dir, err := os.OpenRoot(c.Out)
	if err != nil {
		return err
	}
	defer dir.Close() //nolint:errcheck // every file is closed
	create := func(rank int) (io.WriteCloser, error) {
		if c.Binary {
			return createBinary(dir, fmt.Sprintf("rank.%d.et", rank))
		}
		return dir.Create(fmt.Sprintf("rank_%d.chakra.json", rank))
	}
	convertFile := convertSchedule
	if filepath.Ext(c.Workload) == ".json" {
		convertFile = func(workload io.Reader, create createTrace) (string, error) {
			return convertWorkload(workload, create, dir)
		}
	}
	file, err := os.Open(c.Workload)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // it was only read
	said, err := convertFile(file, create)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Workload, err)
	}
	_, err = fmt.Println(said)
	return err
}

// createTrace creates the trace of a rank.
type createTrace = func(rank int) (io.WriteCloser, error)

func convertSchedule(schedule io.Reader, create createTrace) (said string, err error) {
	totals, err := goal.Convert(schedule, create)
	return fmt.Sprintf("%d ranks with %d computations, %d sends, %d receives and %d dependencies; set ComputeScale to 0.001, because a computation of 1 ns is one of 1 us in the traces",
		totals.Ranks, totals.Calcs, totals.Sends, totals.Receives, totals.Dependencies), err
}

// convertWorkload also writes the ranks of the groups into dir, if there are several.
func convertWorkload(workload io.Reader, create createTrace, dir *os.Root) (said string, err error) {
	text, err := io.ReadAll(workload)
	if err != nil {
		return "", err
	}
	groups, err := presets.ParseWorkload(text)
	if err != nil {
		return "", err
	}
	// The file may be edited: it is checked like a submission. Every rank count is fit for
	// some topology.
	if groups, err = collective.Resolve(nil, groups, true); err != nil {
		return "", err
	}
	collectives, err := replay.WriteTraces(groups, create)
	if err != nil {
		return "", err
	}
	members, needed, err := replay.GroupsFile(groups)
	if err == nil && needed {
		err = dir.WriteFile(archive.GroupsFile, members, 0o644)
	}
	return fmt.Sprintf("%d ranks with %d collectives; in the configuration, set %s", collective.Ranks(groups), collectives, algorithmsOf(groups)), err
}

// algorithmsOf says which parameters of a configuration give traces the algorithms of a
// workload.
func algorithmsOf(groups []collective.GroupSpec) string {
	var all []string
	for _, g := range groups {
		for _, p := range g.Phases {
			set := document.AlgorithmParameter(p.OperationType) + " to " + collective.AlgorithmNamed(p.Algorithm).Parameter
			if !slices.Contains(all, set) {
				all = append(all, set)
			}
		}
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// binaryTrace writes a trace that it gets as JSON in the binary form.
type binaryTrace struct {
	*io.PipeWriter

	done chan error
}

func createBinary(dir *os.Root, name string) (binaryTrace, error) {
	file, err := dir.Create(name)
	if err != nil {
		return binaryTrace{}, err
	}
	text, in := io.Pipe()
	t := binaryTrace{in, make(chan error, 1)}
	go func() {
		trace, err := chakra.NewReader(text, chakra.Limits{})
		if err == nil {
			_, err = chakra.WriteBinary(file, trace)
		}
		text.CloseWithError(err) //nolint:errcheck // it returns nil
		t.done <- errors.Join(err, file.Close())
	}()
	return t, nil
}

// Close waits until the file is written.
func (t binaryTrace) Close() error {
	return errors.Join(t.PipeWriter.Close(), <-t.done)
}
