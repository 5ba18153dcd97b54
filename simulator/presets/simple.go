package presets

import (
	"encoding/json"
	"fmt"
	"strings"

	"netsim/simulator/collective"
	"netsim/simulator/document"
	"netsim/simulator/topology"
)

// Simple is a normalised simple submission: the constraints with their
// defaults filled in, and the groups as collective.Resolve returns them.
type Simple struct {
	Constraints topology.Constraints   `json:"topologyConstraints"`
	Groups      []collective.GroupSpec `json:"groups"`
	// Seed is that of a replicate in a study, 0 for the default. Clients do not send it.
	Seed int64 `json:"seed,omitempty"`
}

// DefaultSeed is the seed of documents that name none.
const DefaultSeed = 1

// NewSimple normalises a request and derives its fabric. Every error is the client's; its
// text is the 400 message of completions.md 4.1.
func NewSimple(c *topology.Constraints, workload *collective.Workload, groups []collective.GroupSpec) (Simple, topology.Derivation, error) {
	if c != nil && c.SwitchRadix != "" {
		if ranks := requestedRanks(workload, groups); ranks > topology.MaxRanks {
			_, err := topology.Derive(*c, ranks)
			return Simple{}, topology.Derivation{}, err
		}
	}
	resolved, err := collective.Resolve(workload, groups, c != nil)
	if err != nil {
		return Simple{}, topology.Derivation{}, err
	}
	if c == nil {
		c = &topology.Constraints{}
	}
	derived, err := topology.Derive(*c, collective.Ranks(resolved))
	if err != nil {
		return Simple{}, topology.Derivation{}, err
	}
	return Simple{
		Constraints: topology.Constraints{
			SwitchRadix:       derived.Resolved.SwitchRadix,
			SubscriptionRatio: derived.Resolved.SubscriptionRatio,
		},
		Groups: resolved,
	}, derived, nil
}

// requestedRanks returns the number of ranks of an unchecked request. If there are too
// many, the error can name what the radix supports instead of the bound of a field.
func requestedRanks(workload *collective.Workload, groups []collective.GroupSpec) int {
	if workload != nil {
		return workload.Ranks
	}
	return collective.Ranks(groups)
}

// ParseSimple reads the text of a normalised submission.
func ParseSimple(text string) (Simple, error) {
	var s Simple
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return s, fmt.Errorf("read the simple submission: %w", err)
	}
	return s, nil
}

// WorkloadFile is the name of the one file of a synthesized traceset.
const WorkloadFile = "workload.simple.json"

// WorkloadContent is the content of WorkloadFile: the canonical JSON of the
// groups.
func WorkloadContent(groups []collective.GroupSpec) (string, error) {
	return document.Canonical(groups)
}

// Format is the format of the tracesets of simple submissions.
const Format = "simple_v1"

// ParseWorkload reads the content of WorkloadFile.
func ParseWorkload(content []byte) ([]collective.GroupSpec, error) {
	var groups []collective.GroupSpec
	if err := json.Unmarshal(content, &groups); err != nil {
		return nil, fmt.Errorf("read the workload: %w", err)
	}
	return groups, nil
}

// Document returns the configuration of the submission.
func (s Simple) Document() (*document.Document, error) { return s.Outline().Document() }

// Outline is what the document of a submission is made from, so equal outlines have equal
// documents. Sizes of operations are not in it: they are in the traceset.
type Outline struct {
	constraints topology.Constraints
	ranks       int
	algorithms  string // the parameters of the operations, in the order of collective.Matrix
	seed        int64
}

// Outline returns the outline of the submission's document. The parameter of an operation
// has the algorithm that all phases use, or the default if they differ. The algorithms in
// the traceset take precedence (completions.md 4.3).
func (s Simple) Outline() Outline {
	var algorithms []string
	for _, c := range collective.Matrix() {
		algorithms = append(algorithms, agreed(s.Groups, c.OperationType, c.DefaultAlgorithm))
	}
	return Outline{s.Constraints, collective.Ranks(s.Groups), strings.Join(algorithms, " "), s.Seed}
}

// Document returns the document.
func (o Outline) Document() (*document.Document, error) {
	derivation, err := topology.Derive(o.constraints, o.ranks)
	if err != nil {
		return nil, err
	}
	b := derived{Derivation: derivation}
	b.build()
	b.replay(o)
	if o.seed != 0 {
		b.globals(values{"SimulationParameters.RandomSeed": float64(o.seed)})
	}
	return b.complete()
}

// workload declares the application that replays the groups.
func (d *draft) workload(groups []collective.GroupSpec) { d.replay(Simple{Groups: groups}.Outline()) }

func (d *draft) replay(o Outline) {
	const in = document.InChakra
	v := values{in + "NumOfChakraFiles": float64(o.ranks)}
	algorithms := strings.Split(o.algorithms, " ")
	for i, c := range collective.Matrix() {
		v[in+document.AlgorithmParameter(c.OperationType)] = algorithms[i]
	}
	p, version := d.parameters(applicationModel, v)
	d.doc.Applications = []document.Application{{
		Type: document.TypeApplication, TrafficType: document.TrafficChakra, Name: "workload",
		Model: applicationModel, Version: version, TypedParameters: p,
	}}
}

// agreed returns the parameter value of the algorithm that all phases of an operation use,
// or the fallback if they differ or there are none.
func agreed(groups []collective.GroupSpec, operation, fallback string) string {
	found := ""
	for _, g := range groups {
		for _, phase := range g.Phases {
			switch {
			case phase.OperationType != operation || phase.Algorithm == found:
			case found == "":
				found = phase.Algorithm
			default:
				return fallback
			}
		}
	}
	if found == "" {
		return fallback
	}
	return collective.AlgorithmNamed(found).Parameter
}
