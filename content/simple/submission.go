// Package simple has the simple submission, from its request to the records that follow
// from it: its defaults, its stored text, the one file of its traceset, and the request of
// its run. It is pure. Package unfold stores the traceset and makes the configuration.
package simple

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"netsim/api"
	"netsim/commands"
	"netsim/content/library"
	"netsim/events"
	"netsim/simulator/collective"
	"netsim/simulator/document"
	"netsim/simulator/presets"
)

// RunTime limits the simulated time of a simple submission (completions.md section 4.3).
const RunTime = time.Hour

// runTimeText is RunTime as a client would send it.
const runTimeText = "1h"

// Submission is a normalised submission, with what is stored of it.
type Submission struct {
	presets.Simple

	Text     string // canonical
	Workload Workload
}

// Parse resolves a request. It refuses an invalid one with fault.Validation.
func Parse(body *api.SimpleSubmission) (*Submission, error) {
	resolved, _, err := Resolve(body)
	if err != nil {
		return nil, err
	}
	return New(resolved)
}

// New returns a normalised submission with its text and its workload's file.
func New(resolved presets.Simple) (*Submission, error) {
	text, err := document.Canonical(resolved)
	if err != nil {
		return nil, err
	}
	w, err := NewWorkload(resolved.Groups)
	if err != nil {
		return nil, err
	}
	return &Submission{resolved, text, w}, nil
}

// Read returns the submission whose text a request of a simulation has.
func Read(text string) (*Submission, error) {
	resolved, err := presets.ParseSimple(text)
	if err != nil {
		return nil, err
	}
	w, err := NewWorkload(resolved.Groups)
	if err != nil {
		return nil, err
	}
	return &Submission{resolved, text, w}, nil
}

// Fill fills in the fields of a request that follow from the submission, the id of the
// simulation and the account.
func (s *Submission) Fill(r *events.SimulationRequested, simulation string) {
	r.Origin, r.Simple, r.TracesetID = commands.OriginSimple, s.Text, s.Workload.TracesetID(r.AccountID)
	r.ConfigurationID, r.ConfigurationVersion = events.DerivedID(events.ConfigurationPrefix, simulation), 1
	r.DurationNs, r.Duration = RunTime.Nanoseconds(), runTimeText
}

// Name returns the default name of the submission's simulation.
func (s *Submission) Name(simulation string) string {
	return nameOf(s.Groups, simulation[len(simulation)-8:])
}

// nameOf returns a name that says the first operation and the number of ranks.
func nameOf(groups []collective.GroupSpec, suffix string) string {
	return fmt.Sprintf("simple-%s-%d-%s", strings.ToLower(groups[0].Phases[0].OperationType), collective.Ranks(groups), suffix)
}

// Workload is the one file of a synthesized traceset. Identical workloads have the same
// file, and in an account the same traceset (completions 2.7, 4.3).
type Workload struct {
	Name        string // the default name of the traceset
	Content     string
	File        events.TracesetFile
	LibraryHash string
	Ranks       int64
}

// NewWorkload returns the file of a workload.
func NewWorkload(groups []collective.GroupSpec) (Workload, error) {
	content, err := presets.WorkloadContent(groups)
	if err != nil {
		return Workload{}, err
	}
	sum := sha256.Sum256([]byte(content))
	w := Workload{Content: content, Ranks: int64(collective.Ranks(groups)), File: events.TracesetFile{
		Name: presets.WorkloadFile, ContentType: "application/json",
		Hash: "sha256:" + hex.EncodeToString(sum[:]), Size: int64(len(content)), Role: "primary",
	}}
	w.LibraryHash = library.Hash([]events.TracesetFile{w.File})
	w.File.ObjectKey = library.Key(w.LibraryHash, w.File.Hash)
	w.Name = nameOf(groups, w.LibraryHash[:12])
	return w, nil
}

// TracesetID returns the id of an account's traceset of the workload.
func (w *Workload) TracesetID(account string) string {
	return events.DerivedID(events.TracesetPrefix, account, w.LibraryHash)
}
