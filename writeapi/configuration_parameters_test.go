package writeapi_test

import (
	"strings"
	"testing"

	"netsim/internal/servicetest"
)

// at returns a tree that holds only the value, at the path.
func at(path string, value any) object {
	step, rest, deeper := strings.Cut(path, ".")
	if deeper {
		value = at(rest, value)
	}
	return object{step: value}
}

// leaf returns a parameter, without a unit if unit is "".
func leaf(value any, kind, unit string) object {
	l := object{"value": value, "type": kind}
	if unit != "" {
		l["unit"] = unit
	}
	return l
}

// pick returns the value at a path.
func pick(tree any, path string) any {
	for step := range strings.SplitSeq(path, ".") {
		tree = tree.(object)[step]
	}
	return tree
}

// Parameters of every kind of element can be patched, and wrong patches are refused
// (completions 3.7).
func TestPatchParameters(t *testing.T) {
	t.Parallel()
	user, path := newWorkbench(t, servicetest.Shared(t))
	delay, rate := "NetworkInterface.TransmissionMedium.Delay", "NetworkInterface.UplinkNetworkInterface.DataRate"
	for where, stored := range map[string]func() any{
		"/components/leaf/parameters": func() any { return find(whole(user, path)["components"], "leaf")["typedParameters"] },
		"/components/nic/parameters":  func() any { return find(whole(user, path)["components"], "nic")["typedParameters"] },
	} {
		before := stored().(object)
		patch := at(delay, leaf(1.5, "timeval", "us"))
		patch["NetworkInterface"].(object)["UplinkNetworkInterface"] = object{"DataRate": leaf(200, "datarate", "Gbps")}
		got := user.Patch(path+where, patch).Want(200).Object()
		same(t, where+": a delay", leaf(1.5, "timeval", "us"), pick(got, delay))
		same(t, where+": a rate", leaf(200.0, "datarate", "Gbps"), pick(got, rate))
		same(t, where+": stored", stored(), any(got))
		for name, value := range before {
			if name != "NetworkInterface" {
				same(t, where+": "+name, value, got[name])
			}
		}
	}
	for where, c := range map[string]struct {
		path  string
		value object
	}{
		"/applications/web/parameters":      {"TrafficPattern", leaf("incast", "string", "")},
		"/applications/workload/parameters": {"ChakraConfiguration.AllReduceAlgorithm", leaf("halving-doubling", "string", "")},
		"/links/layer/parameters":           {"Wiring", leaf("full-mesh", "string", "")},
		"/parameters":                       {"SimulationParameters.Mtu", leaf(4.0, "bytes", "KiB")},
	} {
		got := user.Patch(path+where, at(c.path, c.value)).Want(200).Object()
		same(t, where, any(c.value), pick(got, c.path))
	}
	// An optional parameter is patched like any other.
	const one = "ChakraConfiguration.OneCommunicationPerRank"
	for _, on := range []bool{true, false} {
		got := user.Patch(path+"/applications/workload/parameters", at(one, leaf(on, "bool", ""))).Want(200).Object()
		same(t, one, any(leaf(on, "bool", "")), pick(got, one))
		stored := find(whole(user, path)["applications"], "workload")["typedParameters"]
		same(t, "stored "+one, any(leaf(on, "bool", "")), pick(stored.(object), one))
	}
	user.Patch(path+"/applications/workload/parameters", at(one, leaf("on", "string", ""))).Want(400)
	// A patch may exceed the bounds of a parameter; validation reports it.
	user.Patch(path+"/applications/web/parameters", at("Load", leaf(2, "double", ""))).Want(200)
	user.Patch(path+"/components/leaf/parameters", at("NumUpLinks", leaf(1<<53-1, "uint", ""))).Want(200)
	report := user.Post(path+"/validate", nil).Want(200).Object()
	if !strings.Contains(string(user.Post(path+"/validate", nil).Want(200).Body), "PARAMETER_OUT_OF_RANGE") {
		t.Errorf("got the report %v, want PARAMETER_OUT_OF_RANGE", report)
	}

	before := whole(user, path)
	const leafs, web, workload, globals = "/components/leaf/parameters", "/applications/web/parameters", "/applications/workload/parameters", "/parameters"
	for name, c := range map[string]struct {
		where string
		patch object
		want  string
	}{
		"nothing":                   {leafs, object{}, "at least one"},
		"an empty branch":           {leafs, at("NetworkInterface.TransmissionMedium", object{}), "NetworkInterface.TransmissionMedium must name at least one"},
		"an unknown key":            {leafs, at("NumSideLinks", leaf(1, "uint", "")), "NumSideLinks does not exist"},
		"an unknown key below":      {leafs, at("NetworkInterface.Colour", leaf("red", "string", "")), "NetworkInterface.Colour does not exist"},
		"a branch for a leaf":       {leafs, at("NumUpLinks.Value", leaf(1, "uint", "")), "NumUpLinks"},
		"a leaf for a branch":       {leafs, at("NetworkInterface", leaf(1, "uint", "")), "NetworkInterface is a section"},
		"not an object":             {leafs, at("NumUpLinks", 1), "NumUpLinks must be an object"},
		"another type":              {leafs, at("NumUpLinks", leaf(1, "double", "")), "NumUpLinks.type must be 'uint'"},
		"no type":                   {leafs, at("NumUpLinks", object{"value": 1}), "NumUpLinks.type is missing"},
		"no value":                  {leafs, at("NumUpLinks", object{"type": "uint"}), "NumUpLinks.value is missing"},
		"a value of another type":   {leafs, at("NumUpLinks", leaf("1", "uint", "")), "NumUpLinks.value"},
		"a fraction":                {leafs, at("NumUpLinks", leaf(1.5, "uint", "")), "NumUpLinks.value"},
		"a negative uint":           {leafs, at("NumUpLinks", leaf(-1, "uint", "")), "NumUpLinks.value"},
		"more than 2^53-1":          {leafs, at("NumUpLinks", leaf(1<<53, "uint", "")), "NumUpLinks.value"},
		"an unknown member":         {leafs, at("NumUpLinks", object{"value": 1, "type": "uint", "colour": "red"}), "colour"},
		"an unexpected unit":        {leafs, at("NumUpLinks", leaf(1, "uint", "B")), "NumUpLinks.unit"},
		"a missing unit":            {leafs, at(delay, leaf(1, "timeval", "")), "Delay.unit is missing"},
		"a unit of another type":    {leafs, at(delay, leaf(1, "timeval", "Gbps")), "Delay.unit must be one of"},
		"a value not in the enum":   {leafs, at("EcmpHashMethod", leaf("md5", "string", "")), "must be one of [crc32WithSalt"},
		"a read-only leaf":          {workload, at("ChakraConfiguration.NumOfChakraFiles", leaf(4, "uint", "")), "NumOfChakraFiles is read-only"},
		"an unknown global section": {globals, at("Other.X", leaf(1, "uint", "")), "globalParameters.Other does not exist"},
		"a section of the service":  {globals, at("ComputeConfiguration.X", leaf(1, "uint", "")), "ComputeConfiguration is set by the service"},
		"another service section":   {globals, at("ParallelizationParameters.X", leaf(1, "uint", "")), "ParallelizationParameters is set by the service"},
		"a read-only section":       {globals, at("SoftwareVersion.Version", leaf("2.0.0", "string", "")), "SoftwareVersion.Version is read-only"},
		"one good and one bad leaf": {web, with(at("Load", leaf(0.1, "double", "")), object{"Colour": leaf("red", "string", "")}), "Colour does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			if message := user.Patch(path+c.where, c.patch).Refused(400, "VALIDATION_ERROR"); !strings.Contains(message, c.want) {
				t.Errorf("got the message %q, want %q in it", message, c.want)
			}
		})
	}
	for _, character := range "[]{}()'\";$*?#~`|&<>\\\n\r" {
		patch := at("ChakraConfiguration.MappingFileName", leaf("a"+string(character)+"b", "string", ""))
		if message := user.Patch(path+workload, patch).Refused(400, "VALIDATION_ERROR"); !strings.Contains(message, "must not hold") {
			t.Errorf("%q: got the message %q, want \"must not hold\" in it", character, message)
		}
	}
	for _, where := range []string{
		"/components/nothing/parameters", "/components/rack/parameters", "/components/web/parameters", "/components/layer/parameters",
		"/applications/nothing/parameters", "/applications/leaf/parameters", "/links/nothing/parameters", "/links/leaf/parameters",
	} {
		user.Patch(path+where, at("NumUpLinks", leaf(1, "uint", ""))).Refused(404, "NOT_FOUND")
	}
	for _, where := range []string{"/components/-x/parameters", "/applications/-x/parameters", "/links/-x/parameters"} {
		user.Patch(path+where, at("NumUpLinks", leaf(1, "uint", ""))).Refused(400, "VALIDATION_ERROR")
	}
	same(t, "after refusals", before, whole(user, path))
}

