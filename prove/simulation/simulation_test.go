//go:build simulation && !faketime

package dst

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	seedFlag   = flag.Uint64("seed", 0, "replay this seed instead of those in testdata/seeds.txt")
	roundsFlag = flag.Int("rounds", 2, "rounds of a simulation")
	hoursFlag  = flag.Float64("hours", 0, "simulate seeds from -from on until this many virtual hours have passed")
	fromFlag   = flag.Uint64("from", 1000, "first seed of -hours")
	bugsFlag   = flag.String("bugs", "", "seeded bugs to find, separated by commas, instead of all")
	sparseFlag = flag.Bool("sparse", false, "slow polls, leases, faults and clients: cheap hours")
)

// The lengths of a round, in minutes of virtual time.
const (
	busyMinutes  = 3
	quietMinutes = 27

	sparseBusyMinutes  = 10
	sparseQuietMinutes = 50
)

// plan is what a simulation does (world_test.go has its other side).
type plan struct {
	Seed   uint64  `json:"seed"`
	Rounds int     `json:"rounds"`
	Busy   float64 `json:"busy"`
	Quiet  float64 `json:"quiet"`
	Bug    string  `json:"-"` // which is switched on
	Trace  string  `json:"trace,omitempty"`
	Report string  `json:"report"`
	Sparse bool    `json:"sparse"`
}

// report is the result of a simulation.
type report struct {
	Operations  int            `json:"operations"`
	Unknown     int            `json:"unknown"`
	Reactions   int            `json:"reactions"`
	Records     int            `json:"records"`
	Rejected    int            `json:"rejected"`
	Faults      map[string]int `json:"faults"`
	LostCommits int            `json:"lostCommits"`
	Leases      int            `json:"leases"`
	Refused     int            `json:"refusedCommits"`
	Hours       float64        `json:"hours"`
	Hash        string         `json:"hash"`
	Messages    int            `json:"messages"`
	CPU         float64        `json:"cpu"`
	Failure     string         `json:"failure"`
}

func (r report) faults() (n int) {
	for _, count := range r.Faults {
		n += count
	}
	return n
}

// programs builds the program once for all tests of this run.
var programs struct {
	sync.Mutex
	plain string
}

// plainProgram returns the program.
func plainProgram(t *testing.T) string {
	t.Helper()
	programs.Lock()
	defer programs.Unlock()
	if programs.plain == "" {
		programs.plain = build(t, keptDir)
	}
	return programs.plain
}

// keptDir has what the tests of this run share.
var keptDir string

