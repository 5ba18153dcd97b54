package commands_test

import (
	"encoding/json"
	"strings"
	"testing"

	"netsim/commands"
	"netsim/events"
	"netsim/fault"
	"netsim/simulator/document"
	"netsim/simulator/validation"
)

// Source: completions 3.2, 3.5, 3.7.

// small returns the document of one rack with two servers, a chakra application,
// and components that are declared but not used.
func small(t *testing.T) *document.Document {
	t.Helper()
	d, err := document.Parse(`{
		"components": [
			{"type":"switch","model":"clos-switch-v1","name":"leaf","version":"1.0.0"},
			{"type":"nic","model":"roce-nic-v1","name":"nic","version":"1.0.0"},
			{"type":"nic","model":"roce-nic-v1","name":"nic2","version":"1.0.0"},
			{"type":"server","model":"gpu-server-v1","name":"server","version":"1.0.0","components":[{"name":"nic","type":"nic"}]}],
		"containers": [
			{"type":"rack","name":"rack","model":"leaf-rack-v1","version":"1.0.0","components":[
				{"name":"leaf","type":"switch"},{"name":"server","type":"server","count":2}]},
			{"type":"pod","name":"pod","model":"pod-v1","version":"1.0.0"}],
		"applications": [{"type":"application","trafficType":"chakra","name":"work","model":"chakra-workload-v1","version":"1.0.0"}],
		"links": [{"type":"layer","model":"ethernet-layer-v1","name":"layer","version":"1.0.0"}],
		"topology": {"type":"clos","topologyTiers":1,"components":[{"name":"rack","type":"rack"}]}}`)
	if err != nil {
		t.Fatal(err)
	}
	if err := validation.Complete(d); err != nil {
		t.Fatal(err)
	}
	return d
}

