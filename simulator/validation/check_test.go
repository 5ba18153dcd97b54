package validation_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/simulator/document"
	"netsim/simulator/validation"
)

// pods is a document with two switches above two pods and a rack of faster
// servers. Each pod has two racks of two servers.
const pods = `{
	"components": [
		{"type": "switch", "model": "clos-switch-v1", "name": "ssw", "version": "1.0.0", "typedParameters": {"NumUpLinks": {"value": 0, "type": "uint"}}},
		{"type": "switch", "model": "clos-switch-v1", "name": "fsw", "version": "1.0.0", "typedParameters": {"NumUpLinks": {"value": 2, "type": "uint"}}},
		{"type": "switch", "model": "clos-switch-v1", "name": "leaf", "version": "1.0.0", "typedParameters": {"NumUpLinks": {"value": 2, "type": "uint"}}},
		{"type": "switch", "model": "clos-switch-v1", "name": "fast-leaf", "version": "1.0.0", "typedParameters": {"NumUpLinks": {"value": 2, "type": "uint"},
			"NetworkInterface": {"DownlinkNetworkInterface": {"DataRate": {"value": 800, "type": "datarate", "unit": "Gbps"}}}}},
		{"type": "nic", "model": "roce-nic-v1", "name": "nic", "version": "1.0.0"},
		{"type": "nic", "model": "roce-nic-v1", "name": "fast-nic", "version": "1.0.0", "typedParameters": {
			"NetworkInterface": {"UplinkNetworkInterface": {"DataRate": {"value": 800, "type": "datarate", "unit": "Gbps"}}}}},
		{"type": "server", "model": "gpu-server-v1", "name": "server", "version": "1.0.0", "components": [{"name": "nic", "type": "nic"}]},
		{"type": "server", "model": "gpu-server-v1", "name": "fast-server", "version": "1.0.0", "components": [{"name": "fast-nic", "type": "nic", "count": 2}]}],
	"containers": [
		{"type": "rack", "name": "rack", "model": "leaf-rack-v1", "version": "1.0.0",
			"components": [{"name": "leaf", "type": "switch"}, {"name": "server", "type": "server", "count": 2}]},
		{"type": "rack", "name": "fast-rack", "model": "leaf-rack-v1", "version": "1.0.0",
			"components": [{"name": "fast-leaf", "type": "switch"}, {"name": "fast-server", "type": "server", "count": 2}]},
		{"type": "pod", "name": "pod", "model": "pod-v1", "version": "1.0.0",
			"components": [{"name": "fsw", "type": "switch", "count": 2}, {"name": "rack", "type": "rack", "count": 2}]}],
	"applications": [{"type": "application", "trafficType": "chakra", "name": "workload", "model": "chakra-workload-v1", "version": "1.0.0"}],
	"links": [{"type": "layer", "model": "ethernet-layer-v1", "name": "layer", "version": "1.0.0"}],
	"topology": {"type": "clos", "topologyTiers": 3, "components": [
		{"name": "ssw", "type": "switch", "count": 2}, {"name": "pod", "type": "pod", "count": 2},
		{"name": "fast-rack", "type": "rack"}, {"name": "layer", "type": "layer"}]},
	"globalParameters": {}}`

func completed(t testing.TB, text string) *document.Document {
	t.Helper()
	d, err := document.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := validation.Complete(d); err != nil {
		t.Fatal(err)
	}
	return d
}

// ready returns attachments with a ready traceset of this many ranks.
func ready(ranks int64) validation.Attachments {
	return validation.Attachments{Traceset: &validation.Traceset{Status: "ready", Ranks: ranks}}
}

