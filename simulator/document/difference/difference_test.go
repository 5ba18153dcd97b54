package difference_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"netsim/simulator/document"
	"netsim/simulator/document/difference"
)

// For any two documents, applying the patch to the earlier one gives the later
// one. There are changes if and only if the patch is not empty.
func TestPatchMakesTheLaterDocument(t *testing.T) {
	t.Parallel()
	for name, doc := range map[string]*rapid.Generator[string]{
		"documents":       rapid.Custom(drawDocument),
		"any JSON object": rapid.Custom(func(t *rapid.T) string { return text(t, drawObject(t, 4)) }),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				from, to := doc.Draw(t, "from"), doc.Draw(t, "to")
				d := differenceOf(t, from, to)
				if diff := cmp.Diff(plain(t, to), patched(t, from, d.Patch)); diff != "" {
					t.Fatalf("%s\npatched with %s (-want +got):\n%s", from, text(t, d.Patch), diff)
				}
				if (len(d.Patch) == 0) != (len(d.Changes) == 0) {
					t.Fatalf("%d operations but %d changes", len(d.Patch), len(d.Changes))
				}
			})
		})
	}
}

// The path of a change leads to a value in the document: its After value if the
// value changed. The text of a change names its subject.
func TestChangesPointAtTheirValues(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		from, to := drawDocument(t), drawDocument(t)
		for _, c := range differenceOf(t, from, to).Changes {
			in := to
			if c.Kind == difference.Removed {
				in = from
			}
			value := plain(t, in)
			for _, token := range tokens(c.Path) {
				value = below(t, value, token)
			}
			if c.After != nil && !cmp.Equal(plain(t, string(c.After)), value) {
				t.Fatalf("change %+v: its path leads to %v in %s", c, value, in)
			}
			if !strings.HasPrefix(c.Text, c.Subject) && !strings.Contains(c.Text, strings.Fields(c.Subject)[1]) {
				t.Fatalf("text %q does not name its subject %q", c.Text, c.Subject)
			}
		}
	})
}

func differenceOf(t rapid.TB, from, to string) difference.Difference {
	t.Helper()
	d, err := difference.Of([]byte(from), []byte(to))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// drawObject draws an object. Its lists may hold named objects, also several with
// the same name, and any other values.
func drawObject(t *rapid.T, depth int) map[string]any {
	object := map[string]any{}
	for range rapid.IntRange(0, 3).Draw(t, "members") {
		object[rapid.SampledFrom([]string{"name", "group", "type", "value", "a/b", "~", "", "components", "id"}).Draw(t, "member")] = drawValue(t, depth-1)
	}
	return object
}

func drawValue(t *rapid.T, depth int) any {
	kinds := 5
	if depth > 0 {
		kinds = 9
	}
	switch rapid.IntRange(0, kinds).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return rapid.IntRange(-1, 2).Draw(t, "number")
	case 3, 4, 5:
		return rapid.SampledFrom([]string{"", "a", "b", "a\x00b", "<&>"}).Draw(t, "text")
	case 6:
		return drawObject(t, depth)
	default:
		list := make([]any, rapid.IntRange(0, 5).Draw(t, "elements"))
		for i := range list {
			list[i] = drawValue(t, depth-1)
		}
		return list
	}
}

