//go:build faketime

package dst

import (
	"encoding/json"
	"os"
	"runtime"
	"runtime/debug"
	"testing"
)

// TestWorld runs one simulation in this process. The driver calls it.
func TestWorld(t *testing.T) {
	var p plan
	if err := json.Unmarshal([]byte(os.Getenv("NETSIM_DST_PLAN")), &p); err != nil {
		t.Fatalf("TestWorld is called by TestSimulation, with a plan: %v", err)
	}
	runtime.GOMAXPROCS(1)
	runtime.MemProfileRate = 0
	debug.SetGCPercent(-1) // collected at fixed points instead
	runtime.GC()           // starts the collector's goroutines
	newWorld(p).run()
}
