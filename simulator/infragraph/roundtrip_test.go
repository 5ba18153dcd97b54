package infragraph_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"netsim/simulator/collective"
	"netsim/simulator/document"
	"netsim/simulator/infragraph"
	"netsim/simulator/presets"
	"netsim/simulator/topology"
	"netsim/simulator/validation"
)

// TestTemplatesComeBack: each curated template is written and read back as the same fabric:
// nodes with their names, links with their ports, rates and delays, racks and pods.
func TestTemplatesComeBack(t *testing.T) {
	t.Parallel()
	templates, err := presets.Curated()
	if err != nil {
		t.Fatal(err)
	}
	for _, template := range templates {
		notes := comesBack(t, template.Name, template.Document)
		if has := slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, "LoadBalancingMethod spray is left out") }); has != strings.Contains(template.Name, "spraying") {
			t.Errorf("%s: the notes are %q", template.Name, notes)
		}
	}
}

// TestDerivedFabricsComeBack: so is the fabric of each radix and ratio, with one to three
// tiers, with racks that are partly filled and with empty ones.
func TestDerivedFabricsComeBack(t *testing.T) {
	t.Parallel()
	read := 0
	for _, radix := range topology.Radixes() {
		for _, ratio := range topology.Ratios() {
			for _, ranks := range []int{1, 8, 100, 129, 3000} {
				phases := []collective.Phase{{OperationType: collective.AllReduce, DataSize: 1 << 20}}
				s, _, err := presets.NewSimple(&topology.Constraints{SwitchRadix: radix, SubscriptionRatio: ratio}, &collective.Workload{Ranks: ranks, Phases: phases}, nil)
				if err != nil {
					continue // the radix does not support as many ranks
				}
				d, err := s.Document()
				if err != nil {
					t.Fatal(err)
				}
				comesBack(t, fmt.Sprintf("%s %s %d", radix, ratio, ranks), d)
				read++
			}
		}
	}
	if read < 20 {
		t.Errorf("only %d fabrics were read", read)
	}
}

// comesBack checks that Write and Read give the same fabric, and returns the notes of Write.
func comesBack(t *testing.T, name string, d *document.Document) []string {
	t.Helper()
	text, notes, err := infragraph.Write(d)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	again, readNotes, err := infragraph.Read(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	want, err := d.Fabric()
	if err != nil {
		t.Fatal(err)
	}
	got, err := again.Fabric()
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: read back, the fabric has %d nodes, %d links and %d bundles, want an equal one with %d, %d and %d", name,
			len(got.Nodes), len(got.Links), len(got.Bundles), len(want.Nodes), len(want.Links), len(want.Bundles))
	}
	for _, note := range slices.Concat(notes, readNotes) {
		if strings.Contains(note, "read back") || strings.Contains(note, "validation") {
			t.Errorf("%s: unexpected note: %s", name, note)
		}
	}
	for _, f := range validation.Check(again, validation.Attachments{}) {
		if f.Code != "TRACESET_REQUIRED" && !slices.ContainsFunc(validation.Check(d, validation.Attachments{}), func(o validation.Finding) bool { return o.Code == f.Code }) {
			t.Errorf("%s: a finding about what was read: %+v", name, f)
		}
	}
	return notes
}

// TestEdgesOfOneMeaning: slices with a start, an end or a step, products and single edges that
// mean the same give the same configuration.
func TestEdgesOfOneMeaning(t *testing.T) {
	t.Parallel()
	const header = `
devices:
- name: card
  components: [{name: port, count: 2, choice: port}]
- name: server
  components: [{name: card, count: 2, choice: device}, {name: gpu, count: 1, choice: xpu}]
- name: switch
  components: [{name: port, count: 20, choice: port}]
links: [{name: eth, physical: {bandwidth: {gigabits_per_second: 100}, latency: {ns: 1}}}]
instances: [{name: host, device: server, count: 4}, {name: leaf, device: switch, count: 2}, {name: spine, device: switch, count: 1}]
edges:
`
	edge := func(instance1, component1, instance2, component2, scheme string) string {
		return fmt.Sprintf("- {ep1: {instance: '%s', component: '%s'}, ep2: {instance: '%s', component: '%s'}, scheme: %s, link: eth}\n", instance1, component1, instance2, component2, scheme)
	}
	short := header +
		edge("host[0:2]", "card.port[1]", "leaf[0]", "port[:8:2]", "one2one") + // the cards of a host before the next host
		edge("host[2:]", "card[0:1].port", "leaf[1]", "port[4:]", "one2one") + // leaf has more ports than there are ends
		edge("host[2:4]", "card[1].port[0]", "leaf[1]", "port", "one2one") +
		edge("spine", "port[:2]", "leaf", "port[19:20]", "one2one")
	long := header
	for i := range 4 {
		long += edge(fmt.Sprintf("host[%d]", i/2), fmt.Sprintf("card[%d].port[1]", i%2), "leaf[0]", fmt.Sprintf("port[%d]", 2*i), "one2one")
	}
	for i := range 4 {
		long += edge(fmt.Sprintf("host[%d]", 2+i/2), fmt.Sprintf("card[0].port[%d]", i%2), "leaf[1]", fmt.Sprintf("port[%d]", 4+i), "many2many")
	}
	long += edge("leaf[1]", "port[0]", "host[2]", "card[1].port[0]", "one2one") + edge("leaf[1]", "port[1]", "host[3]", "card[1].port[0]", "one2one")
	long += edge("leaf[0]", "port[19]", "spine[0]", "port[0]", "one2one") + edge("leaf[1]", "port[19]", "spine[0]", "port[1]", "many2many")
	var texts [2]string
	for i, text := range []string{short, long} {
		d, notes, err := infragraph.Read([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if texts[i], err = document.Canonical(d); err != nil {
			t.Fatal(err)
		}
		if f, err := d.Fabric(); err != nil || len(f.Links) != 12 {
			t.Errorf("%v, notes %q", err, notes)
		}
		if _, _, err := infragraph.Read([]byte(text + edge("host[3]", "card[1].port[0]", "leaf[1]", "port[18]", "one2one"))); err == nil || !strings.Contains(err.Error(), "host[3].card[1].port[0] has two links to leaf[1]") {
			t.Errorf("with a NIC of two links: %v", err)
		}
		// A port that is taken already shows which ports the edges take.
		for _, taken := range []string{"leaf[0].port[6]", "leaf[1].port[7]"} {
			instance, component, _ := strings.Cut(taken, ".")
			_, _, err := infragraph.Read([]byte(text + edge("host[3]", "card[1].port[1]", instance, component, "one2one")))
			if err == nil || !strings.Contains(err.Error(), taken+" has two links") {
				t.Errorf("with one more link of %s: %v", taken, err)
			}
		}
	}
	if texts[0] != texts[1] {
		t.Errorf("the short form is read as\n%s\nand the long one as\n%s", texts[0], texts[1])
	}
}
