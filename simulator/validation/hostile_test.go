package validation_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"netsim/simulator/document"
	"netsim/simulator/topology"
	"netsim/simulator/validation"
)

// names draws one of few names, so that documents have duplicate names, dangling
// references, references to anything, and cycles.
func names() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{"leaf", "fsw", "ssw", "nic", "server", "rack", "pod", "layer", "workload", "ghost", ""})
}

func kinds() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{"switch", "nic", "gpu", "server", "rack", "pod", "layer", "application", "topology", "", "other"})
}

func drawRefs(t *rapid.T) []document.Ref {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) document.Ref {
		return document.Ref{
			Name: names().Draw(t, "name"), Type: kinds().Draw(t, "type"),
			Count:                 rapid.SampledFrom([]int{-1 << 63, -1, 0, 1, 2, 3, 50, 70000, 1 << 53, 1<<63 - 1}).Draw(t, "count"),
			ParentApplicationName: rapid.SampledFrom([]string{"", "", "workload", "ghost"}).Draw(t, "parent"),
		}
	}), 0, 4).Draw(t, "refs")
}

// drawValue draws the value of a parameter, also one that JSON cannot express.
func drawValue(t *rapid.T) any {
	return rapid.SampledFrom([]any{
		nil, true, "", "none", "spray", "full-mesh", 0.0, 1.0, 2.0, 64.0, 65536.0, 1.5, -1.0, float64(1 << 53), 1e300,
		math.NaN(), math.Inf(1), math.Inf(-1), []any{1.0}, map[string]any{"a": []any{}},
	}).Draw(t, "value")
}

// disturb changes a random node of a tree of parameters.
func disturb(t *rapid.T, p document.Params) {
	keys := []string{"Other", "A.B", "it's", ""}
	for name := range p {
		keys = append(keys, name)
	}
	name := rapid.SampledFrom(keys).Draw(t, "key")
	node := p[name]
	switch rapid.IntRange(0, 4).Draw(t, "how") {
	case 0:
		delete(p, name)
	case 1:
		branch := document.Params{}
		for range rapid.SampledFrom([]int{0, 1, 500}).Draw(t, "depth") {
			branch = document.Params{"deep": {Branch: branch}}
		}
		p[name] = document.Param{Branch: branch}
	case 2:
		p[name] = document.Param{Leaf: &document.Leaf{
			Value: drawValue(t), Type: rapid.SampledFrom([]string{"uint", "double", "string", "bool", "bytes", "datarate", "timeval", "other"}).Draw(t, "type"),
			Unit: rapid.SampledFrom([]string{"", "B", "Gbps", "Tbps", "ps", "s", "other"}).Draw(t, "unit"),
		}}
	default:
		switch {
		case node.Leaf != nil:
			node.Leaf.Value = drawValue(t)
		case node.Branch != nil:
			disturb(t, node.Branch)
		}
	}
}

// drawDocument makes a few random changes to a valid document, which may become
// invalid.
func drawDocument(t *rapid.T, d *document.Document) {
	change := func() {
		i := rapid.IntRange(0, len(d.Components)-1).Draw(t, "component")
		k := rapid.IntRange(0, len(d.Containers)-1).Draw(t, "container")
		switch rapid.IntRange(0, 10).Draw(t, "change") {
		case 0:
			d.Components[i].Name, d.Components[i].Type = names().Draw(t, "name"), kinds().Draw(t, "type")
		case 1:
			d.Components[i].Components = drawRefs(t)
		case 2:
			d.Containers[k].Components = drawRefs(t)
		case 3:
			d.Containers[k].Name, d.Containers[k].Type = names().Draw(t, "name"), kinds().Draw(t, "type")
		case 4:
			d.Topology.Components = drawRefs(t)
		case 5:
			d.Topology.TopologyTiers = rapid.IntRange(-1, 4).Draw(t, "tiers")
		case 6:
			disturb(t, d.GlobalParameters)
		case 7:
			d.Applications = append(d.Applications, d.Applications...)
		case 8:
			refs := d.Containers[k].Components
			if len(refs) > 0 {
				refs[rapid.IntRange(0, len(refs)-1).Draw(t, "ref")].Count = rapid.SampledFrom([]int{1, 2, 5, 1 << 40}).Draw(t, "count")
			}
		default:
			disturb(t, d.Components[i].TypedParameters)
		}
	}
	for range rapid.IntRange(0, 5).Draw(t, "changes") {
		change()
	}
}

