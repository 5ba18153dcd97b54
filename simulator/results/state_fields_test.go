package results

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"netsim/simulator/engine"
)

// TestStateIsDecided: every field of the recorder is listed either as saved in
// snapshots by visit, or as omitted from them.
func TestStateIsDecided(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		of             reflect.Type
		saved, omitted string
	}{
		{reflect.TypeFor[Recorder](), "perf ranks collectives cdf links hops computations classes listed calculated totals split forward ports computing", "critical config pathOf pathText names headline"},
		{reflect.TypeFor[table](), "file shard written", "create prefix header limit out row err resumed utcOf utcText"},
		{reflect.TypeFor[class](), "sample runs ratios", ""},
		{reflect.TypeFor[split](), "ranks time compute exposed", ""},
		{reflect.TypeFor[computing](), "rank time", ""},
		{reflect.TypeFor[port](), "sends receives out in", ""},
		{reflect.TypeFor[engine.Links](), "Start End Bits Packets", ""},
		{reflect.TypeFor[engine.Collective](), "ID Group GroupName GroupSize OperationType Algorithm DataSize Start End Ideal Finished AlgorithmBytes BusNum BusDen", ""},
	} {
		var all []string
		for i := range c.of.NumField() {
			all = append(all, c.of.Field(i).Name)
		}
		listed := strings.Fields(c.saved + " " + c.omitted)
		slices.Sort(all)
		slices.Sort(listed)
		if !slices.Equal(all, listed) {
			t.Errorf("%s has the fields %v, but %v are listed", c.of, all, listed)
		}
	}
}