func TestMain(m *testing.M) {
	flag.Parse()
	var err error
	if keptDir, err = os.MkdirTemp("", "netsim-dst"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(keptDir) //nolint:errcheck // a directory of temporary files
	os.Exit(code)
}

// simulateOne runs one simulation in a process of its own, and returns its last events.
// What the program is given is the same for the same plan, so that its memory is too.
func simulateOne(t *testing.T, program string, p plan) (r report, events string, err error) {
	dir := t.TempDir()
	p.Report, p.Trace = "report", "trace"
	text, err := json.Marshal(p)
	if err != nil {
		return r, "", err
	}
	// No timeout of its own: its clock is simulated.
	c := exec.CommandContext(t.Context(), program, "-test.run", "^TestWorld$", "-test.timeout", "0")
	c.Args[0], c.Dir = "dst", dir
	c.Env = []string{"GOMAXPROCS=1", "GODEBUG=asyncpreemptoff=1", "GOGC=off", "TZ=UTC", "NETSIM_DST_BUG=" + p.Bug, "NETSIM_DST_PLAN=" + string(text)}
	if p.Sparse {
		c.Env = append(c.Env, "NETSIM_DST_SPARSE=yes")
	}
	out, err := c.CombinedOutput()
	if err != nil {
		return r, "", fmt.Errorf("the simulation of seed %d broke: %w\n%s", p.Seed, err, out)
	}
	if text, err = os.ReadFile(filepath.Join(dir, p.Report)); err != nil {
		return r, "", fmt.Errorf("the simulation of seed %d ended early: %w\n%s", p.Seed, err, out)
	}
	trace, err := os.ReadFile(filepath.Join(dir, p.Trace))
	if err != nil {
		return r, "", err
	}
	err = json.Unmarshal(text, &r)
	if stacks, e := os.ReadFile(filepath.Join(dir, "stacks")); e == nil {
		kept := filepath.Join(os.TempDir(), fmt.Sprintf("netsim-dst-%d.stacks", p.Seed))
		if e := os.WriteFile(kept, stacks, 0o600); e != nil {
			t.Log(e)
		}
	}
	return r, string(trace), err
}

// mustSimulate is simulateOne for the goroutine of the test.
func mustSimulate(t *testing.T, program string, p plan) (report, string) {
	t.Helper()
	r, events, err := simulateOne(t, program, p)
	if err != nil {
		t.Fatal(err)
	}
	return r, events
}

// simulate runs one simulation, which must not fail.
func simulate(t *testing.T, program string, seed uint64) report {
	t.Helper()
	p := plan{Seed: seed, Rounds: *roundsFlag, Busy: busyMinutes, Quiet: quietMinutes, Sparse: *sparseFlag}
	if p.Sparse {
		p.Busy, p.Quiet = sparseBusyMinutes, sparseQuietMinutes
	}
	r, events, err := simulateOne(t, program, p)
	if err != nil {
		t.Error(err)
	}
	if r.Failure == "" {
		return r
	}
	kept := filepath.Join(os.TempDir(), fmt.Sprintf("netsim-dst-%d.trace", seed))
	if err := os.WriteFile(kept, []byte(events), 0o600); err != nil {
		t.Log(err)
	}
	again, same, err := simulateOne(t, program, p)
	if err != nil {
		t.Error(err)
	}
	t.Errorf("seed %d, after %.2f virtual hours: %s\nits events: %s; run again, it had the same ones: %v\nreplay: go test -count=1 -tags simulation ./prove/simulation -run 'TestSimulation$' -seed %d -rounds %d -sparse=%v",
		seed, r.Hours, r.Failure, kept, same == events && again.Hash == r.Hash, seed, *roundsFlag, *sparseFlag)
	return r
}

// seeds returns the seeds to simulate, until done says that it is enough.
func seeds(t *testing.T) (next func(hours float64) (uint64, bool)) {
	t.Helper()
	listed := readSeeds(t)
	if *seedFlag != 0 {
		listed = []uint64{*seedFlag}
	}
	from := *fromFlag
	return func(hours float64) (seed uint64, ok bool) {
		if *hoursFlag > 0 {
			from++
			return from - 1, hours < *hoursFlag
		}
		if len(listed) == 0 {
			return 0, false
		}
		seed, listed = listed[0], listed[1:]
		return seed, true
	}
}

func readSeeds(t *testing.T) (all []uint64) {
	t.Helper()
	text, err := os.ReadFile("testdata/seeds.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if word == "" || word == "#" {
			continue
		}
		seed, err := strconv.ParseUint(word, 10, 64)
		if err != nil {
			t.Fatalf("testdata/seeds.txt: %v", err)
		}
		all = append(all, seed)
	}
	return all
}

