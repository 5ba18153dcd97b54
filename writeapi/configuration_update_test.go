package writeapi_test

import (
	"fmt"
	"strings"
	"testing"

	"netsim/events"
	"netsim/internal/servicetest"
)

var documentMembers = []string{"applications", "components", "containers", "links", "topology", "globalParameters"}

// Each member of an update replaces the stored one, and wrong updates are refused
// (completions 3.5 row 4).
func TestUpdateConfiguration(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user, path := newWorkbench(t, p)
	before := whole(user, path)

	// A client can send back the configuration that it has read. The first time
	// this removes the components that the topology does not reach, because GET
	// omits them. The second time it changes nothing.
	user.Patch(path, before, ifMatch(`"1"`)).Want(200)
	back := user.Patch(path, whole(user, path), ifMatch(`"2"`)).Want(200)
	if back.Header.Get("ETag") != `"2"` {
		t.Errorf("nothing changed, but the entity tag is %s", back.Header.Get("ETag"))
	}
	for _, member := range append([]string{"name", "activeTraceset"}, documentMembers...) {
		same(t, member, before[member], back.Object()[member])
	}
	same(t, "the answer", whole(user, path), back.Object())
	if n := back.Object()["componentCount"]; n != 3.0 {
		t.Errorf("got %v components, want the 3 that the topology reaches", n)
	}

	// An update replaces a whole member and completes it. Other members stay.
	other := oneRack("other")
	version := 2
	for _, member := range documentMembers {
		was := whole(user, path)
		sent := other[member]
		if member == "globalParameters" {
			sent = object{"SimulationParameters": object{"RandomSeed": object{"value": 9, "type": "uint"}}}
		}
		now := user.Patch(path, object{member: sent}, ifMatch("*")).Want(200)
		version++
		same(t, "the version", float64(version), now.Object()["version"])
		for _, kept := range append([]string{"name", "activeTraceset", "createdAt", "workspaceId"}, documentMembers...) {
			if kept != member && !(member == "topology" || kept == "components") { // a new topology reaches other components
				same(t, kept+" beside "+member, was[kept], now.Object()[kept])
			}
		}
	}
	now := whole(user, path)
	if pick(now, "globalParameters.SimulationParameters.RandomSeed.value") != 9.0 || pick(now, "globalParameters.SimulationParameters.Mtu.value") != 9216.0 {
		t.Errorf("got the global parameters %v, want the new seed and the default Mtu", now["globalParameters"])
	}
	if got := pick(find(now["components"], "leaf"), "typedParameters.NumUpLinks.value"); got != 64.0 {
		t.Errorf("got NumUpLinks %v, want the default 64", got)
	}
	workload := find(now["applications"], "workload")
	if workload["trafficType"] != "chakra" || pick(workload, "typedParameters.ChakraConfiguration.NumOfChakraFiles.value") != 8.0 {
		t.Errorf("got the application %v, want chakra with 8 ranks", workload)
	}

	// The name can be changed; a null name and read-only members change nothing.
	tag := user.Get(path).Header.Get("ETag")
	if same := user.Patch(path, object{"name": nil}, ifMatch(tag)).Want(200); same.Header.Get("ETag") != tag || same.Object()["name"] != "workbench" {
		t.Errorf("a null name changed the configuration: %s", same.Body)
	}
	renamed := user.Patch(path, object{"name": "Blåhaj 2", "version": 999, "id": "x", "status": "y", "modifiedAt": 1}, ifMatch(tag)).Want(200)
	if c := renamed.Object(); c["name"] != "Blåhaj 2" || c["status"] != "draft" || c["id"] != before["id"] {
		t.Errorf("got the name %v, status %v and id %v, want only the name changed", c["name"], c["status"], c["id"])
	}
	user.Patch(path, object{"name": longName(255)}, ifMatch("*")).Want(200)
	if body := string(user.Get(configurations + "?search=" + longName(100)).Want(200).Body); !strings.Contains(body, before["id"].(string)) {
		t.Errorf("a search for the new name lists %s", body)
	}
	user.Patch(path, object{"name": "x"}).Refused(428, "PRECONDITION_REQUIRED")
	user.Patch(configurations+"/"+events.NewID(events.ConfigurationPrefix), object{"name": "x"}).Refused(404, "NOT_FOUND")

	before = whole(user, path)
	for name, c := range map[string]struct {
		body object
		want string
	}{
		"nothing":                  {object{}, "at least one member"},
		"what is read-only":        {object{"id": before["id"]}, "at least one member"},
		"a mapping file":           {object{"name": "x", "activeMappingFile": object{"id": "mapfile_x"}}, "activeMappingFile"},
		"a null mapping file":      {object{"name": "x", "activeMappingFile": nil}, "activeMappingFile"},
		"an unknown member":        {object{"colour": "red"}, "colour"},
		"a blank name":             {object{"name": " "}, "name must be"},
		"an empty name":            {object{"name": ""}, "name must be"},
		"a long name":              {object{"name": longName(256)}, "name must be"},
		"a name of another type":   {object{"name": 1}, "name must be"},
		"components that are null": {object{"components": nil}, "components must be"},
		"a topology that is null":  {object{"topology": nil}, "topology must be"},
		"an unknown traceset":      {object{"activeTraceset": object{"id": events.NewID(events.TracesetPrefix)}}, "activeTraceset.id"},
		"a malformed traceset":     {object{"activeTraceset": object{"id": "ts_x"}}, "activeTraceset.id"},
		"a traceset without id":    {object{"activeTraceset": object{"name": "x"}}, "activeTraceset.id is required"},
		"a null traceset":          {object{"activeTraceset": nil}, "activeTraceset must be"},
		"a duplicate name":         {object{"links": []object{{"type": "layer", "model": "ethernet-layer-v1", "name": "leaf", "version": "1.0.0"}}}, "'leaf' is taken"},
		"links that are no layers": {object{"links": []object{{"type": "nic", "model": "roce-nic-v1", "name": "n", "version": "1.0.0"}}}, "links[0].type"},
		"an odd parameter":         {object{"globalParameters": at("SimulationParameters.Mtu", 1)}, "globalParameters.SimulationParameters.Mtu must be an object"},
		"another odd parameter":    {object{"components": []object{{"type": "nic", "model": "roce-nic-v1", "name": "n", "version": "1.0.0", "typedParameters": at("X", 1)}}}, "components[0].typedParameters.X"},
		"a section of the service": {object{"globalParameters": object{"ComputeConfiguration": object{}}}, "set by the service"},
		"four tiers":               {object{"topology": object{"type": "clos", "topologyTiers": 4, "components": []object{}}}, "topologyTiers"},
	} {
		t.Run(name, func(t *testing.T) {
			if message := user.Patch(path, c.body, ifMatch("*")).Refused(400, "VALIDATION_ERROR"); !strings.Contains(message, c.want) {
				t.Errorf("got the message %q, want %q in it", message, c.want)
			}
		})
	}
	same(t, "after refusals", before, whole(user, path))
	// If-Match is checked before the content.
	user.Patch(path, object{"activeTraceset": object{"id": events.NewID(events.TracesetPrefix)}}, ifMatch(`"1"`)).Refused(412, "PRECONDITION_FAILED")
}