// documented returns the codes of completions.md 3.6 with their severities.
func documented() map[string]string {
	return map[string]string{
		"CONSTRAINT_VIOLATION": "error", "PREPROCESSOR_VALIDATION_NOTE": "info",
		"UNKNOWN_MODEL": "error", "UNKNOWN_REFERENCE": "error", "UNREFERENCED_COMPONENT": "info",
		"PARAMETER_NOT_IN_ENUM": "error", "PARAMETER_OUT_OF_RANGE": "error", "PARAMETER_UNIT_INVALID": "error", "PARAMETER_MISSING": "error",
		"TOPOLOGY_EMPTY": "error", "TIER_MISMATCH": "error", "DISCONNECTED": "error",
		"PORT_BUDGET_EXCEEDED": "warning", "SWITCH_OVERSUBSCRIBED": "warning",
		"SERVER_WITHOUT_NIC": "error", "NIC_NOT_SUPPORTED": "error",
		"APPLICATION_REQUIRED": "error", "APPLICATION_NOT_ALONE": "error", "DISTRIBUTION_SUM": "error", "LOGICAL_GROUP_MISMATCH": "error",
		"TRACESET_REQUIRED": "error", "TRACESET_DELETED": "error", "TRACESET_NOT_READY": "error",
		"RANKS_EXCEED_SERVERS": "error", "SERVERS_EXCEED_RANKS": "warning", "ALGORITHM_NEEDS_POWER_OF_TWO": "error",
		"MAPPING_FILE_DELETED": "error", "MAPPING_RANK_COUNT_MISMATCH": "error", "MAPPING_SERVER_UNKNOWN": "error",
	}
}

// listed returns findings as "CODE path", sorted and without the note that the
// topology was derived. It also checks the form of the findings.
func listed(t testing.TB, d *document.Document, findings []validation.Finding) []string {
	t.Helper()
	list := []string{}
	for _, f := range findings {
		if severity := documented()[f.Code]; severity != f.Severity {
			t.Errorf("%s is of severity %q, want %q", f.Code, f.Severity, severity)
		}
		if f.Code != "PREPROCESSOR_VALIDATION_NOTE" {
			list = append(list, strings.TrimSpace(f.Code+" "+f.Path))
			if !strings.Contains(f.Message, "; ") {
				t.Errorf("%s does not say what to do: %s", f.Code, f.Message)
			}
		}
		if f.Path != "" && !resolves(t, d, f.Path) {
			t.Errorf("%s: the path %s leads nowhere", f.Code, f.Path)
		}
	}
	slices.Sort(list)
	return list
}

func leaf(p document.Params, path string) *document.Leaf {
	for {
		step, rest, deeper := strings.Cut(path, ".")
		if !deeper {
			return p[step].Leaf
		}
		p, path = p[step].Branch, rest
	}
}

func component(d *document.Document, name string) *document.Component {
	return &d.Components[slices.IndexFunc(d.Components, func(c document.Component) bool { return c.Name == name })]
}

// set returns an edit that sets a parameter of the holder; "" holds the global parameters.
func set(holder, path string, value any) func(*document.Document) {
	return func(d *document.Document) {
		switch holder {
		case "workload":
			leaf(d.Applications[0].TypedParameters, path).Value = value
		case "":
			leaf(d.GlobalParameters, path).Value = value
		case "layer":
			leaf(d.Links[0].TypedParameters, path).Value = value
		default:
			leaf(component(d, holder).TypedParameters, path).Value = value
		}
	}
}

func sequence(edits ...func(*document.Document)) func(*document.Document) {
	return func(d *document.Document) {
		for _, edit := range edits {
			edit(d)
		}
	}
}

type row struct {
	edit func(*document.Document)
	want []string
}

// checkRows checks the findings about the document after the edit of each row.
func checkRows(t *testing.T, text string, with validation.Attachments, rows map[string]row) {
	t.Helper()
	for name, c := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := completed(t, text)
			if c.edit != nil {
				c.edit(d)
			}
			findings, fabric := validation.Survey(d, with)
			if diff := cmp.Diff(append([]string{}, c.want...), listed(t, d, findings)); diff != "" {
				t.Errorf("findings (-want +got):\n%s\n%+v", diff, findings)
			}
			noted := slices.ContainsFunc(findings, func(f validation.Finding) bool { return f.Code == "PREPROCESSOR_VALIDATION_NOTE" })
			if noted != (fabric != nil) {
				t.Errorf("note of the derived topology: %t, fabric: %t; want both or neither", noted, fabric != nil)
			}
			if again := validation.Check(d, with); !cmp.Equal(findings, again) {
				t.Errorf("a second check has other findings: %+v", again)
			}
		})
	}
}

