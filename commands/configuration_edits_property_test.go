package commands_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"netsim/commands"
	"netsim/events"
	"netsim/fault"
	"netsim/simulator/document"
	"netsim/simulator/mapping"
	"netsim/simulator/validation"
)

// Source: completions 3.2 to 3.5.

// drawer draws edits of a configuration, with names from a small set.
type drawer struct {
	*rapid.T
	past []string // the documents of earlier versions
}

func (d drawer) of(label string, choices ...string) string {
	return rapid.SampledFrom(choices).Draw(d.T, label)
}

func (d drawer) name() string {
	return d.of("name", "leaf", "nic", "server", "rack", "pod", "layer", "work", "gen", "more", "x")
}

func (d drawer) kind() string {
	return d.of("type", "switch", "nic", "gpu", "server", "rack", "pod", "layer", "application")
}

func (d drawer) model() string {
	return d.of("model", "clos-switch-v1", "roce-nic-v1", "gpu-v1", "gpu-server-v1", "leaf-rack-v1", "pod-v1",
		"ethernet-layer-v1", "chakra-workload-v1", "traffic-generator-v1", "traffic-generator-v1")
}

// holder draws a kind of holder and a name. Most documents have a holder of that
// kind and name.
func (d drawer) holder() (commands.HolderKind, string) {
	switch d.of("in", "topology", "container", "server") {
	case "topology":
		return commands.InTopology, ""
	case "container":
		return commands.InContainer, d.of("container", "rack", "pod", "x")
	}
	return commands.InServer, d.of("server", "server", "x")
}

func (d drawer) number() int64 { return rapid.Int64Range(1, 4).Draw(d.T, "number") }

// command draws any command on a configuration except its deletion.
func (d drawer) command() commands.Command[commands.Configuration] {
	kinds := []func() commands.Command[commands.Configuration]{
		func() commands.Command[commands.Configuration] {
			return commands.AddComponent{Name: d.name(), Type: d.kind(), Model: d.model()}
		},
		func() commands.Command[commands.Configuration] {
			return commands.AddApplication{Name: d.name(), Model: d.model()}
		},
		func() commands.Command[commands.Configuration] { return commands.RemoveComponent{Name: d.name()} },
		func() commands.Command[commands.Configuration] { return commands.RemoveApplication{Name: d.name()} },
		d.addReference, d.addReference, d.changeReference,
		func() commands.Command[commands.Configuration] {
			in, holder := d.holder()
			return commands.RemoveReference{In: in, Holder: holder, Name: d.name()}
		},
		func() commands.Command[commands.Configuration] {
			application := d.name()
			return commands.SetDistribution{
				ParentApplication: application, DistributionID: application + d.of("side", "-client", "-server"), Value: 1 / float64(d.number()),
			}
		},
		d.patch, d.patch, d.update, d.update, d.validation,
		func() commands.Command[commands.Configuration] {
			return commands.AttachTraceset{TracesetID: d.of("traceset", "ts_1", "ts_2"), RankCount: d.number()}
		},
		func() commands.Command[commands.Configuration] { return commands.DetachTraceset{} },
		func() commands.Command[commands.Configuration] {
			return commands.AttachMappingFile{MappingFileID: d.of("file", "mapfile_1", "mapfile_2"), Live: true, RankCount: d.number()}
		},
		func() commands.Command[commands.Configuration] { return commands.DetachMappingFile{} },
	}
	return rapid.SampledFrom(kinds).Draw(d.T, "command")()
}

func (d drawer) addReference() commands.Command[commands.Configuration] {
	in, holder := d.holder()
	c := commands.AddReference{In: in, Holder: holder, Name: d.name(), Type: d.kind(), Count: d.number() - 1, Group: d.of("group", "", "g")}
	if c.Type == "application" {
		c.ParentApplicationName = d.name()
	}
	return c
}

func (d drawer) changeReference() commands.Command[commands.Configuration] {
	in, holder := d.holder()
	c := commands.ChangeReference{In: in, Holder: holder, Name: d.name()}
	if n := d.number(); n > 1 {
		c.Count = &n
	}
	if g := d.of("group", "", "g", "none"); g != "none" {
		c.Group = &g
	}
	return c
}