func smallText(t *testing.T) string {
	t.Helper()
	text, err := document.Canonical(small(t))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func smallCreated(t *testing.T) []events.Data {
	t.Helper()
	return given(events.ConfigurationCreated{
		AccountID: "acct", WorkspaceID: "workspace_1", Name: "small", Document: smallText(t), ComponentCount: 4, Status: commands.Draft,
	})
}

func TestAddComponent(t *testing.T) {
	t.Parallel()
	add := func(name, kind, model, version string) commands.AddComponent {
		return commands.AddComponent{ID: "config_1", Name: name, Type: kind, Model: model, Version: version}
	}
	added := func(collection, declaration string) outcome {
		return event(events.ConfigurationComponentAdded{Version: 2, Collection: collection, Declaration: declaration})
	}
	matched := add("spine", "switch", "clos-switch-v1", "")
	matched.Match = commands.Match{Given: true, Tags: []string{"2"}}
	check(t, []example[commands.Configuration]{
		{"a gpu", smallCreated(t), add("gpu", "gpu", "gpu-v1", "1.0.0"), added("components",
			`{"allowedComponents":[],"components":[],"model":"gpu-v1","name":"gpu","type":"gpu","typedParameters":{"ComputeScale":{"type":"double","value":1}},"version":"1.0.0"}`)},
		{"a pod", smallCreated(t), add("pod2", "pod", "pod-v1", ""), added("containers",
			`{"allowedComponents":["switch","rack"],"components":[],"configuration":null,"model":"pod-v1","name":"pod2","type":"pod","version":"1.0.0"}`)},
		{"a layer", smallCreated(t), add("layer2", "layer", "ethernet-layer-v1", ""), added("links",
			`{"allowedComponents":[],"components":[],"model":"ethernet-layer-v1","name":"layer2","type":"layer","typedParameters":{"LinksPerPair":{"type":"uint","value":0},"Wiring":{"type":"string","value":"round-robin"}},"version":"1.0.0"}`)},
		{"a name that is taken", smallCreated(t), add("rack", "switch", "clos-switch-v1", ""), refusal(fault.Validation)},
		{"an application's name", smallCreated(t), add("work", "switch", "clos-switch-v1", ""), refusal(fault.Validation)},
		{"an unknown model", smallCreated(t), add("x", "switch", "clos-switch-v9", ""), refusal(fault.Validation)},
		{"an unknown version", smallCreated(t), add("x", "switch", "clos-switch-v1", "9.0.0"), refusal(fault.Validation)},
		{"a model of another type", smallCreated(t), add("x", "nic", "clos-switch-v1", ""), refusal(fault.Validation)},
		{"an application's model", smallCreated(t), add("x", "application", "chakra-workload-v1", ""), refusal(fault.Validation)},
		{"another version", smallCreated(t), matched, refusal(fault.PreconditionFailed)},
		{"to a missing configuration", nil, add("x", "gpu", "gpu-v1", ""), refusal(fault.NotFound)},
		{"to a deleted configuration", and(smallCreated(t), events.ConfigurationDeleted{}), add("x", "gpu", "gpu-v1", ""), refusal(fault.NotFound)},
	})
}

func TestAddApplication(t *testing.T) {
	t.Parallel()
	add := func(name, model string) commands.AddApplication {
		return commands.AddApplication{ID: "config_1", Name: name, Model: model}
	}
	generator := func(version int64, name, share string) events.ConfigurationComponentAdded {
		entry := func(kind string) events.DistributionShare {
			return events.DistributionShare{
				Name: name + "-" + kind, ParentApplication: name, ApplicationType: kind, DistributionID: name + "-" + kind, Value: share,
			}
		}
		return events.ConfigurationComponentAdded{
			Version: version, Collection: "applications",
			Declaration: `{"model":"traffic-generator-v1","name":"` + name + `","trafficType":"non-coordinated","type":"application","typedParameters":{"Load":{"type":"double","value":0.5},"MessageSize":{"type":"bytes","unit":"KB","value":16},"TrafficPattern":{"type":"string","value":"uniform-random"}},"version":"1.0.0"}`,
			Shares:      []events.DistributionShare{entry("client"), entry("server")},
		}
	}
	first := and(smallCreated(t), generator(2, "gen", "1"))
	set := func(value string) events.Data {
		return events.ConfigurationParametersPatched{Version: 3, TargetKind: document.OfDistribution, Shares: []events.DistributionShare{
			{ParentApplication: "gen", DistributionID: "gen-client", Value: value}, {ParentApplication: "gen", DistributionID: "gen-server", Value: value},
		}}
	}
	check(t, []example[commands.Configuration]{
		{"a generator takes all", smallCreated(t), add("gen", "traffic-generator-v1"), event(generator(2, "gen", "1"))},
		{"a second one takes what is left", first, add("gen2", "traffic-generator-v1"), event(generator(3, "gen2", "0"))},
		{"what is left may be a part", and(first, set("0.75")), add("gen2", "traffic-generator-v1"), event(generator(4, "gen2", "0.25"))},
		{"a distribution whose sum is above 1", and(first, set("0.75"), events.ConfigurationComponentAdded{
			Version: 4, Collection: "applications", Declaration: generator(4, "gen2", "0").Declaration,
			Shares: []events.DistributionShare{{Name: "x", ParentApplication: "gen2", ApplicationType: "client", DistributionID: "x", Value: "0.5"}},
		}), add("gen3", "traffic-generator-v1"), refusal(fault.Validation)},
		{"a name that is taken", smallCreated(t), add("nic", "traffic-generator-v1"), refusal(fault.Validation)},
		{"a model that is not an application's", smallCreated(t), add("x", "gpu-v1"), refusal(fault.Validation)},
		{"an unknown model", smallCreated(t), add("x", "y-v1"), refusal(fault.Validation)},
		{"to a missing configuration", nil, add("x", "traffic-generator-v1"), refusal(fault.NotFound)},
	})
	orphaned := and(first, events.ConfigurationUpdated{Version: 3, Members: []events.DocumentMember{{Member: "applications", Value: "[]"}}})
	if got := decide(add("gen", "traffic-generator-v1"), configurationOf(orphaned)).Event.(events.ConfigurationComponentAdded); got.Shares != nil {
		t.Errorf("an application that has entries already gets more: %v", got.Shares)
	}
	attached := and(smallCreated(t),
		events.ConfigurationTracesetAttached{Version: 2, TracesetID: "ts_1", RankCount: 2},
		events.ConfigurationComponentRemoved{Version: 3, Collection: "applications", Name: "work"})
	got := decide[commands.Configuration](add("again", "chakra-workload-v1"), configurationOf(attached))
	if declared := got.Event.(events.ConfigurationComponentAdded).Declaration; !strings.Contains(declared, `"NumOfChakraFiles":{"type":"uint","value":2}`) {
		t.Errorf("a chakra application added after the traceset lacks its rank count: %s", declared)
	}
}

func configurationOf(given []events.Data) *commands.Configuration {
	state := new(commands.Configuration)
	for _, data := range given {
		state.Evolve(events.Event{Data: data})
	}
	return state
}

func TestRemoveFromConfiguration(t *testing.T) {
	t.Parallel()
	component := func(name string) commands.RemoveComponent {
		return commands.RemoveComponent{ID: "config_1", Name: name}
	}
	application := func(name string) commands.RemoveApplication {
		return commands.RemoveApplication{ID: "config_1", Name: name}
	}
	removed := func(collection, name string, holders ...events.ReferenceHolder) outcome {
		return event(events.ConfigurationComponentRemoved{Version: 2, Collection: collection, Name: name, References: holders})
	}
	shared := func(name, client, server string) events.Data {
		return events.ConfigurationComponentAdded{
			Version: 2, Collection: "applications", Declaration: `{"type":"application","trafficType":"non-coordinated","name":"` + name + `"}`,
			Shares: []events.DistributionShare{
				{Name: name, ParentApplication: name, ApplicationType: "client", DistributionID: name + "-c", Value: client},
				{Name: name, ParentApplication: name, ApplicationType: "server", DistributionID: name + "-s", Value: server},
			},
		}
	}
	three := and(smallCreated(t), shared("a", "0.5", "1"), shared("b", "0.25", "0"), shared("c", "0.25", "0"))
	check(t, []example[commands.Configuration]{
		{"a component, out of its server", smallCreated(t), component("nic"), removed("components", "nic", events.ReferenceHolder{HolderKind: "server", Holder: "server"})},
		{"a component without references", smallCreated(t), component("nic2"), removed("components", "nic2")},
		{"a container, out of the topology", smallCreated(t), component("rack"), removed("containers", "rack", events.ReferenceHolder{HolderKind: "topology"})},
		{"a link", smallCreated(t), component("layer"), removed("links", "layer")},
		{"an application as a component", smallCreated(t), component("work"), refusal(fault.NotFound)},
		{"an unknown component", smallCreated(t), component("x"), refusal(fault.NotFound)},
		{"an application", smallCreated(t), application("work"), removed("applications", "work")},
		{"an application that is the parent of a reference in a server", and(three, events.ConfigurationReferenceSet{
			Version: 3, HolderKind: "server", Holder: "server", Name: "work", Type: "application", Count: 1, ParentApplicationName: "b",
		}), application("b"), event(events.ConfigurationComponentRemoved{
			Version: 4, Collection: "applications", Name: "b",
			References: []events.ReferenceHolder{{HolderKind: "server", Holder: "server"}},
			Shares: []events.DistributionShare{
				{ParentApplication: "a", DistributionID: "a-c", Value: "0.6666666666666666"},
				{ParentApplication: "c", DistributionID: "c-c", Value: "0.3333333333333333"},
			},
		})},
		{"a component as an application", smallCreated(t), application("nic"), refusal(fault.NotFound)},
		{"an application with shares", three, application("a"), event(events.ConfigurationComponentRemoved{
			Version: 3, Collection: "applications", Name: "a", Shares: []events.DistributionShare{
				{ParentApplication: "b", DistributionID: "b-c", Value: "0.5"}, {ParentApplication: "c", DistributionID: "c-c", Value: "0.5"},
				{ParentApplication: "b", DistributionID: "b-s", Value: "0.5"}, {ParentApplication: "c", DistributionID: "c-s", Value: "0.5"},
			},
		})},
	})
	gone := configurationOf(and(smallCreated(t), events.ConfigurationComponentRemoved{Version: 2, Collection: "components", Name: "nic"}))
	if strings.Contains(gone.Document, `"name":"nic"`) || gone.Version != 2 {
		t.Errorf("version %d, want 2 without the component: %s", gone.Version, gone.Document)
	}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	add := func(in commands.HolderKind, holder, kind, name string) commands.AddReference {
		return commands.AddReference{ID: "config_1", In: in, Holder: holder, Type: kind, Name: name}
	}
	set := func(kind, holder, refType, name, model string, count int64, group, parent string) outcome {
		return event(events.ConfigurationReferenceSet{
			Version: 2, HolderKind: kind, Holder: holder, Name: name, Type: refType, Count: count, Group: group,
			Model: model, ModelVersion: "1.0.0", ParentApplicationName: parent,
		})
	}
	application := add(commands.InServer, "server", "application", "work")
	application.ParentApplicationName = "work"
	orphan := application
	orphan.ParentApplicationName = "nic"
	parentless := application
	parentless.ParentApplicationName = ""
	parented := add(commands.InServer, "server", "nic", "nic2")
	parented.ParentApplicationName = "work"
	eight := add(commands.InContainer, "pod", "rack", "rack")
	eight.Count, eight.Group = 8, "g"
	change := func(in commands.HolderKind, holder, name string, count int64, group *string) commands.ChangeReference {
		c := commands.ChangeReference{ID: "config_1", In: in, Holder: holder, Name: name, Group: group}
		if count > 0 {
			c.Count = &count
		}
		return c
	}
	remove := func(in commands.HolderKind, holder, name string) commands.RemoveReference {
		return commands.RemoveReference{ID: "config_1", In: in, Holder: holder, Name: name}
	}
	group := "g"
	check(t, []example[commands.Configuration]{
		{"a nic into a server", smallCreated(t), add(commands.InServer, "server", "nic", "nic2"), set("server", "server", "nic", "nic2", "roce-nic-v1", 1, "", "")},
		{"an application into a server", smallCreated(t), application, set("server", "server", "application", "work", "chakra-workload-v1", 1, "", "work")},
		{"racks into a pod", smallCreated(t), eight, set("pod", "pod", "rack", "rack", "leaf-rack-v1", 8, "g", "")},
		{"a layer into the topology", smallCreated(t), add(commands.InTopology, "", "layer", "layer"), set("topology", "", "layer", "layer", "ethernet-layer-v1", 1, "", "")},
		{"an application without a parent", smallCreated(t), parentless, refusal(fault.Validation)},
		{"an application whose parent is not an application", smallCreated(t), orphan, refusal(fault.Validation)},
		{"a nic with a parent", smallCreated(t), parented, refusal(fault.Validation)},
		{"twice", smallCreated(t), add(commands.InServer, "server", "nic", "nic"), refusal(fault.Validation)},
		{"into a component that holds nothing", smallCreated(t), add(commands.InServer, "leaf", "nic", "nic2"), refusal(fault.Validation)},
		{"into an unknown component", smallCreated(t), add(commands.InServer, "x", "nic", "nic2"), refusal(fault.NotFound)},
		{"into a container as a component", smallCreated(t), add(commands.InServer, "rack", "nic", "nic2"), refusal(fault.NotFound)},
		{"into an unknown container", smallCreated(t), add(commands.InContainer, "x", "switch", "leaf"), refusal(fault.NotFound)},
		{"of a type that the holder does not allow", smallCreated(t), add(commands.InContainer, "rack", "rack", "rack"), refusal(fault.Validation)},
		{"a pod into itself", smallCreated(t), add(commands.InContainer, "pod", "pod", "pod"), refusal(fault.Validation)},
		{"of another type than declared", smallCreated(t), add(commands.InContainer, "pod", "switch", "rack"), refusal(fault.Validation)},
		{"an unknown one into a container", smallCreated(t), add(commands.InContainer, "pod", "rack", "x"), refusal(fault.Validation)},
		{"an unknown one into the topology", smallCreated(t), add(commands.InTopology, "", "rack", "x"), refusal(fault.NotFound)},
		{"an unknown one into a server", smallCreated(t), add(commands.InServer, "server", "nic", "x"), refusal(fault.NotFound)},

		{"another count", smallCreated(t), change(commands.InContainer, "rack", "server", 4, nil), set("rack", "rack", "server", "server", "gpu-server-v1", 4, "", "")},
		{"another group", smallCreated(t), change(commands.InContainer, "rack", "server", 0, &group), set("rack", "rack", "server", "server", "gpu-server-v1", 2, "g", "")},
		{"the same count", smallCreated(t), change(commands.InContainer, "rack", "server", 2, nil), nothing()},
		{"of a missing reference", smallCreated(t), change(commands.InTopology, "", "pod", 2, nil), refusal(fault.NotFound)},
		{"in a missing container", smallCreated(t), change(commands.InContainer, "x", "server", 2, nil), refusal(fault.NotFound)},

		{"out of the topology", smallCreated(t), remove(commands.InTopology, "", "rack"), event(events.ConfigurationReferenceRemoved{Version: 2, HolderKind: "topology", Name: "rack"})},
		{"out of a server", smallCreated(t), remove(commands.InServer, "server", "nic"), event(events.ConfigurationReferenceRemoved{Version: 2, HolderKind: "server", Holder: "server", Name: "nic"})},
		{"a missing reference", smallCreated(t), remove(commands.InServer, "server", "nic2"), refusal(fault.NotFound)},
	})
}

func TestPatchParameters(t *testing.T) {
	t.Parallel()
	patch := func(of, target, text string) commands.PatchParameters {
		return commands.PatchParameters{ID: "config_1", Of: of, Target: target, Patch: json.RawMessage(text)}
	}
	patched := func(of, target, text string) outcome {
		return event(events.ConfigurationParametersPatched{Version: 2, TargetKind: of, Target: target, Patch: text})
	}
	check(t, []example[commands.Configuration]{
		{"of a component", smallCreated(t), patch("component", "leaf", `{"NumUpLinks":{"type":"uint","value":4},"NumDownLinks":{"type":"uint","value":64}}`),
			patched("component", "leaf", `{"NumUpLinks":{"type":"uint","value":4}}`)},
		{"of an application", smallCreated(t), patch("application", "work", `{"ChakraConfiguration":{"Scaling":{"type":"bool","value":true}}}`),
			patched("application", "work", `{"ChakraConfiguration":{"Scaling":{"type":"bool","value":true}}}`)},
		{"of a link", smallCreated(t), patch("link", "layer", `{"LinksPerPair":{"type":"uint","value":2}}`),
			patched("link", "layer", `{"LinksPerPair":{"type":"uint","value":2}}`)},
		{"of all", smallCreated(t), patch("global", "", `{"SimulationParameters":{"Mtu":{"type":"bytes","value":1500,"unit":"B"}}}`),
			patched("global", "", `{"SimulationParameters":{"Mtu":{"type":"bytes","unit":"B","value":1500}}}`)},
		{"to its current value", smallCreated(t), patch("component", "leaf", `{"NumDownLinks":{"type":"uint","value":64}}`), nothing()},
		{"an empty patch", smallCreated(t), patch("component", "leaf", `{}`), refusal(fault.Validation)},
		{"of a link as a component", smallCreated(t), patch("component", "layer", `{"LinksPerPair":{"type":"uint","value":2}}`), refusal(fault.NotFound)},
		{"of a container", smallCreated(t), patch("component", "rack", `{"x":{"type":"uint","value":2}}`), refusal(fault.NotFound)},
		{"that is read-only", smallCreated(t), patch("application", "work", `{"ChakraConfiguration":{"NumOfChakraFiles":{"type":"uint","value":2}}}`), refusal(fault.Validation)},
		{"that the service sets", smallCreated(t), patch("global", "", `{"ComputeConfiguration":{"x":{"type":"uint","value":2}}}`), refusal(fault.Validation)},
	})
	after := configurationOf(and(smallCreated(t), events.ConfigurationParametersPatched{
		Version: 2, TargetKind: "component", Target: "leaf", Patch: `{"NumUpLinks":{"type":"uint","value":4}}`,
	}))
	if !strings.Contains(after.Document, `"NumUpLinks":{"type":"uint","value":4}`) || strings.Count(after.Document, `"NumUpLinks":`) != 1 {
		t.Errorf("want NumUpLinks once, with 4; got %s", after.Document)
	}
}

func TestAttachTraceset(t *testing.T) {
	t.Parallel()
	attach := commands.AttachTraceset{ID: "config_1", TracesetID: "ts_1", RankCount: 2}
	attached := events.ConfigurationTracesetAttached{Version: 2, TracesetID: "ts_1", RankCount: 2}
	detach := commands.DetachTraceset{ID: "config_1"}
	check(t, []example[commands.Configuration]{
		{"a traceset", smallCreated(t), attach, event(attached)},
		{"the same again", and(smallCreated(t), attached), attach, nothing()},
		{"without a chakra application", and(smallCreated(t), events.ConfigurationComponentRemoved{Version: 2, Name: "work"}), attach, refusal(fault.Validation)},
		{"to a missing configuration", nil, attach, refusal(fault.NotFound)},
		{"detached", and(smallCreated(t), attached), detach, event(events.ConfigurationTracesetDetached{Version: 3})},
		{"detached again", smallCreated(t), detach, refusal(fault.NotFound)},
	})
	old := events.ConfigurationCreated{Document: configurationOf(and(smallCreated(t), attached)).Document, TracesetID: "ts_1"}
	if ranks := configurationOf(given(old)).RankCount; ranks != 2 {
		t.Errorf("a configuration created before events recorded rank counts has %d ranks, want 2", ranks)
	}
	state := configurationOf(and(smallCreated(t), attached))
	if !strings.Contains(state.Document, `"NumOfChakraFiles":{"type":"uint","value":2}`) {
		t.Errorf("after attaching, want 2 ranks in %s", state.Document)
	}
	state.Evolve(events.Event{Data: events.ConfigurationTracesetDetached{Version: 3}})
	if state.Document != smallText(t) || state.TracesetID != "" || state.Version != 3 {
		t.Errorf("after detaching, version %d, traceset %q: %s", state.Version, state.TracesetID, state.Document)
	}
}

func TestUpdateConfiguration(t *testing.T) {
	t.Parallel()
	update := func(name, member, value string) commands.UpdateConfiguration {
		c := commands.UpdateConfiguration{ID: "config_1", Name: name}
		if member != "" {
			c.Members = []events.DocumentMember{{Member: member, Value: value}}
		}
		return c
	}
	stale := update("other", "", "")
	stale.Match = commands.Match{Given: true, Tags: []string{"3"}}
	traced := update("", "applications", "[]")
	traced.TracesetID, traced.RankCount = "ts_1", 2
	topology := `{"allowedComponents":["switch","layer","pod","rack"],"components":[{"count":4,"model":"leaf-rack-v1","name":"rack","type":"rack","version":"1.0.0"}],"topologyTiers":1,"type":"clos"}`
	check(t, []example[commands.Configuration]{
		{"its name", smallCreated(t), update("other", "", ""), event(events.ConfigurationUpdated{Version: 2, Name: "other", ComponentCount: 4})},
		{"the same name", smallCreated(t), update("small", "", ""), nothing()},
		{"a member", smallCreated(t), update("", "topology", `{"type":"clos","topologyTiers":1,"components":[{"name":"rack","type":"rack","count":4}]}`),
			event(events.ConfigurationUpdated{Version: 2, ComponentCount: 4, Members: []events.DocumentMember{{Member: "topology", Value: topology}}})},
		{"the same member", smallCreated(t), update("", "topology", `{"type":"clos","topologyTiers":1,"components":[{"name":"rack","type":"rack"}]}`), nothing()},
		{"with a name twice", smallCreated(t), update("", "containers", `[{"type":"rack","name":"nic"}]`), refusal(fault.Validation)},
		{"a traceset for no application", smallCreated(t), traced, refusal(fault.Validation)},
		{"another version", smallCreated(t), stale, refusal(fault.PreconditionFailed)},
		{"a document that is too large", smallCreated(t), update("", "topology", `{"type":"clos","components":[],"name":"`+strings.Repeat("x", document.MaxDocument)+`"}`), refusal(fault.PayloadTooLarge)},
	})
	after := configurationOf(and(smallCreated(t), events.ConfigurationUpdated{Version: 2, Members: []events.DocumentMember{{Member: "topology", Value: topology}}}))
	if !strings.Contains(after.Document, `"count":4`) || after.Status != commands.Draft {
		t.Errorf("status %s, want a draft with count 4: %s", after.Status, after.Document)
	}
}

func TestSetDistribution(t *testing.T) {
	t.Parallel()
	set := func(application, id string, value float64) commands.SetDistribution {
		return commands.SetDistribution{ID: "config_1", ParentApplication: application, DistributionID: id, Value: value}
	}
	shared := and(smallCreated(t), events.ConfigurationComponentAdded{
		Version: 2, Collection: "applications", Declaration: `{"type":"application","name":"gen"}`,
		Shares: []events.DistributionShare{{Name: "gen", ParentApplication: "gen", ApplicationType: "client", DistributionID: "c", Value: "1"}},
	})
	check(t, []example[commands.Configuration]{
		{"a share", shared, set("gen", "c", 0.1), event(events.ConfigurationParametersPatched{
			Version: 3, TargetKind: "distribution", Shares: []events.DistributionShare{{ParentApplication: "gen", DistributionID: "c", Value: "0.1"}},
		})},
		{"the same share", shared, set("gen", "c", 1), nothing()},
		{"an unknown entry", shared, set("gen", "d", 1), refusal(fault.NotFound)},
		{"of another application", shared, set("work", "c", 1), refusal(fault.NotFound)},
		{"without a distribution", smallCreated(t), set("gen", "c", 1), refusal(fault.Validation)},
	})
}
