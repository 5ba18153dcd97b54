package readapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/cmd/settings"
	"netsim/internal/servicetest"
)

const validateTopology = "/api/v1/topology/validate"

// drawnRack returns a rack of eight servers as a drawing tool exports it, without
// parameters and topology.
func drawnRack() object {
	return object{
		"applications": []object{{"type": "application", "trafficType": "chakra", "name": "workload", "model": "chakra-workload-v1", "version": "1.0.0"}},
		"components": []object{
			{"type": "switch", "model": "clos-switch-v1", "name": "rsw", "version": "1.0.0"},
			{"type": "server", "model": "gpu-server-v1", "name": "server", "version": "1.0.0", "components": []object{{"name": "nic", "type": "nic"}}},
			{"type": "nic", "model": "roce-nic-v1", "name": "nic", "version": "1.0.0"},
		},
		"containers": []object{{"type": "rack", "model": "leaf-rack-v1", "name": "rack", "version": "1.0.0",
			"components": []object{{"name": "rsw", "type": "switch"}, {"name": "server", "type": "server", "count": 8}}}},
	}
}

func TestValidateTopology(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, servicetest.NewAccount())
	got := user.Post(validateTopology, drawnRack()).Want(200).Object()
	verdict := got["validation"].(object)
	if verdict["valid"] != true || verdict["status"] != "valid" || len(verdict["errors"].([]any)) != 0 || len(verdict["warnings"].([]any)) != 0 {
		t.Errorf("got %v, want valid without findings", verdict)
	}
	figures := object{}
	for _, f := range got["simulationParameters"].([]any) {
		figures[f.(object)["name"].(string)] = f.(object)["value"]
	}
	want := object{"TotalHosts": 8.0, "TotalNics": 8.0, "TotalRanks": 8.0, "TotalSwitches": 1.0, "TotalLinks": 8.0,
		"RackCount": 1.0, "PodCount": 0.0, "TopologyTiers": 1.0}
	if diff := cmp.Diff(want, figures); diff != "" {
		t.Errorf("figures (-want +got):\n%s", diff)
	}
	bandwidth := []any{object{"name": "rsw", "model": "clos-switch-v1", "networkTier": 2.0, "switchingCapacity": 51200.0, "switchingCapacityUnit": "Gbps"}}
	if diff := cmp.Diff(bandwidth, got["switchBandwidth"]); diff != "" {
		t.Errorf("bandwidth (-want +got):\n%s", diff)
	}
	graph := `{"nodes":[{"name":"rsw","tier":2,"count":1},{"name":"nic","tier":3,"count":8}],"links":[{"from":"nic","to":"rsw","count":8,"gbps":400}]}`
	if got["topologyMap"] != graph {
		t.Errorf("map %s, want %s", got["topologyMap"], graph)
	}
	// The checksum does not depend on the formatting of the JSON.
	text, err := json.MarshalIndent(drawnRack(), " ", "\t")
	if err != nil {
		t.Fatal(err)
	}
	if again := user.Post(validateTopology, text).Want(200).Object(); again["checksum"] != got["checksum"] {
		t.Error("the checksum depends on white space")
	}
	if other := user.Post(validateTopology, with(drawnRack(), "links", []any{})).Want(200).Object(); other["checksum"] == got["checksum"] {
		t.Error("another body has the same checksum")
	}
	if list := user.Get(configurations).Want(200).Object()["configurations"].([]any); len(list) != 0 {
		t.Errorf("the validation saved %v", list)
	}
	p.Bearer(t, "").Post(validateTopology, drawnRack()).Refused(401, "UNAUTHORIZED")
}