func entries(values ...float64) func(*document.Document) {
	return func(d *document.Document) {
		a := &document.AppDistribution{}
		for i, v := range values {
			a.Entries = append(a.Entries, document.Entry{
				Name: "e", ParentApplication: "workload", ApplicationType: []string{"client", "server"}[i%2],
				DistributionPercent: document.Percent{DistributionID: "e", Value: v},
			})
		}
		d.Topology.AppDistribution = a
	}
}

func TestCheckDeclarations(t *testing.T) {
	t.Parallel()
	checkRows(t, rack, ready(8), map[string]row{
		"nothing wrong":    {},
		"an unknown model": {func(d *document.Document) { component(d, "server").Model = "other-server-v1" }, []string{"UNKNOWN_MODEL $.components[2].model"}},
		"an id for a model": {func(d *document.Document) { component(d, "server").Model = "model_0000000000e008000000000001" },
			[]string{"UNKNOWN_MODEL $.components[2].model"}},
		"an unknown version":      {func(d *document.Document) { d.Containers[0].Version = "9.0.0" }, []string{"UNKNOWN_MODEL $.containers[0].version"}},
		"a model of another type": {func(d *document.Document) { component(d, "leaf").Model = "gpu-v1" }, []string{"CONSTRAINT_VIOLATION $.components[0].type"}},
		"another kind of traffic": {func(d *document.Document) { d.Applications[0].TrafficType = "non-coordinated" }, []string{"CONSTRAINT_VIOLATION $.applications[0].trafficType"}},
		"a rack as component":     {func(d *document.Document) { component(d, "server").Type = "rack" }, []string{"CONSTRAINT_VIOLATION $.components[2].components[0]", "CONSTRAINT_VIOLATION $.components[2].type", "CONSTRAINT_VIOLATION $.containers[0].components[1].type"}},
		"a name twice":            {func(d *document.Document) { d.Applications[0].Name = "rack" }, []string{"CONSTRAINT_VIOLATION $.applications[0].name"}},
		"a missing reference":     {func(d *document.Document) { d.Containers[0].Components[1].Name = "ghost" }, []string{"UNKNOWN_REFERENCE $.containers[0].components[1].name", "UNREFERENCED_COMPONENT $.components[1]", "UNREFERENCED_COMPONENT $.components[2]"}},
		"a reference's type":      {func(d *document.Document) { d.Containers[0].Components[1].Type = "switch" }, []string{"CONSTRAINT_VIOLATION $.containers[0].components[1].type"}},
		"a rack in itself":        {func(d *document.Document) { d.Containers[0].Components[0] = document.Ref{Name: "rack", Type: "rack"} }, []string{"CONSTRAINT_VIOLATION $.containers[0].components[0]", "UNREFERENCED_COMPONENT $.components[0]"}},
		"a nic in a rack":         {func(d *document.Document) { d.Containers[0].Components[0] = document.Ref{Name: "nic", Type: "nic"} }, []string{"CONSTRAINT_VIOLATION $.containers[0].components[0]", "UNREFERENCED_COMPONENT $.components[0]"}},
		"a child of a switch": {func(d *document.Document) {
			component(d, "leaf").Components = []document.Ref{{Name: "nic", Type: "nic"}}
		}, []string{"CONSTRAINT_VIOLATION $.components[0].components[0]"}},
		"an application on a host": {func(d *document.Document) {
			addRef(d, "server", document.Ref{Name: "workload", Type: "application", ParentApplicationName: "workload"})
		}, nil},
		"a missing parent application": {func(d *document.Document) {
			addRef(d, "server", document.Ref{Name: "workload", Type: "application", ParentApplicationName: "ghost"})
		}, []string{"UNKNOWN_REFERENCE $.components[2].components[1].parentApplicationName"}},
		"an unreferenced component": {func(d *document.Document) {
			spare := *component(d, "nic")
			spare.Name = "spare"
			d.Components = append(d.Components, spare)
		}, []string{"UNREFERENCED_COMPONENT $.components[3]"}},
	})
}

