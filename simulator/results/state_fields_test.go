package results

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"netsim/simulator/engine"
)

// TestStateIsDecided: whoever adds a field to the recorder decides whether a
// snapshot saves it, here and in visit.
func TestStateIsDecided(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		of          reflect.Type
		saved, left string
	}{
		{reflect.TypeFor[Recorder](), "perf ranks collectives cdf links hops classes listed totals split forward ports", "config pathOf pathText names"},
		{reflect.TypeFor[table](), "file shard written", "create prefix header limit out row err resumed"},
		{reflect.TypeFor[class](), "sample runs ratios", ""},
		{reflect.TypeFor[split](), "ranks time compute exposed", ""},
		{reflect.TypeFor[port](), "sends receives out in", ""},
		{reflect.TypeFor[engine.Links](), "Start End Bits Packets", ""},
		{reflect.TypeFor[engine.Collective](), "ID Group GroupName GroupSize OperationType Algorithm DataSize Start End Ideal Finished AlgorithmBytes BusNum BusDen", ""},
	} {
		var all []string
		for i := range c.of.NumField() {
			all = append(all, c.of.Field(i).Name)
		}
		decided := strings.Fields(c.saved + " " + c.left)
		slices.Sort(all)
		slices.Sort(decided)
		if !slices.Equal(all, decided) {
			t.Errorf("%s has the fields %v, decided are %v", c.of, all, decided)
		}
	}
}