func (d drawer) patch() commands.Command[commands.Configuration] {
	of := d.of("of", document.OfApplication, document.OfComponent, document.OfLink, document.OfGlobal)
	target := d.name()
	return commands.PatchParameters{Of: of, Target: target, Patch: json.RawMessage(fmt.Sprintf(d.of("patch",
		`{"NumUpLinks":{"value":%d,"type":"uint"}}`, `{"LogicalGroupId":{"value":%d,"type":"uint"}}`, `{"LinksPerPair":{"value":%d,"type":"uint"}}`,
		`{"Load":{"value":0.%d,"type":"double"}}`, `{"SimulationParameters":{"RunTime":{"value":%d,"type":"timeval","unit":"ms"}}}`,
		`{"ChakraConfiguration":{"ScalingFactor":{"value":0.%d,"type":"double"}}}`,
		`{"ChakraConfiguration":{"MappingFileName":{"value":"file-%d","type":"string"}}}`,
	), d.number()))}
}

// update draws an update with members of an older version, or with a name.
func (d drawer) update() commands.Command[commands.Configuration] {
	c := commands.UpdateConfiguration{Name: d.of("new name", "", "", "a", "b")}
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(rapid.SampledFrom(d.past).Draw(d.T, "old")), &members); err != nil {
		d.Fatal(err)
	}
	for _, m := range slices.Sorted(maps.Keys(members)) {
		if rapid.IntRange(0, 2).Draw(d.T, m) == 0 {
			c.Members = append(c.Members, events.DocumentMember{Member: m, Value: string(members[m])})
		}
	}
	if rapid.IntRange(0, 4).Draw(d.T, "attach") == 0 {
		c.TracesetID, c.RankCount = "ts_3", d.number()
	}
	return c
}

func (d drawer) validation() commands.Command[commands.Configuration] {
	return commands.ValidateConfiguration{Version: int64(len(d.past) + 2), Status: d.of("status", commands.Validated, commands.Invalid), Findings: "[]"}
}

// dangling returns the references and shares of a document that name a missing
// declaration.
func dangling(d *document.Document) map[string]bool {
	none := map[string]bool{}
	application := func(name string) bool {
		at, declared := d.Find(name)
		return declared && at.Collection == document.Applications
	}
	for _, h := range d.Holders() {
		for _, r := range h.Refs {
			if _, declared := d.Find(r.Name); !declared {
				none[h.Name+" holds "+r.Name] = true
			}
			if r.ParentApplicationName != "" && !application(r.ParentApplicationName) {
				none[h.Name+" holds "+r.Name+" of "+r.ParentApplicationName] = true
			}
		}
	}
	for _, e := range d.Shares() {
		if !application(e.ParentApplication) {
			none["a share of "+e.ParentApplication] = true
		}
	}
	return none
}

// edited runs a command and returns the state after it. The state must be one
// that a configuration may have.
func edited(t *rapid.T, state *commands.Configuration, cmd commands.Command[commands.Configuration]) *commands.Configuration {
	before := encoded(t, state)
	data, err := cmd.Decide(state, time.UnixMilli(0))
	if after := encoded(t, state); after != before {
		t.Fatalf("%T changed the state from %s to %s", cmd, before, after)
	}
	if err != nil && (data != nil || fault.CodeOf(err) == fault.Internal) {
		t.Fatalf("%T: error %v with event %v, want a refusal without an event and not an internal error", cmd, err, data)
	}
	if data == nil {
		return state
	}
	next := restored(t, state)
	next.Evolve(events.Event{Data: decoded(t, data)})
	if encoded(t, restored(t, next)) != encoded(t, next) {
		t.Fatalf("%T makes a state that differs after it is stored and read", cmd)
	}
	if _, verdict := data.(events.ConfigurationValidated); verdict {
		if next.Version != state.Version || next.Document != state.Document || next.Status == commands.Draft {
			t.Fatalf("validation makes version %d, %s, want version %d and a final status", next.Version, next.Status, state.Version)
		}
		return next
	}
	if next.Version != state.Version+1 || next.Status != commands.Draft {
		t.Fatalf("%T makes version %d after version %d, %s, want a draft of the next version", cmd, next.Version, state.Version, next.Status)
	}
	checkDocument(t, state, next, cmd)
	return next
}

// decoded returns an event as a reader of the log decodes it.
func decoded(t *rapid.T, data events.Data) events.Data {
	text, err := events.Encode(data)
	if err != nil {
		t.Fatal(err)
	}
	back, err := events.Decode(data.EventType(), text)
	if err != nil {
		t.Fatal(err)
	}
	return back
}