func addRef(d *document.Document, server string, ref document.Ref) {
	c := component(d, server)
	c.Components = append(c.Components, ref)
}

func TestCheckParameters(t *testing.T) {
	t.Parallel()
	const leafAt = "$.components[0].typedParameters."
	missing := func(d *document.Document) { delete(component(d, "leaf").TypedParameters, "NumUpLinks") }
	checkRows(t, rack, ready(8), map[string]row{
		"one is missing":      {missing, []string{"PARAMETER_MISSING " + leafAt + "NumUpLinks"}},
		"a branch is missing": {func(d *document.Document) { delete(component(d, "leaf").TypedParameters, "LoadBalancingFlowlet") }, []string{"PARAMETER_MISSING " + leafAt + "LoadBalancingFlowlet.Gap"}},
		"a global is missing": {func(d *document.Document) { delete(d.GlobalParameters["SimulationParameters"].Branch, "Mtu") }, []string{"PARAMETER_MISSING $.globalParameters.SimulationParameters.Mtu"}},
		"a section instead": {func(d *document.Document) {
			component(d, "leaf").TypedParameters["NumUpLinks"] = document.Param{Branch: document.Params{}}
		}, []string{"CONSTRAINT_VIOLATION " + leafAt + "NumUpLinks"}},
		"another type":         {func(d *document.Document) { leaf(component(d, "leaf").TypedParameters, "NumUpLinks").Type = "double" }, []string{"CONSTRAINT_VIOLATION " + leafAt + "NumUpLinks"}},
		"a fraction":           {set("leaf", "NumUpLinks", 1.5), []string{"CONSTRAINT_VIOLATION " + leafAt + "NumUpLinks"}},
		"not a number":         {set("leaf", "SwitchingCapacity", math.NaN()), []string{"CONSTRAINT_VIOLATION " + leafAt + "SwitchingCapacity"}},
		"a list":               {set("leaf", "NumUpLinks", []any{1.0}), []string{"CONSTRAINT_VIOLATION " + leafAt + "NumUpLinks"}},
		"a list for a group":   {set("server", "LogicalGroupId", []any{1.0}), []string{"CONSTRAINT_VIOLATION $.components[2].typedParameters.LogicalGroupId"}},
		"no unit":              {func(d *document.Document) { leaf(component(d, "leaf").TypedParameters, "SwitchingCapacity").Unit = "" }, []string{"PARAMETER_UNIT_INVALID " + leafAt + "SwitchingCapacity"}},
		"an unwanted unit":     {func(d *document.Document) { leaf(component(d, "leaf").TypedParameters, "NumUpLinks").Unit = "B" }, []string{"PARAMETER_UNIT_INVALID " + leafAt + "NumUpLinks"}},
		"not in the enum":      {set("leaf", "EcmpHashMethod", "md5"), []string{"PARAMETER_NOT_IN_ENUM " + leafAt + "EcmpHashMethod"}},
		"in the enum":          {set("leaf", "EcmpHashMethod", "hash"), nil},
		"no engine":            {set("", "EngineParameters.Engine", "other"), []string{"PARAMETER_NOT_IN_ENUM $.globalParameters.EngineParameters.Engine"}},
		"the maximum":          {set("leaf", "LoadBalancingFlowlet.Gap", 2e6), nil},
		"above the maximum":    {set("leaf", "LoadBalancingFlowlet.Gap", 2e6+1), []string{"PARAMETER_OUT_OF_RANGE " + leafAt + "LoadBalancingFlowlet.Gap"}},
		"the minimum":          {set("nic", "Transport.MSS", 1.0), nil},
		"below the minimum":    {set("nic", "Transport.MSS", 0.0), []string{"PARAMETER_OUT_OF_RANGE $.components[1].typedParameters.Transport.MSS"}},
		"negative":             {set("nic", "Transport.HeaderSize", -1.0), []string{"PARAMETER_OUT_OF_RANGE $.components[1].typedParameters.Transport.HeaderSize"}},
		"a day":                {set("", "SimulationParameters.StartTime", 86400.0), nil},
		"no room for a packet": {sequence(set("", "SimulationParameters.Mtu", 64.0), set("nic", "Transport.HeaderSize", 64.0)), []string{"CONSTRAINT_VIOLATION $"}},
		"an unknown parameter": {func(d *document.Document) {
			component(d, "leaf").TypedParameters["Other"] = document.Param{Leaf: &document.Leaf{Value: 1.0, Type: "uint"}}
		}, []string{"CONSTRAINT_VIOLATION " + leafAt + "Other"}},
		"a dot in a name": {func(d *document.Document) {
			p := component(d, "leaf").TypedParameters
			p["LoadBalancingFlowlet.Gap"] = p["LoadBalancingFlowlet"].Branch["Gap"]
		}, []string{"CONSTRAINT_VIOLATION $.components[0].typedParameters['LoadBalancingFlowlet.Gap']"}},
		"quotes in a name": {func(d *document.Document) {
			component(d, "leaf").TypedParameters["it's\n\\"] = document.Param{Leaf: &document.Leaf{Value: 1.0, Type: "uint"}}
		}, []string{`CONSTRAINT_VIOLATION $.components[0].typedParameters['it\'s\u000a\\']`}},
	})
}