// TestUpdateConfigurationTraceset: the member activeTraceset of an update attaches
// a traceset.
func TestUpdateConfigurationTraceset(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := funded(t, p)
	user, path := newWorkbenchOf(t, p, account)
	other := traceset(t, user, 16)
	before := whole(user, path)
	same := user.Patch(path, object{"activeTraceset": before["activeTraceset"]}, ifMatch(`"1"`)).Want(200)
	if same.Header.Get("ETag") != `"1"` {
		t.Error("sending the attached traceset made a version")
	}
	now := user.Patch(path, object{"name": "sixteen", "activeTraceset": object{"id": other, "name": "ignored"}}, ifMatch(`"1"`)).Want(200).Object()
	if a := now["activeTraceset"].(object); a["id"] != other || a["name"] == "ignored" || ranksOf(now) != 16.0 {
		t.Errorf("got the traceset %v with %v ranks, want the other with 16", a, ranksOf(now))
	}
	web := []object{{"type": "application", "trafficType": "non-coordinated", "name": "web", "model": "traffic-generator-v1", "version": "1.0.0"}}
	bare := configurations + "/" + user.Post(configurations, with(oneRack("bare"), object{"applications": web})).Want(201).Object()["id"].(string)
	message := user.Patch(bare, object{"activeTraceset": object{"id": other}}, ifMatch("*")).Refused(400, "VALIDATION_ERROR")
	if !strings.Contains(message, "chakra") {
		t.Errorf("got the message %q, want chakra in it", message)
	}
	// A client can send back what it has read even if the traceset was deleted
	// since.
	h := p.Beside(t).Commands
	gone := putTraceset(t, h, account, "ready", 4)
	user.Patch(path+"/traceset", object{"tracesetId": gone}).Want(200)
	deleteTraceset(t, h, gone)
	user.Patch(path, with(whole(user, path), object{"name": "four"}), ifMatch(`"3"`)).Want(200)
	unready := putTraceset(t, h, account, "uploading", 0)
	user.Patch(path, object{"activeTraceset": object{"id": unready}}, ifMatch("*")).Refused(409, "CONFLICT")
	large := putTraceset(t, h, account, "ready", 65537)
	user.Patch(path, object{"activeTraceset": object{"id": large}}, ifMatch("*")).Refused(422, "UNPROCESSABLE_ENTITY")
}

