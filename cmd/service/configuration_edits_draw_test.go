package service_test

import (
	"fmt"
	"maps"
	"net/url"
	"slices"

	"pgregory.net/rapid"
)

// edit is a request to change a configuration, and the same change to the model.
type edit struct {
	method, path string // path below the configuration's path
	body         any
	row          int  // row of the table in completions 3.5
	malformed    bool // the contract refuses the request with 400
	apply        func(*versionModel) answer
}

func (e edit) String() string { return fmt.Sprintf("%s %s %v", e.method, e.path, e.body) }

// parameters is a patch of a parameter tree.
type parameters struct {
	patch     object
	forbidden string // the model whose parameters refuse the patch (completions 3.7), or "everywhere"
}

// generator draws edits. There are only a few names, so edits often conflict.
type generator struct {
	*rapid.T
	number float64 // used in values; unique in tests where every edit must change something
	past   []*versionModel
}

func (p generator) of(label string, choices ...string) string {
	return rapid.SampledFrom(choices).Draw(p.T, label)
}

// named returns the names of the parts of each kind.
func named() map[string][]string {
	return map[string][]string{
		"switch": {"leaf", "spine"}, "nic": {"nic", "spare"}, "gpu": {"gpu"}, "server": {"server", "bare"},
		"rack": {"rack", "shelf"}, "pod": {"pod"}, "layer": {"layer"}, "application": {"work", "gen", "idle"},
	}
}

// models returns the models of a kind.
func models(kind string) []string {
	return map[string][]string{
		"switch": {"clos-switch-v1"}, "nic": {"roce-nic-v1"}, "gpu": {"gpu-v1"}, "server": {"gpu-server-v1"},
		"rack": {"leaf-rack-v1"}, "pod": {"pod-v1"}, "layer": {"ethernet-layer-v1"},
		"application": {"chakra-workload-v1", "traffic-generator-v1"},
	}[kind]
}

// name draws a name, usually one of the kind and sometimes one of any kind.
func (p generator) name(kind string) string {
	if rapid.IntRange(0, 5).Draw(p.T, "stray") == 0 {
		kind = p.kind()
	}
	return p.of("name", named()[kind]...)
}

func (p generator) kind() string { return p.of("kind", slices.Sorted(maps.Keys(named()))...) }

// edit draws a request for one of the mutating operations in completions 3.5.
func (p generator) edit() edit {
	return rapid.SampledFrom([]func() edit{
		p.addApplication, p.addComponent, p.addComponent, p.remove, p.removeApplication, p.patch, p.patch,
		p.addReference, p.addReference, p.addReference, p.changeReference, p.changeReference, p.removeReference, p.distribute, p.distribute,
		p.attachTraceset, p.attachTraceset, p.detachTraceset, p.attachMapping, p.attachMapping, p.detachMapping, p.replace, p.replace,
	}).Draw(p.T, "operation")()
}

func (p generator) addApplication() edit {
	name, model := p.name("application"), p.of("model", append(models("application"), "gpu-v1")...)
	return edit{"POST", "/applications?" + url.Values{"name": {name}, "modelId": {model}}.Encode(), nil, 7, false,
		func(s *versionModel) answer { return s.declare(model, "application", name) }}
}

func (p generator) addComponent() edit {
	kind := p.kind()
	name, model := p.name(kind), models(kind)[0]
	if rapid.IntRange(0, 9).Draw(p.T, "odd") == 0 {
		model = "clos-switch-v9"
	}
	return edit{"POST", "/components?" + url.Values{"name": {name}, "modelId": {model}, "type": {kind}}.Encode(), nil, 11, kind == "application",
		func(s *versionModel) answer { return s.declare(model, kind, name) }}
}

func (p generator) remove() edit {
	name := p.name(p.kind())
	return edit{"DELETE", "/components/" + name, nil, 12, false, func(s *versionModel) answer { return s.remove(name, false) }}
}

func (p generator) removeApplication() edit {
	name := p.name("application")
	return edit{"DELETE", "/applications/" + name, nil, 8, false, func(s *versionModel) answer { return s.remove(name, true) }}
}

