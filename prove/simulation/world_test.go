//go:build faketime

package dst

import (
	"encoding/json"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"
	"testing"
)

// maxMemory bounds the address space of a world, in bytes.
const maxMemory = 8 << 30

// TestWorld runs one simulation in this process. The driver calls it.
func TestWorld(t *testing.T) {
	var p plan
	if err := json.Unmarshal([]byte(os.Getenv("NETSIM_DST_PLAN")), &p); err != nil {
		t.Fatalf("TestWorld is called by TestSimulation, with a plan: %v", err)
	}
	// A world that hangs at an instant of its clock ends by this limit, not by real time.
	limit := uint64(300 + 120*float64(p.Rounds)*(p.Busy+p.Quiet)/60)
	if err := syscall.Setrlimit(syscall.RLIMIT_CPU, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
		t.Fatal(err)
	}
	// Its garbage is not collected meanwhile.
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: maxMemory, Max: maxMemory}); err != nil {
		t.Fatal(err)
	}
	runtime.GOMAXPROCS(1)
	runtime.MemProfileRate = 0
	debug.SetGCPercent(-1) // collected at fixed points instead
	runtime.GC()           // starts the collector's goroutines
	newWorld(p).run()
}
