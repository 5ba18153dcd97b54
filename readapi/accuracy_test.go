package readapi_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/cmd/settings"
	"netsim/internal/scripted"
	"netsim/internal/servicetest"
	"netsim/simulator/accuracy"
)

// accuracyOf reads the accuracy of a completed simulation's results.
func accuracyOf(t *testing.T, c *servicetest.Client, id string) object {
	t.Helper()
	completed(c, id)
	return c.Get(simulations + "/" + id + "/results?limit=1").Want(200).Object()["accuracy"].(object)
}

// bandOf returns the band that go generate -C prove ./bench/accuracy wrote.
func bandOf(t *testing.T, network, operation, algorithm string) object {
	t.Helper()
	table, err := accuracy.Generated()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range table.Bands {
		if b.Network == network && b.Operation == operation && b.Algorithm == algorithm {
			references := []any{}
			for _, r := range b.References {
				references = append(references, r)
			}
			return object{"lowestPercent": b.Lowest, "highestPercent": b.Highest, "cases": float64(b.Rows), "references": references}
		}
	}
	t.Fatalf("no band of %s %s on %s", operation, algorithm, network)
	return nil
}

// checkAccuracy checks the class, the band (nil for none) and what the run has beyond the
// compared cases.
func checkAccuracy(t *testing.T, got object, class string, band object, outside ...string) {
	t.Helper()
	if got["class"] != class {
		t.Errorf("got %v, want %s", got, class)
	}
	shown, has := got["band"].(object)
	if has != (band != nil) {
		t.Errorf("got the band %v, want %v", got["band"], band)
	}
	if diff := cmp.Diff(band, shown); has && diff != "" {
		t.Errorf("the band (-want +got):\n%s", diff)
	}
	list := got["outside"].([]any)
	if len(list) != len(outside) {
		t.Fatalf("got %q outside, want %q", list, outside)
	}
	for i, want := range outside {
		if list[i] != want {
			t.Errorf("got %q outside, want %q", list[i], want)
		}
	}
	if !strings.HasSuffix(got["basis"].(string), "No case is a measurement on hardware.") {
		t.Errorf("got the basis %q, want what the references are not", got["basis"])
	}
}

// TestAccuracyOfSubmissions: the results of simple submissions have the class that their
// networks and collectives have.
func TestAccuracyOfSubmissions(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, funded(t, p))
	rack := submit(t, user, allReduce("ring", 65536))
	small := submit(t, user, allReduce("ring", 1024))
	several := submit(t, user, workload(128, "allReduce"))
	unknown := submit(t, user, workload(128, "broadcast"))

	alone := bandOf(t, accuracy.OneSwitch, "allReduce", "ring")
	checkAccuracy(t, accuracyOf(t, user, rack), "closed-form", alone)
	checkAccuracy(t, accuracyOf(t, user, small), "extrapolated", alone, "data size: 1024 B, compared 65536 to 1073741824 B")
	got := accuracyOf(t, user, several)
	checkAccuracy(t, got, "extrapolated", bandOf(t, accuracy.Lossless, "allReduce", "ring"),
		"leaf switches with 64 links to 1 switches, compared one to each",
		"ranks of a collective: 128, compared 16 to 64",
		"data size: 65536 B, compared 1048576 to 16777216 B",
		"hosts at a leaf switch: 64, compared 8",
		"delay of a link: 100 to 500 ns, compared 500 ns",
		"header of a packet: 58 B, compared 64 B",
		"links of several delays: 100 to 500 ns")
	if !strings.Contains(got["basis"].(string), "20 seeds") {
		t.Errorf("the basis %q does not explain the band of hashed paths", got["basis"])
	}
	got = accuracyOf(t, user, unknown)
	checkAccuracy(t, got, "not-compared", nil)
	if !strings.Contains(got["basis"].(string), "broadcast") {
		t.Errorf("the basis %q does not name what was not compared", got["basis"])
	}
}

// leafSpine returns the change of a configuration of a simple submission of 16 ranks to the
// network of the compared cases: two leaves of eight hosts, below four spines.
func leafSpine() object {
	declared := func(kind, model, name string, parameters object, refs ...object) object {
		return object{"type": kind, "model": model, "name": name, "version": "1.0.0", "typedParameters": parameters, "components": append([]object{}, refs...)}
	}
	spraying := object{"NumUpLinks": object{"value": 4, "type": "uint"}, "LoadBalancingMethod": object{"value": "spray", "type": "string"}}
	return object{
		"components": []object{
			declared("switch", "clos-switch-v1", "spine", spraying),
			declared("switch", "clos-switch-v1", "leaf", spraying),
			declared("server", "gpu-server-v1", "server", object{}, object{"name": "nic", "type": "nic", "count": 1}),
			declared("nic", "trimming-nic-v1", "nic", object{
				"NetworkInterface": object{"TransmissionMedium": object{"Delay": object{"value": 500, "type": "timeval", "unit": "ns"}}},
				"Transport":        object{"HeaderSize": object{"value": 64, "type": "bytes", "unit": "B"}},
			}),
		},
		"containers": []object{
			{"type": "rack", "model": "leaf-rack-v1", "name": "rack", "version": "1.0.0", "components": []object{{"name": "leaf", "type": "switch", "count": 1}, {"name": "server", "type": "server", "count": 8}}},
			{"type": "pod", "model": "pod-v1", "name": "pod", "version": "1.0.0", "components": []object{{"name": "spine", "type": "switch", "count": 4}, {"name": "rack", "type": "rack", "count": 2}}},
		},
		"topology": object{"name": "network", "type": "clos", "topologyTiers": 2, "components": []object{{"name": "pod", "type": "pod", "count": 1}}},
	}
}