func leaf(kind string, value any, unit ...string) object {
	l := object{"type": kind, "value": value}
	if unit != nil {
		l["unit"] = unit[0]
	}
	return l
}

// patch draws a patch of any parameter tree. Most patches have only parameters that
// the tree has.
func (p generator) patch() edit {
	n := p.number
	everywhere := []parameters{
		{object{}, "everywhere"}, {object{"NoSuch": leaf("uint", 1.0)}, "everywhere"},
		{object{"NumUpLinks": leaf("uint", "many")}, "everywhere"},
	}
	of := map[string][]parameters{
		"switch": {
			{object{"NumUpLinks": leaf("uint", n), "EcmpHashMethod": leaf("string", "crc32")}, ""},
			{object{"NumUpLinks": leaf("uint", n), "EcmpHashMethod": leaf("string", "md5")}, "everywhere"},
			{object{"NetworkInterface": object{"TransmissionMedium": object{"Delay": leaf("timeval", n+0.5, "ns")}}}, ""},
			{object{"NetworkInterface": object{"TransmissionMedium": object{"Delay": leaf("timeval", n)}}}, "everywhere"},
			{object{"NetworkInterface": object{}}, "everywhere"},
			{object{"NetworkInterface": leaf("uint", n)}, "everywhere"},
			{object{"NumDownLinks": leaf("uint", n)}, "roce-nic-v1"},
		},
		"nic":    {{object{"Transport": object{"MSS": leaf("bytes", n, "KiB")}}, ""}, {object{"NumDownLinks": leaf("uint", n)}, "roce-nic-v1"}},
		"gpu":    {{object{"ComputeScale": leaf("double", 1/(1+n))}, ""}},
		"server": {{object{"LogicalGroupId": leaf("uint", n)}, ""}},
		"layer":  {{object{"LinksPerPair": leaf("uint", n), "Wiring": leaf("string", "full-mesh")}, ""}},
		"application": {
			{object{"LogicalGroupId": leaf("uint", n), "ChakraConfiguration": object{"Scaling": leaf("bool", true)}}, ""},
			{object{"LogicalGroupId": leaf("uint", n), "ChakraConfiguration": object{"UseMapping": leaf("bool", true)}}, ""},
			{object{"ChakraConfiguration": object{"NumOfChakraFiles": leaf("uint", n)}}, "everywhere"},
			{object{"MessageSize": leaf("bytes", n, "KB")}, ""},
			{object{"TrafficPattern": leaf("string", "a;b")}, "everywhere"},
		},
		"global": {
			{object{"SimulationParameters": object{"RandomSeed": leaf("uint", n)}}, ""},
			{object{"SimulationParameters": object{"Mtu": leaf("bytes", n, "B"), "RunTime": leaf("timeval", n, "ms")}}, ""},
			{object{"SoftwareVersion": object{"Version": leaf("string", "2")}}, "everywhere"},
			{object{"ComputeConfiguration": object{"A": leaf("uint", n)}}, "everywhere"},
		},
	}
	kind := p.of("of", slices.Sorted(maps.Keys(of))...)
	c := rapid.SampledFrom(append(of[kind], everywhere[int(n)%len(everywhere)])).Draw(p.T, "patch")
	member, name, path, row := "components", "", "/parameters", 13
	switch kind {
	case "global":
		return edit{"PATCH", path, c.patch, 25, len(c.patch) == 0, func(s *versionModel) answer { return s.patch("", "", c) }}
	case "application":
		member, row = "applications", 9
	case "layer":
		member, row = "links", 24
	}
	name = p.name(kind)
	return edit{"PATCH", "/" + member + "/" + name + path, c.patch, row, len(c.patch) == 0, func(s *versionModel) answer { return s.patch(member, name, c) }}
}