// TestValidateTopologyWithErrors: a wrong topology gets findings and no map.
func TestValidateTopologyWithErrors(t *testing.T) {
	t.Parallel()
	user := servicetest.Shared(t).User(t, servicetest.NewAccount())
	for name, c := range map[string]struct {
		body object
		code string
		path string // of the error, or a prefix of it
	}{
		"no application": {with(drawnRack(), "applications", []any{}), "APPLICATION_REQUIRED", "$.applications"},
		"nothing":        {with(with(drawnRack(), "containers", []any{}), "components", []any{}), "TOPOLOGY_EMPTY", "$.topology"},
		"wrong tiers": {with(drawnRack(), "topology", object{"type": "clos", "topologyTiers": 3, "components": []object{{"name": "rack", "type": "rack"}}}),
			"TIER_MISMATCH", "$.topology.topologyTiers"},
		"an unknown model": {with(drawnRack(), "containers", []object{{"type": "rack", "model": "rack-v9", "name": "rack", "version": "1.0.0"}}),
			"UNKNOWN_MODEL", "$.containers[0].model"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := user.Post(validateTopology, c.body).Want(200).Object()
			verdict := got["validation"].(object)
			if verdict["valid"] != false || verdict["status"] != "error" || got["topologyMap"] != "" || got["checksum"] == "" {
				t.Errorf("got %v, want errors, a checksum and no map", got)
			}
			for _, f := range verdict["errors"].([]any) {
				if f.(object)["code"] == c.code && strings.HasPrefix(f.(object)["path"].(string), c.path) {
					return
				}
			}
			t.Errorf("got no %s at %s in %v", c.code, c.path, verdict["errors"])
		})
	}
}

func TestValidateTopologyRefuses(t *testing.T) {
	t.Parallel()
	user := servicetest.Shared(t).User(t, servicetest.NewAccount())
	const most = 4 << 20
	sized := func(size int) []byte {
		text, err := json.Marshal(drawnRack())
		if err != nil {
			t.Fatal(err)
		}
		return append(text, bytes.Repeat([]byte(" "), size-len(text))...)
	}
	user.Post(validateTopology, sized(most)).Want(200)
	for _, size := range []int{most + 1, 9 << 20} {
		user.Post(validateTopology, sized(size)).Refused(413, "PAYLOAD_TOO_LARGE")
	}
	user.Post(validateTopology, drawnRack(), servicetest.Header{Name: "Content-Type", Value: "text/plain"}).Refused(415, "UNSUPPORTED_MEDIA_TYPE")
	for name, c := range map[string]struct {
		body    any
		message string
	}{
		"no containers":         {object{"applications": []any{}, "components": []any{}}, "containers is required"},
		"an unknown member":     {with(drawnRack(), "colour", 1), "colour is unknown"},
		"an object for a list":  {with(drawnRack(), "components", object{}), "components must be an array"},
		"an unknown type":       {with(drawnRack(), "containers", []object{{"type": "shelf", "model": "x-v1", "name": "x", "version": "1.0.0"}}), "containers[0].type"},
		"odd parameters":        {with(drawnRack(), "applications", []object{{"type": "application", "trafficType": "chakra", "name": "w", "model": "chakra-workload-v1", "version": "1.0.0", "typedParameters": object{"x": 1}}}), "applications[0].typedParameters.x must be an object"},
		"a duplicate name":      {with(drawnRack(), "links", []object{{"type": "layer", "model": "ethernet-layer-v1", "name": "rsw", "version": "1.0.0"}}), "is taken"},
		"no json":               {[]byte("{"), "not json"},
		"a number out of range": {[]byte(strings.Replace(string(sized(2000)), `"count":8`, fmt.Sprintf(`"count":%d`, 1<<21), 1)), "count"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := user.Post(validateTopology, c.body).Refused(400, "VALIDATION_ERROR"); !strings.Contains(got, c.message) {
				t.Errorf("got the message %q, want %q in it", got, c.message)
			}
		})
	}
}

// TestReadsAreNotShed: while the service refuses writes, it still answers reads.
func TestReadsAreNotShed(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t, func(c *settings.Config) { c.MaxWrites = 0 })
	user := p.User(t, servicetest.NewAccount())
	user.Post(configurations, object{}).Refused(503, "SERVICE_UNAVAILABLE")
	user.Post(validateTopology, drawnRack()).Want(200)
	user.Post(simple+"/simulations/preview", workload(8, "allReduce")).Want(200)
}