// drawDocument draws a document of the form that the service stores. Its names are
// few, so that two documents share some.
func drawDocument(t *rapid.T) string {
	d := document.Document{
		Applications: []document.Application{}, Components: []document.Component{}, Containers: []document.Container{}, Links: []document.Component{},
		Topology: document.Topology{
			Type: "clos", TopologyTiers: rapid.IntRange(1, 3).Draw(t, "tiers"), AllowedComponents: []string{}, Components: drawRefs(t),
		},
		GlobalParameters: drawParams(t),
	}
	for _, name := range drawNames(t) {
		d.Components = append(d.Components, document.Component{
			Type: drawFrom(t, "switch", "nic"), Name: name, TypedParameters: drawParams(t), AllowedComponents: []string{}, Components: drawRefs(t),
		})
	}
	for _, name := range drawNames(t) {
		d.Containers = append(d.Containers, document.Container{
			Type: drawFrom(t, "rack", "pod"), Name: name, AllowedComponents: []string{}, Components: drawRefs(t),
		})
	}
	if rapid.Bool().Draw(t, "distributed") {
		d.Topology.AppDistribution = &document.AppDistribution{Entries: []document.Entry{}}
		for _, name := range drawNames(t) {
			d.Topology.AppDistribution.Entries = append(d.Topology.AppDistribution.Entries, document.Entry{
				Name: name, DistributionPercent: document.Percent{Value: rapid.Float64Range(0, 1).Draw(t, "share")},
			})
		}
	}
	out, err := document.Canonical(struct {
		document.Document
		ActiveTraceset any `json:"activeTraceset,omitempty"`
	}{d, rapid.SampledFrom([]any{nil, map[string]string{"id": "ts_1", "name": "ring"}, map[string]string{"id": "ts_2", "name": "ring"}}).Draw(t, "traceset")})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func drawFrom(t *rapid.T, choices ...string) string {
	return rapid.SampledFrom(choices).Draw(t, "choice")
}

func drawNames(t *rapid.T) []string {
	names := rapid.Permutation([]string{"a", "b", "c", "d", "e", "f", "g", "h"}).Draw(t, "names")
	return names[:rapid.IntRange(0, len(names)).Draw(t, "how many")]
}

func drawRefs(t *rapid.T) []document.Ref {
	refs := []document.Ref{}
	for _, name := range drawNames(t) {
		refs = append(refs, document.Ref{Name: name, Type: "switch", Count: rapid.IntRange(1, 2).Draw(t, "count")})
	}
	if len(refs) > 0 && rapid.Bool().Draw(t, "again") {
		refs = append(refs, document.Ref{Name: refs[0].Name, Type: "switch", Count: 1, Group: "other"})
	}
	return refs
}

func drawParams(t *rapid.T) document.Params {
	p := document.Params{}
	for _, name := range drawNames(t) {
		leaf := document.Leaf{Value: float64(rapid.IntRange(1, 2).Draw(t, "value")), Type: "bytes", Unit: drawFrom(t, "KB", "MB")}
		p[name] = document.Param{Leaf: &leaf}
		if rapid.IntRange(0, 2).Draw(t, "branch") == 0 {
			p[name] = document.Param{Branch: document.Params{"x/y": {Leaf: &leaf}}}
		}
	}
	return p
}

// TestLinesAndOperations: typical changes give the expected lines and minimal
// patches.
func TestLinesAndOperations(t *testing.T) {
	t.Parallel()
	const (
		leaf   = `{"type":"switch","name":"leaf","typedParameters":{"NumUpLinks":{"type":"uint","value":64},"Interface":{"DataRate":{"type":"datarate","unit":"Gbps","value":400}}}}`
		nic    = `{"type":"nic","name":"nic","typedParameters":{}}`
		server = `{"type":"server","name":"server","components":[{"name":"nic","type":"nic","count":1}]}`
		rack   = `{"type":"rack","name":"r1","components":[{"name":"leaf","type":"switch","count":1},{"name":"server","type":"server","count":8}]}`
	)
	doc := func(components, containers, rest string) string {
		return `{"components":[` + components + `],"containers":[` + containers + `]` + rest + `}`
	}
	base := doc(leaf+","+nic+","+server, rack, `,"topology":{"topologyTiers":1,"components":[{"name":"r1","type":"rack","count":1}]}`)
	for _, c := range []struct {
		name          string
		replace, with string // in base
		patch         string
		lines         []string
	}{
		{"nothing", "", "", `[]`, nil},
		{"a number", `"value":64`, `"value":32`,
			`[{"op":"replace","path":"/components/0/typedParameters/NumUpLinks/value","value":32}]`,
			[]string{"switch leaf: NumUpLinks 64 → 32"}},
		{"an amount", `"unit":"Gbps","value":400`, `"unit":"Tbps","value":0.8`,
			`[{"op":"replace","path":"/components/0/typedParameters/Interface/DataRate/unit","value":"Tbps"},{"op":"replace","path":"/components/0/typedParameters/Interface/DataRate/value","value":0.8}]`,
			[]string{"switch leaf: Interface.DataRate 400 Gbps → 0.8 Tbps"}},
		{"a count", `"count":8`, `"count":16`,
			`[{"op":"replace","path":"/containers/0/components/1/count","value":16}]`,
			[]string{"rack r1: server count 8 → 16"}},
		{"a component replaced by another", leaf, `{"type":"nic","name":"nic2"}`,
			`[{"op":"remove","path":"/components/0"},{"op":"add","path":"/components/0","value":{"type":"nic","name":"nic2"}}]`,
			[]string{"component leaf removed", "component nic2 added"}},
		{"the first component moved to the end", leaf + "," + nic + "," + server, nic + "," + server + "," + leaf,
			`[{"op":"move","path":"/components/2","from":"/components/0"}]`,
			[]string{"components: the order of components changed"}},
		{"a reference", `{"name":"leaf","type":"switch","count":1}`, `{"name":"gpu","type":"server","count":3}`,
			`[{"op":"remove","path":"/containers/0/components/0"},{"op":"add","path":"/containers/0/components/0","value":{"name":"gpu","type":"server","count":3}}]`,
			[]string{"rack r1: switch leaf removed", "rack r1: 3 × server gpu added"}},
		{"a member of the topology", `"topologyTiers":1`, `"topologyTiers":2`,
			`[{"op":"replace","path":"/topology/topologyTiers","value":2}]`,
			[]string{"topology: topologyTiers 1 → 2"}},
		{"a parameter removed", `"NumUpLinks":{"type":"uint","value":64},`, ``,
			`[{"op":"remove","path":"/components/0/typedParameters/NumUpLinks"}]`,
			[]string{"switch leaf: NumUpLinks 64 removed"}},
		{"a traceset", `,"topology"`, `,"activeTraceset":{"id":"ts_1","name":"ring"},"topology"`,
			`[{"op":"add","path":"/activeTraceset","value":{"id":"ts_1","name":"ring"}}]`,
			[]string{"activeTraceset ring added"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := differenceOf(t, base, strings.Replace(base, c.replace, c.with, 1))
			if diff := cmp.Diff(c.patch, text(t, append([]difference.Operation{}, d.Patch...))); diff != "" {
				t.Errorf("patch (-want +got):\n%s", diff)
			}
			var lines []string
			for _, change := range d.Changes {
				lines = append(lines, change.Text)
			}
			if diff := cmp.Diff(c.lines, lines); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}

// The difference is not much longer than the documents, even if they are hostile.
func TestDifferencesAreBounded(t *testing.T) {
	t.Parallel()
	key := strings.Repeat("k", 20_000)
	leaves := func(value int) string {
		var b strings.Builder
		for i := range 1000 {
			fmt.Fprintf(&b, `,"p%d":{"type":"uint","value":%d}`, i, value)
		}
		return b.String()[1:]
	}
	names := func(order func(i int) int) string {
		var b strings.Builder
		for i := range 5_000 {
			fmt.Fprintf(&b, `,{"name":"n%d"}`, order(i))
		}
		return b.String()[1:]
	}
	deep := func(value string) string {
		return strings.Repeat(`{"a":`, 500) + value + strings.Repeat("}", 500)
	}
	for name, pair := range map[string][2]string{
		"a long key above many values": {`{"g":{"` + key + `":{` + leaves(1) + `}}}`, `{"g":{"` + key + `":{` + leaves(2) + `}}}`},
		"a list backwards": {`{"components":[` + names(func(i int) int { return i }) + `]}`,
			`{"components":[` + names(func(i int) int { return 4_999 - i }) + `]}`},
		"other names": {`{"components":[` + names(func(i int) int { return i }) + `]}`,
			`{"components":[` + names(func(i int) int { return i + 5_000 }) + `]}`},
		"a deep tree": {deep("1"), deep("2")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := differenceOf(t, pair[0], pair[1])
			size := len(pair[0]) + len(pair[1])
			if got := len(text(t, d.Patch)); got == 0 || got > 4*size {
				t.Errorf("a patch of %d bytes for documents of %d, want at most 4 times as much", got, size)
			}
			if got := len(text(t, d.Changes)); got == 0 || got > 8*size {
				t.Errorf("changes of %d bytes for documents of %d, want at most 8 times as much", got, size)
			}
			if !cmp.Equal(plain(t, pair[1]), patched(t, pair[0], d.Patch)) {
				t.Error("applying the patch does not give the later document")
			}
		})
	}
}

func TestOfRefusesOtherText(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{{`{`, `{}`}, {`{}`, `[]`}} {
		if _, err := difference.Of([]byte(pair[0]), []byte(pair[1])); err == nil {
			t.Errorf("no error for %v, of which one text is not an object", pair)
		}
	}
}