// holder draws a part with references, and returns the kinds that it may refer to.
func (p generator) holder() (in, name string, allowed []string, row int) {
	switch p.of("in", "topology", "containers", "configurations") {
	case "topology":
		return "topology", "", []string{"switch", "layer", "pod", "rack"}, 27
	case "containers":
		return "containers", p.name(p.of("container", "rack", "pod")), []string{"switch", "server", "rack"}, 18
	}
	return "configurations", p.name("server"), []string{"nic", "gpu", "application"}, 14
}

func (p generator) addReference() edit {
	in, holder, allowed, row := p.holder()
	kind := p.of("type", append(allowed, "server")...)
	ref := object{"name": p.name(kind), "type": kind, "count": p.number}
	if in != "topology" && rapid.Bool().Draw(p.T, "grouped") {
		ref["group"] = "g"
	}
	if kind == "application" {
		ref["parentApplicationName"] = p.name("application")
	}
	return edit{"PATCH", "/" + in + below(holder), ref, row, !slices.Contains(allowed, kind),
		func(s *versionModel) answer { return s.addReference(in, holder, ref) }}
}

func below(name string) string {
	if name == "" {
		return ""
	}
	return "/" + name
}

// referred draws a reference, and returns its holder, name and path.
func (p generator) referred() (in, holder, name, path string, row int) {
	in, holder, allowed, row := p.holder()
	name = p.name(p.of("type", allowed...))
	if in == "topology" {
		return in, holder, name, "/topology/" + name, row + 1
	}
	return in, holder, name, "/" + in + "/" + holder + "/components/" + name, row + 1
}

func (p generator) changeReference() edit {
	in, holder, name, path, row := p.referred()
	change := object{"count": p.number}
	if in != "topology" && rapid.Bool().Draw(p.T, "regrouped") {
		change["group"] = p.of("group", "", "h")
	}
	if rapid.IntRange(0, 9).Draw(p.T, "empty") == 0 {
		change = object{}
	}
	return edit{"PATCH", path, change, row, len(change) == 0, func(s *versionModel) answer { return s.changeReference(in, holder, name, change) }}
}

func (p generator) removeReference() edit {
	in, holder, name, path, row := p.referred()
	return edit{"DELETE", path, nil, row + 1, false, func(s *versionModel) answer { return s.removeReference(in, holder, name) }}
}

func (p generator) distribute() edit {
	application, kind, value := p.name("application"), p.of("side", "client", "server"), 1/p.number
	id := application + "-" + kind
	return edit{"PATCH", "/distribution", object{"parentApplication": application, "distributionId": id, "value": value}, 22, false,
		func(s *versionModel) answer { return s.distribute(application, id, value) }}
}

func (p generator) traceset() string {
	return p.of("traceset", append(slices.Sorted(maps.Keys(p.past[0].account.ranks)), "ts_00000000000000000000000000")...)
}

func (p generator) attachTraceset() edit {
	id := p.traceset()
	return edit{"PATCH", "/traceset", object{"tracesetId": id}, 31, false, func(s *versionModel) answer { return s.attachTraceset(id) }}
}

func (p generator) detachTraceset() edit {
	return edit{"DELETE", "/traceset", nil, 37, false, (*versionModel).detachTraceset}
}

// replace draws a PATCH that replaces members with those of an older version, the name,
// or the traceset.
func (p generator) replace() edit {
	old := rapid.SampledFrom(p.past).Draw(p.T, "old")
	members := object{}
	for _, m := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{
		"name", "components", "containers", "applications", "links", "topology", "globalParameters", "activeTraceset",
	}), 0, 3, rapid.ID[string]).Draw(p.T, "members") {
		switch m {
		case "name":
			members[m] = rapid.SampledFrom([]any{nil, fmt.Sprint("name ", p.number)}).Draw(p.T, "new name")
		case "activeTraceset":
			members[m] = object{"id": p.traceset()}
		default:
			members[m] = copyOf(old.Doc[m])
		}
	}
	return edit{"PATCH", "", members, 4, len(members) == 0, func(s *versionModel) answer {
		if t, ok := members["activeTraceset"].(object); ok && s.account.ranks[t["id"].(string)] == 0 {
			return refused(400)
		}
		return s.replace(members)
	}}
}