// checkDocument checks the document of a new version.
func checkDocument(t *rapid.T, state, next *commands.Configuration, cmd commands.Command[commands.Configuration]) {
	old, doc := parsed(t, state.Document), parsed(t, next.Document)
	if text, _ := document.Canonical(doc); text != next.Document {
		t.Fatalf("%T makes a document that is not canonical:\n%s\nwant\n%s", cmd, next.Document, text)
	}
	if len(next.Document) > document.MaxDocument && len(next.Document) > len(state.Document) {
		t.Fatalf("%T makes a document of %d bytes", cmd, len(next.Document))
	}
	if err := validation.Complete(doc); err != nil {
		t.Fatalf("%T makes a document that no client may send: %v", cmd, err)
	}
	if text, _ := document.Canonical(doc); text != next.Document {
		t.Fatalf("%T makes a document that is not complete:\n%s\nwant\n%s", cmd, next.Document, text)
	}
	if doc.RankCount() != next.RankCount && doc.HasChakra() {
		t.Fatalf("%T: the document has %d ranks, the attached traceset %d", cmd, doc.RankCount(), next.RankCount)
	}
	if next.MappingFile != "" && !doc.Mapped(mapping.Name) {
		t.Fatalf("%T: the mapping file %s is attached, but the document does not use it", cmd, next.MappingFile)
	}
	if _, client := cmd.(commands.UpdateConfiguration); client {
		return // a client may send references to missing declarations; validation reports them
	}
	before := dangling(old)
	for what := range dangling(doc) {
		if !before[what] {
			t.Fatalf("%T leaves the name of a missing declaration: %s", cmd, what)
		}
	}
}

func parsed(t *rapid.T, text string) *document.Document {
	d, err := document.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Any sequence of commands leaves a configuration with a complete, canonical
// document.
func TestEditedConfigurationsStayWhole(t *testing.T) {
	t.Parallel()
	created := and(smallCreated(t),
		decide(commands.AddApplication{Name: "gen", Model: "traffic-generator-v1"}, configurationOf(smallCreated(t))).Event,
		events.ConfigurationReferenceSet{
			Version: 3, HolderKind: "server", Holder: "server", Name: "work", Type: "application", Count: 1,
			Model: "chakra-workload-v1", ModelVersion: "1.0.0", ParentApplicationName: "gen",
		})
	rapid.Check(t, func(t *rapid.T) {
		state := configurationOf(created)
		d := drawer{t, []string{state.Document}}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			next := edited(t, state, d.command())
			if next.Version > state.Version {
				d.past = append(d.past, next.Document)
			}
			state = next
		}
	})
}

// A document may grow to the largest size, and not a byte beyond.
func TestEditedConfigurationsStaySmall(t *testing.T) {
	t.Parallel()
	many := int64(1 << 20)
	for name, grows := range map[string]commands.Command[commands.Configuration]{
		"a component":    commands.AddComponent{Name: "spine", Type: "switch", Model: "clos-switch-v1"},
		"an application": commands.AddApplication{Name: "gen", Model: "traffic-generator-v1"},
		"a reference":    commands.AddReference{In: commands.InServer, Holder: "server", Name: "nic2", Type: "nic", Group: "g"},
		"its count":      commands.ChangeReference{In: commands.InTopology, Name: "rack", Count: &many},
		"a parameter":    commands.PatchParameters{Of: document.OfComponent, Target: "leaf", Patch: json.RawMessage(`{"NumUpLinks":{"value":1234567,"type":"uint"}}`)},
		"a traceset":     commands.AttachTraceset{TracesetID: "ts_1", RankCount: 65536},
		"members":        commands.UpdateConfiguration{Members: []events.DocumentMember{{Member: "topology", Value: `{"name":"larger","type":"clos","topologyTiers":1,"components":[{"name":"rack","type":"rack"}]}`}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, room := range []int{0, -1} {
				state := configurationOf(smallCreated(t))
				before := len(state.Document)
				padded := configurationOf(and(smallCreated(t), decide(grows, state).Event))
				pad(t, state, document.MaxDocument-(len(padded.Document)-before)-room)
				data, err := grows.Decide(state, time.UnixMilli(0))
				if tooLarge := fault.Is(err, fault.PayloadTooLarge); tooLarge != (room < 0) || (data == nil) != tooLarge {
					t.Errorf("with room for %d bytes more than the command adds: event %v, error %v", room, data != nil, err)
				}
			}
		})
	}
}

// pad grows the document of a configuration to a size, with a parameter that
// nothing reads.
func pad(t *testing.T, state *commands.Configuration, size int) {
	t.Helper()
	doc, err := document.Parse(state.Document)
	if err != nil {
		t.Fatal(err)
	}
	const empty = len(`"Padding":{"type":"string","value":""},`)
	doc.Components[0].TypedParameters["Padding"] = document.Param{Leaf: &document.Leaf{Type: "string", Value: strings.Repeat("x", size-len(state.Document)-empty)}}
	if state.Document, err = document.Canonical(doc); err != nil || len(state.Document) != size {
		t.Fatalf("%d bytes, want %d: %v", len(state.Document), size, err)
	}
}