// ranksOf returns the number of ranks in the parameters of the application
// "workload".
func ranksOf(c object) any {
	return pick(find(c["applications"], "workload"), "typedParameters.ChakraConfiguration.NumOfChakraFiles.value")
}

// TestDocumentSize: every operation refuses to make a document larger than 4 MiB.
func TestDocumentSize(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, funded(t, p))
	padded := func(bytes int) []object {
		return append(oneRack("")["components"].([]object), object{
			"type": "gpu", "model": "unknown-v1", "name": "pad", "version": "1.0.0",
			"typedParameters": at("Padding", leaf(strings.Repeat("x", bytes), "string", "")),
		})
	}
	// send repeats a write whose outcome is not known yet, under its key: on a busy machine
	// a document of 4 MiB takes longer than the service waits for the verdict.
	send := func(method, path string, body any, headers ...servicetest.Header) servicetest.Reply {
		headers = append(headers, key(events.NewID("key")))
		reply := user.Do(method, path, body, headers...)
		for range 20 {
			if reply.Status != 503 {
				break
			}
			reply = user.Do(method, path, body, headers...)
		}
		return reply
	}
	const limit = 4 << 20
	send("POST", configurations, with(oneRack("too large"), object{"components": padded(limit)})).Refused(413, "PAYLOAD_TOO_LARGE")
	made := send("POST", configurations, with(oneRack("large"), object{"components": padded(10)})).Want(201).Object()
	path := configurations + "/" + made["id"].(string)
	send("PATCH", path, object{"components": padded(limit)}, ifMatch("*")).Refused(413, "PAYLOAD_TOO_LARGE")
	send("PATCH", path+"/components/pad/parameters", at("Padding", leaf(strings.Repeat("x", limit), "string", ""))).Refused(413, "PAYLOAD_TOO_LARGE")
	send("PATCH", path, object{"components": padded(limit - 6000)}, ifMatch("*")).Want(200)

	// Components are added until the document is too large.
	status := 201
	for i := 0; status == 201 && i < 12; i++ {
		status = send("POST", fmt.Sprintf("%s/components?type=switch&modelId=clos-switch-v1&name=switch%d", path, i), nil).Status
	}
	if status != 413 {
		t.Errorf("got the status %d in the end, want 413", status)
	}
	send("POST", path+"/applications?modelId=chakra-workload-v1&name=more", nil).Refused(413, "PAYLOAD_TOO_LARGE")
	send("PATCH", path, object{"components": padded(10)}, ifMatch("*")).Want(200)
	send("POST", path+"/applications?modelId=chakra-workload-v1&name=more", nil).Want(201)
}