func TestCheckTopology(t *testing.T) {
	t.Parallel()
	top := func(i, count int) func(*document.Document) {
		return func(d *document.Document) { d.Topology.Components[i].Count = count }
	}
	tiers := func(n int) func(*document.Document) {
		return func(d *document.Document) { d.Topology.TopologyTiers = n }
	}
	without := func(i int) func(*document.Document) {
		return func(d *document.Document) { d.Topology.Components = slices.Delete(d.Topology.Components, i, i+1) }
	}
	checkRows(t, pods, ready(10), map[string]row{
		"nothing wrong": {},
		"two layers": {func(d *document.Document) {
			d.Topology.Components = append(d.Topology.Components, d.Topology.Components[3])
		}, []string{"CONSTRAINT_VIOLATION $.topology.components[4]"}},
		"a layer with a count of 2":        {top(3, 2), []string{"CONSTRAINT_VIOLATION $.topology.components[3].count"}},
		"other tiers":                      {tiers(2), []string{"TIER_MISMATCH $.topology.topologyTiers"}},
		"no switch above":                  {without(0), []string{"DISCONNECTED $.topology", "TIER_MISMATCH $.topology", "UNREFERENCED_COMPONENT $.components[0]"}},
		"no server":                        {func(d *document.Document) { d.Topology.Components = d.Topology.Components[:1] }, append([]string{"RANKS_EXCEED_SERVERS $.applications[0]", "TOPOLOGY_EMPTY $.topology"}, unreferenced("components", 1, 2, 3, 4, 5, 6, 7, "containers", 0, 1, 2, "links", 0)...)},
		"too many servers":                 {top(1, 1<<53), []string{"CONSTRAINT_VIOLATION $.topology", "SERVERS_EXCEED_RANKS $.applications[0]"}},
		"too many links":                   {sequence(top(0, 1000), set("fsw", "NumUpLinksPerSwitch", 65536.0)), []string{"CONSTRAINT_VIOLATION $.topology"}},
		"disconnected pods":                {set("fsw", "NumUpLinks", 0.0), []string{"DISCONNECTED $.topology"}},
		"a disconnected rack":              {set("fast-leaf", "NumUpLinks", 0.0), []string{"DISCONNECTED $.topology"}},
		"pods on different spine switches": {sequence(top(0, 9), set("fsw", "NumUpLinks", 1.0)), []string{"DISCONNECTED $.topology"}},
		"pods joined by a mesh":            {sequence(set("layer", "Wiring", "full-mesh"), set("fsw", "NumUpLinks", 0.0)), nil},
		"racks in a bare pod": {func(d *document.Document) { d.Containers[2].Components = d.Containers[2].Components[1:] },
			[]string{"DISCONNECTED $.containers[2].components", "UNREFERENCED_COMPONENT $.components[1]"}},
		"servers in a bare rack": {func(d *document.Document) { d.Containers[1].Components = d.Containers[1].Components[1:] },
			[]string{"DISCONNECTED $.containers[1].components", "UNREFERENCED_COMPONENT $.components[3]"}},
		"racks below switches": {sequence(without(1), tiers(2), func(d *document.Document) { d.Topology.Components[1].Count = 5 }),
			append([]string{}, unreferenced("components", 1, 2, 4, 6, "containers", 0, 2)...)},
		"as many ports":       {sequence(set("leaf", "NumDownLinks", 2.0), set("fast-leaf", "NumDownLinks", 4.0)), nil},
		"too few ports":       {set("fast-leaf", "NumDownLinks", 3.0), []string{"PORT_BUDGET_EXCEEDED $.components[3].typedParameters"}},
		"as much capacity":    {set("fast-leaf", "SwitchingCapacity", 4*800.0+2*400), nil},
		"too little capacity": {set("fast-leaf", "SwitchingCapacity", 4*800.0+2*400-1), []string{"SWITCH_OVERSUBSCRIBED $.components[3].typedParameters.SwitchingCapacity"}},
	})
}