// TestAccuracyOfConfigurations: a network like those of the compared cases has their class,
// until it is changed, and a run that is cut off has none.
func TestAccuracyOfConfigurations(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, funded(t, p))
	submission := with(object{}, "workload", object{"ranks": 16, "phases": []object{{"operationType": "allToAll", "algorithm": "sequential", "dataSize": 1 << 20}}})
	path := configurations + "/" + completed(user, submit(t, user, submission))["configurationId"].(string)
	start := func(duration string) object {
		user.Post(path+"/validate", nil).Want(200)
		return accuracyOf(t, user, user.Post(simulations, object{
			"configurationId": strings.TrimPrefix(path, configurations+"/"), "name": "compared", "duration": duration,
		}).Want(201).Object()["id"].(string))
	}
	checkAccuracy(t, start("1s"), "closed-form", bandOf(t, accuracy.OneSwitch, "allToAll", "sequential"))

	updateConfiguration(t, user, path, leafSpine())
	band := bandOf(t, accuracy.Sprayed, "allToAll", "sequential")
	checkAccuracy(t, start("1s"), "compared", band)

	got := start("2us")
	checkAccuracy(t, got, "not-compared", nil)
	if !strings.Contains(got["basis"].(string), "cut off") {
		t.Errorf("the basis of a run that was cut off is %q", got["basis"])
	}

	user.Patch(path+"/components/leaf/parameters", object{"NetworkInterface": object{"UplinkNetworkInterface": object{
		"DataRate": object{"value": 200, "type": "datarate", "unit": "Gbps"},
	}}}).Want(200)
	checkAccuracy(t, start("1s"), "extrapolated", band, "links of several rates: 200 to 400 Gb/s")

	user.Patch(path+"/components/leaf/parameters", object{"LoadBalancingMethod": object{"value": "flowlet", "type": "string"}}).Want(200)
	checkAccuracy(t, start("1s"), "not-compared", nil)
}

// TestAccuracyOfTraces: traces are extrapolated from collectives that run alone. A caller who
// may not read the simulation does not see what is beyond the compared cases.
func TestAccuracyOfTraces(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := funded(t, p)
	user, owner := p.User(t, account), p.Service(t, account)
	workspace, another := newWorkspace(t, owner, "traced"), newWorkspace(t, owner, "another")
	files := map[string]string{}
	for rank := range 16 {
		files[fmt.Sprintf("rank_%d.chakra.json", rank)] = `{"version": "0.0.4"}` + "\n" +
			`{"id":"1","name":"accuracy","type":"COMM_COLL_NODE","attr":[{"name":"comm_type","int64Val":"0"},{"name":"comm_size","int64Val":"1048576"}]}`
	}
	traced := upload(t, user, workspace, "traced", "", files)
	if got := processed(user, traced); got["status"] != "ready" {
		t.Fatalf("the traceset is %v", got)
	}
	body := leafSpine()
	body["name"], body["workspaceId"], body["links"], body["globalParameters"] = "traced", workspace, []object{}, object{}
	body["applications"] = twoTiers("")["applications"]
	path := newConfiguration(t, user, body)
	user.Patch(path+"/traceset", object{"tracesetId": traced}).Want(200)
	user.Post(path+"/validate", nil).Want(200)
	id := user.Post(simulations, object{
		"configurationId": strings.TrimPrefix(path, configurations+"/"), "name": "traced", "duration": "1s",
	}).Want(201).Object()["id"].(string)
	band := bandOf(t, accuracy.Sprayed, "allReduce", "ring")
	checkAccuracy(t, accuracyOf(t, user, id), "extrapolated", band,
		"traces, whose computations and messages may overlap, compared collectives that run alone")

	for _, other := range []*servicetest.Client{p.User(t, servicetest.NewAccount()), p.User(t, account, another)} {
		checkAccuracy(t, other.Get(simulations + "/" + id + "/results").Want(200).Object()["accuracy"].(object), "extrapolated", band)
	}
}

// TestAccuracyOfRemoteEngines: what a remote engine computed was not compared.
func TestAccuracyOfRemoteEngines(t *testing.T) {
	t.Parallel()
	e := scripted.Start(t, scripted.Script{
		Run:   scripted.Run{State: "completed", SimulatedTimeNs: 500, EventsProcessed: 5},
		Files: map[string]string{"summary.json": `{"simulatedTimePs":500000,"linkUtilization":[]}`},
	})
	p := servicetest.Start(t, func(c *settings.Config) {
		c.EngineURLs, c.EngineToken, c.EnginePoll = []string{e.URL}, "secret", 20*time.Millisecond
	})
	user := p.User(t, funded(t, p))
	configuration := completed(user, submit(t, user, allReduce("ring", 65536)))["configurationId"].(string)
	path := configurations + "/" + configuration
	user.Patch(path+"/parameters", object{"EngineParameters": object{"Engine": object{"value": "remote", "type": "string"}}}).Want(200)
	user.Post(path+"/validate", nil).Want(200)
	id := user.Post(simulations, object{"configurationId": configuration, "name": "remote", "duration": "1s"}).Want(201).Object()["id"].(string)
	got := accuracyOf(t, user, id)
	checkAccuracy(t, got, "not-compared", nil)
	if !strings.Contains(got["basis"].(string), "a remote engine computed it") {
		t.Errorf("got the basis %q, want the remote engine", got["basis"])
	}
}