// TestCheckOfAnything: for any document, Check ends, and a second Check finds the
// same. If it finds no error, the document gives options and a fabric, in which there
// is a path between any two of the first 20 servers.
func TestCheckOfAnything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		d := completed(t, rapid.SampledFrom([]string{rack, pods}).Draw(r, "document"))
		drawDocument(r, d)
		with := validation.Attachments{Traceset: &validation.Traceset{
			Status: "ready", Ranks: rapid.SampledFrom([]int64{0, 1, 8, 10, 1 << 62}).Draw(r, "ranks"),
		}}
		findings := validation.Check(d, with)
		if diff := cmp.Diff(findings, validation.Check(d, with)); diff != "" {
			r.Fatalf("a second check has other findings (-first +second):\n%s", diff)
		}
		broken := false
		for _, f := range findings {
			broken = broken || f.Severity == validation.Error
		}
		if broken {
			return
		}
		if _, err := d.Options(time.Second); err != nil {
			r.Fatalf("Check finds no error, but there are no options: %v", err)
		}
		fabric, err := d.Fabric()
		if err != nil {
			r.Fatalf("Check finds no error, but there is no fabric: %v", err)
		}
		routes := topology.NewRoutes(fabric, 1, nil)
		for src := range min(len(fabric.Hosts), 20) {
			for dst := range min(len(fabric.Hosts), 20) {
				if src != dst && len(routes.ECMP(nil, &topology.Pair{Src: int32(src), Dst: int32(dst)})) == 0 {
					r.Fatalf("Check finds no error, but there is no path from host %d to %d", src, dst)
				}
			}
		}
	})
}

// TestReportIsBounded: if a code has many findings, the report lists only some of
// them, and says how many it leaves out.
func TestReportIsBounded(t *testing.T) {
	t.Parallel()
	d := completed(t, rack)
	for range 200 {
		d.Containers[0].Components = append(d.Containers[0].Components, document.Ref{Name: "ghost", Type: "server", Count: 1})
	}
	findings := validation.Check(d, ready(8))
	n, last := 0, ""
	for _, f := range findings {
		if f.Code == "UNKNOWN_REFERENCE" {
			n, last = n+1, f.Message
		}
	}
	if want := "150 more findings of this kind are left out; correct the listed ones and validate again"; n != 51 || last != want {
		t.Errorf("%d findings, the last %q; want 51, the last %q", n, last, want)
	}
}

// TestCheckIsCheapWhateverTheCounts: Check refuses documents with huge counts
// without unfolding them, which would exceed the memory.
func TestCheckIsCheapWhateverTheCounts(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*document.Document){
		"racks of nothing": func(d *document.Document) {
			d.Containers = append(d.Containers, document.Container{Type: "rack", Name: "empty", Model: "leaf-rack-v1", Version: "1.0.0"})
			d.Topology.Components = append(d.Topology.Components, document.Ref{Name: "empty", Type: "rack", Count: 1 << 53})
		},
		"pods of nothing": func(d *document.Document) {
			d.Containers = append(d.Containers, document.Container{Type: "pod", Name: "empty", Model: "pod-v1", Version: "1.0.0"})
			d.Topology.Components = append(d.Topology.Components, document.Ref{Name: "empty", Type: "pod", Count: 1 << 53})
		},
		"nics": func(d *document.Document) { component(d, "server").Components[0].Count = 1 << 53 },
		"links to each": func(d *document.Document) {
			set("fsw", "NumUpLinksPerSwitch", 65536.0)(d)
			d.Topology.Components[0].Count = 60000
		},
		"links of a mesh": func(d *document.Document) {
			set("layer", "Wiring", "full-mesh")(d)
			d.Topology.Components[0].Count = 60000
			d.Containers[2].Components[0].Count = 2000
		},
		"switches of racks": func(d *document.Document) { d.Containers[0].Components[0].Count = 60000 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := completed(t, pods)
			edit(d)
			for _, f := range validation.Check(d, ready(10)) {
				if f.Code == "CONSTRAINT_VIOLATION" && f.Path == "$.topology" {
					return
				}
			}
			t.Errorf("findings %+v, want a CONSTRAINT_VIOLATION at $.topology", validation.Check(d, ready(10)))
		})
	}
}

// asJSON returns the document as a client decodes it, or nil if JSON cannot express it.
func asJSON(t testing.TB, d *document.Document) any {
	t.Helper()
	b, err := json.Marshal(d)
	if err != nil {
		return nil // it contains NaN or an infinity
	}
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	return v
}