// The core keeps its promises in each simulated world: package doc and
// docs/simulation-testing.md list them.
func TestSimulation(t *testing.T) {
	program := plainProgram(t)
	began, next := time.Now(), seeds(t)
	var mu sync.Mutex
	var sum report
	sum.Faults = map[string]int{}
	runs := 0
	work := func(t *testing.T) {
		t.Parallel()
		for {
			mu.Lock()
			seed, more := next(sum.Hours)
			mu.Unlock()
			if !more || t.Failed() {
				return
			}
			r := simulate(t, program, seed)
			mu.Lock()
			runs++
			sum.add(r)
			mu.Unlock()
		}
	}
	t.Run("worlds", func(t *testing.T) { // ends with the last one, however long that takes
		for n := range runtime.NumCPU() {
			t.Run(strconv.Itoa(n), work)
		}
	})
	t.Logf("%d seeds: %.1f virtual hours, %d operations (%d attempts without an answer), %d reactions, %d records (%d rejected), %d messages, "+
		"%d faults %v, %d commits lost, %d leases, %d commits refused; %.1f s, %.1f CPU s",
		runs, sum.Hours, sum.Operations, sum.Unknown, sum.Reactions, sum.Records, sum.Rejected, sum.Messages,
		sum.faults(), sum.Faults, sum.LostCommits, sum.Leases, sum.Refused, time.Since(began).Seconds(), sum.CPU)
	if !t.Failed() && (sum.Operations == 0 || sum.Reactions == 0 || sum.faults() == 0) {
		t.Error("nothing was simulated")
	}
}

func (r *report) add(o report) {
	r.Operations += o.Operations
	r.Unknown += o.Unknown
	r.Reactions += o.Reactions
	r.Records += o.Records
	r.Rejected += o.Rejected
	r.LostCommits += o.LostCommits
	r.Leases += o.Leases
	r.Refused += o.Refused
	r.Hours += o.Hours
	r.Messages += o.Messages
	r.CPU += o.CPU
	for name, n := range o.Faults {
		r.Faults[name] += n
	}
}

// mutantSeeds bounds the search for a bug.
const mutantSeeds = 40

// The simulation finds each bug, and the seed that finds it fails again in the same way,
// with the same events.
func TestTheSimulationFindsBugs(t *testing.T) {
	program := plainProgram(t)
	for _, name := range strings.Split(*bugsFlag, ",") {
		if name != "" && !slices.ContainsFunc(mutants(), func(m mutant) bool { return m.name == name }) {
			t.Fatalf("-bugs names %s, which is not seeded", name)
		}
	}
	for _, m := range mutants() {
		if *bugsFlag != "" && !slices.Contains(strings.Split(*bugsFlag, ","), m.name) {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			p := plan{Rounds: 1, Busy: busyMinutes, Quiet: 0.1, Bug: m.name}
			for p.Seed = 1; p.Seed <= mutantSeeds; p.Seed++ {
				r, events := mustSimulate(t, program, p)
				if r.Failure == "" {
					continue
				}
				t.Logf("found by seed %d after %.2f virtual hours: %s", p.Seed, r.Hours, r.Failure)
				again, same := mustSimulate(t, program, p)
				if again.Failure != r.Failure || again.Hash != r.Hash || events != same {
					t.Errorf("the replay of seed %d differs: %q", p.Seed, again.Failure)
				}
				return
			}
			t.Errorf("not found by %d seeds", mutantSeeds)
		})
	}
}

// A seed replays exactly: in three processes all events are equal, byte by byte. Each has
// the hash of all turns of goroutines so far.
func TestASeedReplaysExactly(t *testing.T) {
	program := plainProgram(t)
	p := plan{Seed: 1, Rounds: 2, Busy: busyMinutes, Quiet: busyMinutes} // with collected garbage
	first, events := mustSimulate(t, program, p)
	if strings.Count(events, "\n") < 1000 {
		t.Fatalf("%d events", strings.Count(events, "\n"))
	}
	for range 2 {
		if r, same := mustSimulate(t, program, p); same != events || r.Hash != first.Hash {
			t.Errorf("seed %d had the hash %s, and now %s", p.Seed, first.Hash, r.Hash)
		}
	}
	p.Seed = 2
	if r, other := mustSimulate(t, program, p); other == events || r.Hash == first.Hash {
		t.Error("another seed has the same events")
	}
}