func TestUpdateDistribution(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user, path := newWorkbench(t, p)
	set := func(application, id string, value any) servicetest.Reply {
		return user.Patch(path+"/distribution", object{"parentApplication": application, "distributionId": id, "value": value})
	}
	for _, value := range []float64{0, 1, 0.1} {
		got := set("web", "web-client", value).Want(200).Object()
		same(t, "the answer", any(got), whole(user, path)["topology"].(object)["appDistribution"])
		same(t, "shares", object{"web-client": value, "web-server": 1.0}, shares(whole(user, path)))
	}
	tag := user.Get(path).Header.Get("ETag")
	if again := set("web", "web-client", 0.1).Want(200); again.Header.Get("ETag") != tag {
		t.Errorf("nothing changed, but the entity tag is %s", again.Header.Get("ETag"))
	}
	set("web", "mail-client", 0.1).Refused(404, "NOT_FOUND")
	set("mail", "web-client", 0.1).Refused(404, "NOT_FOUND")
	set("web", "web-client", -0.1).Refused(400, "VALIDATION_ERROR")
	set("web", "web-client", 1.1).Refused(400, "VALIDATION_ERROR")
	set("web", "web-client", "1").Refused(400, "VALIDATION_ERROR")
	set("web", "web-client", nil).Refused(400, "VALIDATION_ERROR")
	set("web", "", 0.1).Refused(400, "VALIDATION_ERROR")
	set("", "web-client", 0.1).Refused(400, "VALIDATION_ERROR")
	set("web", longName(129), 0.1).Refused(400, "VALIDATION_ERROR")
	for _, member := range []string{"parentApplication", "distributionId", "value"} {
		body := object{"parentApplication": "web", "distributionId": "web-client", "value": 0.2}
		delete(body, member)
		if message := user.Patch(path+"/distribution", body).Refused(400, "VALIDATION_ERROR"); message != member+" is required" {
			t.Errorf("got the message %q, want that %s is required", message, member)
		}
	}
	bare := configurations + "/" + user.Post(configurations, oneRack("bare")).Want(201).Object()["id"].(string)
	message := user.Patch(bare+"/distribution", object{"parentApplication": "web", "distributionId": "web-client", "value": 0.2}).Refused(400, "VALIDATION_ERROR")
	if !strings.Contains(message, "appDistribution") {
		t.Errorf("got the message %q, want appDistribution in it", message)
	}
}