// unreferenced lists the findings about elements. Each collection is followed by its indices.
func unreferenced(elements ...any) []string {
	var list []string
	collection := ""
	for _, p := range elements {
		if s, ok := p.(string); ok {
			collection = s
			continue
		}
		list = append(list, "UNREFERENCED_COMPONENT $."+collection+"["+string(rune('0'+p.(int)))+"]")
	}
	return list
}

func TestCheckApplications(t *testing.T) {
	t.Parallel()
	otherNIC := func(d *document.Document) { component(d, "nic").Model = "other-nic-v1" }
	bare := func(d *document.Document) { component(d, "server").Components = nil }
	traffic := func(d *document.Document) {
		d.Applications[0] = completed(t, strings.NewReplacer("chakra-workload-v1", "traffic-generator-v1", `"coordinated"`, `"non-coordinated"`).Replace(rack)).Applications[0]
	}
	role := func(kind string) func(*document.Document) { // kind is the role of the first entry
		return func(d *document.Document) {
			d.Topology.AppDistribution = &document.AppDistribution{Entries: []document.Entry{
				{Name: "a", ParentApplication: "workload", ApplicationType: kind, DistributionPercent: document.Percent{DistributionID: "a", Value: 1}},
				{Name: "b", ParentApplication: "workload", ApplicationType: "server", DistributionPercent: document.Percent{DistributionID: "b", Value: 0}},
				{Name: "c", ParentApplication: "other", ApplicationType: "server", DistributionPercent: document.Percent{DistributionID: "c", Value: 1}},
			}}
		}
	}
	applications := func(n int) func(*document.Document) {
		return func(d *document.Document) {
			first := d.Applications[0]
			for i := 1; i < n; i++ {
				next := first
				next.Name = fmt.Sprintf("more-%d", i)
				d.Applications = append(d.Applications, next)
			}
		}
	}
	renameSecond := func(d *document.Document) { d.Applications[1].Name = "other" }
	checkRows(t, rack, ready(8), map[string]row{
		"clients and no server":  {sequence(traffic, applications(2), renameSecond, role("client")), []string{"CONSTRAINT_VIOLATION $.applications"}},
		"as many as are allowed": {sequence(traffic, applications(64)), nil},
		"more than are allowed":  {sequence(traffic, applications(65)), []string{"CONSTRAINT_VIOLATION $.applications"}},
		"no application":         {func(d *document.Document) { d.Applications = nil }, []string{"APPLICATION_REQUIRED $.applications"}},
		"two": {func(d *document.Document) {
			second := d.Applications[0]
			second.Name = "second"
			d.Applications = append(d.Applications, second)
		}, []string{"APPLICATION_NOT_ALONE $.applications[0]"}},
		"another model of nic":  {otherNIC, []string{"NIC_NOT_SUPPORTED $.components[2].components[0]", "UNKNOWN_MODEL $.components[1].model"}},
		"no nic":                {bare, []string{"RANKS_EXCEED_SERVERS $.applications[0]", "SERVER_WITHOUT_NIC $.components[2].components", "UNREFERENCED_COMPONENT $.components[1]"}},
		"no nic, other traffic": {sequence(bare, traffic), []string{"DISCONNECTED $.components[2].components", "UNREFERENCED_COMPONENT $.components[1]"}},
		"other traffic":         {traffic, nil},
		"the servers' group":    {set("server", "LogicalGroupId", 3.0), []string{"LOGICAL_GROUP_MISMATCH $.applications[0].typedParameters.LogicalGroupId"}},
		"both groups":           {sequence(set("server", "LogicalGroupId", 3.0), set("workload", "LogicalGroupId", 3.0)), nil},
		"sums of 1":             {entries(0.25, 0.5, 0.75, 0.5), nil},
		"sums of nearly 1":      {entries(0.5, 1, 0.5+1e-10), nil},
		"a sum below 1":         {entries(0.5, 1), []string{"DISTRIBUTION_SUM $.topology.appDistribution.randomApplicationDistribution"}},
		"sums not quite 1":      {entries(1-1e-8, 1+1e-8), []string{"DISTRIBUTION_SUM $.topology.appDistribution.randomApplicationDistribution", "DISTRIBUTION_SUM $.topology.appDistribution.randomApplicationDistribution"}},
		"not a number":          {entries(math.NaN()), []string{"DISTRIBUTION_SUM $.topology.appDistribution.randomApplicationDistribution"}},
		"no entries":            {entries(), nil},
		"an entry of a missing application": {sequence(entries(1), func(d *document.Document) { d.Topology.AppDistribution.Entries[0].ParentApplication = "ghost" }),
			[]string{"UNKNOWN_REFERENCE $.topology.appDistribution.randomApplicationDistribution[0].parentApplication"}},
	})
}

