//go:build simulation && !faketime

package dst

import "slices"

// mutant is a bug that is put into the code to see that the simulation finds it. The
// program of the simulation has the edits of all mutants; the variable NETSIM_DST_BUG
// switches one on.
type mutant struct {
	name  string
	edits []edit
}

// bugged is the condition that the mutant is switched on.
func bugged(name string) string { return `sim.Getenv("NETSIM_DST_BUG") == "` + name + `"` }

// imported makes the package os known to a file.
func imported(file string) edit {
	return edit{file, "import (\n", "import (\n	sim \"os\"\n"}
}

func mutants() []mutant {
	return []mutant{
		{"rule-ignores-the-hash", []edit{
			{"events/rule.go", `import "crypto/sha256"`, "import sim \"os\"\nimport \"crypto/sha256\""},
			{"events/rule.go", "f.Sequence == head.Sequence+1 && f.PreviousHash == head.Hash", "f.Sequence == head.Sequence+1 && (f.PreviousHash == head.Hash || " + bugged("rule-ignores-the-hash") + ")"},
		}},
		{"lane-keeps-the-tip-after-a-rejection", []edit{
			imported("commands/handle/verdict.go"),
			{"commands/handle/verdict.go", "	if !fact {\n		r.lane.drop(t)", "	if !fact && !(" + bugged("lane-keeps-the-tip-after-a-rejection") + ") {\n		r.lane.drop(t)"},
		}},
		{"command-runs-again-on-a-retry", []edit{
			imported("commands/handle/handle.go"),
			{"commands/handle/handle.go", "	if ran, err := r.from.ran(at.prior); ran || err != nil {", "	if " + bugged("command-runs-again-on-a-retry") + " {\n		at.prior = nil\n	}\n	if ran, err := r.from.ran(at.prior); ran || err != nil {"},
		}},
		{"projector-answers-before-the-commit", []edit{
			imported("infra/projector/apply.go"),
			{"infra/projector/apply.go", "	if err := b.writes.Send(ctx, p.Pool); err != nil {", "	if " + bugged("projector-answers-before-the-commit") + " {\n		p.Watcher.committed(b.verdicts, false)\n	}\n	if err := b.writes.Send(ctx, p.Pool); err != nil {"},
		}},
		{"reactor-done-after-a-failure", []edit{
			imported("infra/reactor/facts.go"),
			{"infra/reactor/facts.go", "		err = h.react(m.Context(), f.Fact)", "		if err = h.react(m.Context(), f.Fact); " + bugged("reactor-done-after-a-failure") + " {\n			err = nil\n		}"},
		}},
		{"projector-does-not-compare-the-epoch", []edit{
			imported("infra/projector/offsets.go"),
			{
				"infra/projector/offsets.go", "	args = append(args, p.Leases.Subscriber)\n",
				"	args = append(args, p.Leases.Subscriber)\n	if " + bugged("projector-does-not-compare-the-epoch") + " {\n		return fmt.Sprintf(\"AND $%d <> ''\", len(args)), args\n	}\n",
			},
		}},
		{"lease-gained-without-work", []edit{
			imported("infra/facts/leases.go"),
			{
				"infra/facts/leases.go", "	if changed || len(gained) > 0 {\n		s.stop()",
				"	if changed || len(gained) > 0 {\n		if changed || !(" + bugged("lease-gained-without-work") + ") {\n			s.stop()\n		}",
			},
		}},
	}
}

// switches are the edits of the repository: all mutants, and slower polls with
// NETSIM_DST_SPARSE.
func switches() []edit {
	all := []edit{
		imported("infra/projector/watcher.go"),
		{"infra/projector/watcher.go", "const pollEvery = 500 * time.Millisecond", `var pollEvery = func() time.Duration {
	if sim.Getenv("NETSIM_DST_SPARSE") != "" {
		return 30 * time.Second
	}
	return 500 * time.Millisecond
}()`},
		{"infra/projector/identity.go", "const (\n	watchEvery = 500 * time.Millisecond\n	logEvery   = 10\n)", "const logEvery = 10\n\nvar watchEvery time.Duration = pollEvery"},
		{"infra/projector/fetch.go", "	readWait  = 5 * time.Second\n)", ")\n\nvar readWait time.Duration = 10 * pollEvery"},
		imported("infra/eventlog/kafka.go"),
		{"infra/eventlog/kafka.go", "	transport.MetadataTTL = time.Second", "	transport.MetadataTTL = time.Second\n	if sim.Getenv(\"NETSIM_DST_SPARSE\") != \"\" {\n		transport.MetadataTTL = 2 * time.Minute\n	}"},
	}
	for _, m := range mutants() {
		all = slices.Concat(all, m.edits)
	}
	return all
}
