//go:build simulation && !faketime

package dst

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// edit replaces a text, which occurs once in a file, by another.
type edit struct {
	file     string // below the Go installation, or below the repository
	old, new string
}

// goRelease is the release of Go whose runtime the edits fit, and testedRelease one of it.
const (
	goRelease     = "go1.26"
	testedRelease = "go1.26.8"
)

// runtimeEdits make a program deterministic. The clock is that of the build tag
// faketime, which the Go playground uses: it stands still while a goroutine can run, and
// jumps to the next timer when none can. With it and one processor, goroutines take
// turns in an order that depends on nothing but chance, and these edits replace chance,
// and the network, by the program's own.
func runtimeEdits() []edit {
	return []edit{
		{"src/runtime/rand.go", "var readRandomFailed bool", "var readRandomFailed bool\n\n//go:linkname simSeed\nvar simSeed uint64 = 1\n\n//go:linkname simTurns\nvar simTurns uint64\n\n//go:linkname simRecord\nvar simRecord []uint64\n"},
		{"src/runtime/rand.go", "	mp := getg().m\n	c := &mp.chacha8", `	if gp := getg(); gp.m.curg == gp {
		simSeed += 0x9e3779b97f4a7c15
		x := simSeed
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		return x ^ x>>31
	}
	mp := getg().m
	c := &mp.chacha8`},
		// Hashes, which order large maps, and the addresses of the heap.
		{"src/runtime/rand.go", "	globalRand.state.Init(*seed)", "	*seed = [32]byte{1}\n	globalRand.state.Init(*seed)"},
		// The scheduler itself also uses cheaprand, at times that are not determined.
		{"src/runtime/select.go", "cheaprandn(uint32(norder + 1))", "randn(uint32(norder + 1))"},
		{"src/runtime/sema.go", "s.ticket = cheaprand() | 1", "s.ticket = rand32() | 1"},
		{"src/runtime/time.go", "t.rand = cheaprand()", "t.rand = rand32()"},
		// Caches of type assertions are in the heap, and one in a thousand misses makes one.
		{"src/runtime/iface.go", "if cheaprand()&1023 != 0 {\n		// Only bother updating the cache ~1 in 1000 times.\n		return tab", "if true {\n		return tab"},
		{"src/runtime/iface.go", "that only happen a few times.\n		return case_, tab\n	}\n", "that only happen a few times.\n		return case_, tab\n	}\n	if true {\n		return case_, tab\n	}\n"},
		// No monitor, which would preempt goroutines by real time. Threads are started before
		// anything runs: they and their stacks take memory of the heap, at an instant that is
		// not determined otherwise, and the addresses of the heap order what maps hold.
		{
			"src/runtime/proc.go", "	if haveSysmon {\n		systemstack(func() {\n			newm(sysmon, nil, -1)\n		})\n	}\n", `	systemstack(func() {
		for range simThreads {
			newm(simThread, nil, -1)
		}
	})
	for parked := int32(0); parked < simThreads; {
		osyield()
		lock(&sched.lock)
		parked = sched.nmidle
		unlock(&sched.lock)
	}
`,
		},
		{"src/runtime/proc.go", "const haveSysmon = GOARCH != \"wasm\"\n", `const haveSysmon = GOARCH != "wasm"

const simThreads = 8

func simThread() {
	lock(&sched.lock)
	mput(getg().m)
	unlock(&sched.lock)
	mPark()
}
`},
		// The hash of all turns of goroutines, which a replay is compared by.
		{"src/runtime/proc.go", "func execute(gp *g, inheritTime bool) {\n	mp := getg().m\n", `func execute(gp *g, inheritTime bool) {
	mp := getg().m
	simTurns = (simTurns ^ gp.goid ^ uint64(faketime)<<20) * 1099511628211
	if n := len(simRecord); n+2 <= cap(simRecord) {
		simRecord = simRecord[:n+2]
		simRecord[n], simRecord[n+1] = gp.goid, simSeed
	}
`},
		// No return of memory to the system, which real time decides.
		{"src/runtime/mgcscavenge.go", "	scavenger.park()\n\n	for {", "	scavenger.park()\n\n	for {\n		gopark(nil, nil, waitReasonGCScavengeWait, traceBlockSystemGoroutine, 2)\n	}\n\n	for {"},
		{"src/net/dial.go", `	"internal/nettrace"`, "	\"internal/nettrace\"\n	_ \"unsafe\""},
		{
			"src/net/dial.go", "func (d *Dialer) DialContext(ctx context.Context, network, address string) (Conn, error) {\n	ctx, cancel := d.dialCtx(ctx)\n	defer cancel()",
			"//go:linkname simDial\nvar simDial func(ctx context.Context, address string) (Conn, error)\n\n" +
				"func (d *Dialer) DialContext(ctx context.Context, network, address string) (Conn, error) {\n	ctx, cancel := d.dialCtx(ctx)\n	defer cancel()\n" +
				"	if simDial != nil {\n		return simDial(ctx, address)\n	}",
		},
	}
}

// build builds the simulation, with the edits of the runtime and those of switches, in a
// directory, and returns the program.
func build(t *testing.T, dir string) string {
	t.Helper()
	if release := strings.TrimSpace(run(t, "go", "env", "GOVERSION")); !strings.HasPrefix(release, goRelease) {
		t.Fatalf("the simulation edits the runtime of %s, this is %s; GOTOOLCHAIN=%s obtains one that fits", goRelease, release, testedRelease)
	}
	root := strings.TrimSpace(run(t, "go", "env", "GOROOT"))
	repository := strings.TrimSuffix(strings.TrimSpace(run(t, "go", "list", "-m", "-f", "{{.Dir}}", "netsim")), "/")
	texts := map[string]string{}
	apply := func(base string, edits []edit) {
		for _, e := range edits {
			path := filepath.Join(base, e.file)
			text, read := texts[path]
			if !read {
				b, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				text = string(b)
			}
			if strings.Count(text, e.old) != 1 {
				t.Fatalf("%s has %d times, want once: %s", e.file, strings.Count(text, e.old), e.old)
			}
			texts[path] = strings.Replace(text, e.old, e.new, 1)
		}
	}
	apply(root, runtimeEdits())
	apply(repository, switches())
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for path, text := range texts {
		to := filepath.Join(dir, fmt.Sprintf("%d.go", len(overlay.Replace)))
		if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		overlay.Replace[path] = to
	}
	list, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), list, 0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "dst.test")
	run(t, "go", "test", "-c", "-trimpath", "-vet=off", "-tags", "faketime", "-overlay", filepath.Join(dir, "overlay.json"), "-o", program, ".")
	return program
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	var problems strings.Builder
	c := exec.CommandContext(t.Context(), name, args...)
	// With cgo the runtime does not see that no goroutine can run. What the caller's
	// environment says about builds does not count.
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOOS=", "GOARCH=", "GOEXPERIMENT=")
	c.Stderr = &problems
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, problems.String())
	}
	return string(out)
}