func TestCheckTraceset(t *testing.T) {
	t.Parallel()
	halving := set("workload", "ChakraConfiguration.AllReduceAlgorithm", "halving-doubling")
	for name, c := range map[string]struct {
		traceset *validation.Traceset
		edit     func(*document.Document)
		want     string
	}{
		"none":                {nil, nil, "TRACESET_REQUIRED $.applications[0]"},
		"deleted":             {&validation.Traceset{Status: "deleted"}, nil, "TRACESET_DELETED $.applications[0]"},
		"processing":          {&validation.Traceset{Status: "processing"}, nil, "TRACESET_NOT_READY $.applications[0]"},
		"as many ranks":       {&validation.Traceset{Status: "ready", Ranks: 8}, nil, ""},
		"too many ranks":      {&validation.Traceset{Status: "ready", Ranks: 9}, nil, "RANKS_EXCEED_SERVERS $.applications[0]"},
		"too few ranks":       {&validation.Traceset{Status: "ready", Ranks: 7}, nil, "SERVERS_EXCEED_RANKS $.applications[0]"},
		"powers of two":       {&validation.Traceset{Status: "ready", Ranks: 8, Groups: []int64{1, 2, 4}}, halving, ""},
		"no power of two":     {&validation.Traceset{Status: "ready", Ranks: 8, Groups: []int64{4, 6}}, halving, "ALGORITHM_NEEDS_POWER_OF_TWO $.applications[0].typedParameters.ChakraConfiguration.AllReduceAlgorithm"},
		"any size for a ring": {&validation.Traceset{Status: "ready", Ranks: 8, Groups: []int64{4, 6}}, nil, ""},
		"halving": {&validation.Traceset{Status: "ready", Ranks: 8, Groups: []int64{3}}, set("workload", "ChakraConfiguration.ReduceScatterAlgorithm", "halving"),
			"ALGORITHM_NEEDS_POWER_OF_TWO $.applications[0].typedParameters.ChakraConfiguration.ReduceScatterAlgorithm"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := completed(t, rack)
			if c.edit != nil {
				c.edit(d)
			}
			got := listed(t, d, validation.Check(d, validation.Attachments{Traceset: c.traceset}))
			if strings.Join(got, ", ") != c.want {
				t.Errorf("got %v, want %s", got, c.want)
			}
		})
	}
}
