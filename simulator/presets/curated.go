package presets

import (
	"fmt"

	"netsim/simulator/collective"
	"netsim/simulator/document"
)

// The categories of templates, completions.md 2.5.
const (
	GettingStarted  = "getting-started"
	Benchmark       = "benchmark"
	ReferenceDesign = "reference-design"
	WhatIf          = "what-if"
)

// Template is a curated template: a network, and the workload that its
// application replays. One rank runs on every server.
//
// A stored template never changes: its name and its revision identify it. A changed
// template gets a new revision, and the next start of the service adds it beside the
// older one. The older one stays, so that its clones still have their parent.
type Template struct {
	Name        string
	Description string
	Category    string
	Revision    int
	Workload    Workload
	Document    *document.Document
}

// Workload is the content of a template's traceset.
type Workload struct {
	Name        string
	Description string
	Groups      []collective.GroupSpec // resolved
}

// Curated returns the templates, the simplest first. Several templates may have the same
// workload.
func Curated() ([]Template, error) {
	var c curator
	c.add(GettingStarted, 1, "Single rack, 8 servers",
		"Eight servers on one 400G switch: nothing can be congested. The time of the all-reduce is what the NICs allow.",
		c.workload("All-reduce, 8 ranks, 64 MiB", allReduce(8, 64*mib)), singleRack(8))
	c.add(GettingStarted, 1, "Leaf-spine, 64 servers, non-blocking",
		"Four racks of 16 servers, as much bandwidth up as down. Its all-to-all is the yardstick for the oversubscribed variants.",
		c.workload("All-to-all, 64 ranks, 256 MiB", allToAll(64, 256*mib)), small().draft())
	c.add(WhatIf, 1, "Leaf-spine, 64 servers, 2:1 oversubscribed",
		"The non-blocking network with half of the up-links: what does an all-to-all lose?",
		c.workload("All-to-all, 64 ranks, 256 MiB", allToAll(64, 256*mib)), small().oversubscribed(2).draft())
	c.add(WhatIf, 1, "Leaf-spine, 64 servers, 4:1 oversubscribed",
		"The non-blocking network with a quarter of the up-links: the price of saving on the spine.",
		c.workload("All-to-all, 64 ranks, 256 MiB", allToAll(64, 256*mib)), small().oversubscribed(4).draft())
	c.add(WhatIf, 1, "Leaf-spine, 64 servers, 400G and 800G racks",
		"Two racks of the last generation and two of the next under one 800G spine: who waits for whom?",
		c.workload("All-reduce and all-to-all, 64 ranks, 128 MiB", allReduce(64, 128*mib), allToAll(64, 128*mib)), mixedSpeeds())
	c.add(Benchmark, 1, "All-reduce from 1 MiB to 256 MiB, 64 servers",
		"Ring all-reduces of growing size, one after the other. Bus bandwidth over size is in the collective percentiles.",
		c.workload("All-reduce sweep, 64 ranks, 1 MiB to 256 MiB",
			allReduce(64, 1*mib), allReduce(64, 4*mib), allReduce(64, 16*mib), allReduce(64, 64*mib), allReduce(64, 256*mib)),
		small().draft())
	c.add(Benchmark, 1, "Every collective once, 64 servers",
		"Each operation with each of its algorithms, 4 MiB, one after the other on one network.",
		c.workload("Every collective, 64 ranks, 4 MiB", every(64, 4*mib)...), small().draft())
	c.add(ReferenceDesign, 1, "Leaf-spine, 256 servers",
		"Eight racks of 32 servers on 64-port switches under eight spines, non-blocking, with an all-reduce over all servers.",
		c.workload("All-reduce by halving and doubling, 256 ranks, 64 MiB", halvingDoubling(256, 64*mib)), medium().draft())
	c.add(WhatIf, 1, "Leaf-spine, 256 servers, packet spraying",
		"The reference design with packets sprayed over all paths instead of hashed per flow: how much of its time is collisions?",
		c.workload("All-reduce by halving and doubling, 256 ranks, 64 MiB", halvingDoubling(256, 64*mib)), medium().spraying().draft())
	c.add(ReferenceDesign, 1, "Leaf-spine, 1024 servers",
		"Sixteen racks of 64 servers on 128-port switches under eight spines, non-blocking, with an all-reduce over all servers.",
		c.workload("All-reduce by halving and doubling, 1024 ranks, 64 MiB", halvingDoubling(1024, 64*mib)), large().draft())
	c.add(ReferenceDesign, 1, "Three-tier pods, 512 servers",
		"Four pods of eight racks with 16 servers each, non-blocking in every tier, with an all-reduce that crosses all three.",
		c.workload("All-reduce by halving and doubling, 512 ranks, 64 MiB", halvingDoubling(512, 64*mib)), pods())
	return c.made, c.err
}

// curator collects templates and keeps the first error.
type curator struct {
	made []Template
	err  error
}

func (c *curator) add(category string, revision int, name, description string, w Workload, d *draft) {
	d.workload(w.Groups)
	doc, err := d.complete()
	if err != nil && c.err == nil {
		c.err = fmt.Errorf("template %q: %w", name, err)
	}
	c.made = append(c.made, Template{
		Name: name, Description: description, Category: category, Revision: revision, Workload: w, Document: doc,
	})
}

// workload returns a workload of phases, one after the other on all ranks.
func (c *curator) workload(name string, phases ...phase) Workload {
	w := &collective.Workload{Ranks: phases[0].ranks}
	for _, p := range phases {
		w.Phases = append(w.Phases, p.Phase)
	}
	groups, err := collective.Resolve(w, nil, true)
	if err != nil && c.err == nil {
		c.err = fmt.Errorf("workload %q: %w", name, err)
	}
	return Workload{Name: name, Description: "Synthesized for the curated templates; readable by every account.", Groups: groups}
}

const mib = 1 << 20

// phase is a collective operation and its number of ranks.
type phase struct {
	ranks int
	collective.Phase
}

func allReduce(ranks int, bytes int64) phase {
	return phase{ranks, collective.Phase{OperationType: collective.AllReduce, DataSize: bytes}}
}

func halvingDoubling(ranks int, bytes int64) phase {
	return phase{ranks, collective.Phase{
		OperationType: collective.AllReduce, Algorithm: collective.RecursiveHalvingDoubling, DataSize: bytes,
	}}
}

func allToAll(ranks int, bytes int64) phase {
	return phase{ranks, collective.Phase{OperationType: collective.AllToAll, DataSize: bytes}}
}

// every returns each operation with each of its algorithms. For an operation
// whose data size is per rank, it divides bytes by the ranks.
func every(ranks int, bytes int64) []phase {
	var all []phase
	for _, c := range collective.Matrix() {
		for _, algorithm := range c.AllowedAlgorithms {
			p := collective.Phase{OperationType: c.OperationType, Algorithm: algorithm, DataSize: bytes}
			if collective.PerRank(c.OperationType) {
				p.DataSize = bytes / int64(ranks)
			}
			all = append(all, phase{ranks, p})
		}
	}
	return all
}
