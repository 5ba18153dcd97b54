package conformance_test

import (
	"encoding/json"
	"maps"
	"net/url"
	"strings"
	"testing"
	"time"

	"netsim/events"
	"netsim/infra/auth"
	"netsim/infra/devissuer"
	"netsim/internal/servicetest"
)

// world is an account with the resources that the requests of all operations need.
type world struct {
	program                                                  *servicetest.Program
	account                                                  string
	workspace, simulation, configuration, traceset, template string // the simulation is completed
	mappingFile, study, webhook                              string // the study is completed
	caused                                                   string // the id of the request that made the simulation
}

func newWorld(t *testing.T, p *servicetest.Program) *world {
	t.Helper()
	w := &world{program: p, account: servicetest.NewAccount()}
	p.Grant(t, w.account, "1000000") // a study holds credit for each of its open runs
	c := w.client(t)
	w.workspace = w.newWorkspace(t)
	w.simulation = w.newSimulation(t)
	facts, _ := c.Get("/api/v1/streams/" + w.simulation + "?limit=1").Want(200).Object()["facts"].([]any)
	w.caused, _ = facts[0].(map[string]any)["correlationId"].(string)
	w.configuration = member(t, c.Get("/api/v1/simulations/"+w.simulation).Want(200), "configurationId")
	traceset, _ := c.Get("/api/v1/configurations/" + w.configuration).Want(200).Object()["activeTraceset"].(map[string]any)
	w.traceset, _ = traceset["id"].(string)
	w.mappingFile = w.newMappingFile(t, events.DefaultWorkspace)
	for range 2 { // for two pages
		w.study = w.newStudy(t, 2)
		w.awaitStudy(t, w.study, "completed")
	}
	for range 2 {
		w.webhook = w.newWebhook(t, c)
		c.Post("/api/v1/webhooks/"+w.webhook+"/test", nil).Want(200)
		c.Post("/api/v1/webhooks/"+w.webhook+"/test", nil).Want(200)
	}
	templates, _ := c.Get("/api/v1/templates?limit=1").Want(200).Object()["templates"].([]any)
	w.template = templates[0].(map[string]any)["id"].(string)
	return w
}

// client returns a client of the account that may use every operation, whose errors fail t.
func (w *world) client(t *testing.T) *servicetest.Client {
	t.Helper()
	return allowed(t, w.program, w.account)
}

// allowed returns a client of an account that may use every operation.
func allowed(t *testing.T, p *servicetest.Program, account string) *servicetest.Client {
	t.Helper()
	return p.Client(t, devissuer.Options{Service: true, User: "robot", Account: account, Roles: []string{auth.OperatorRole}})
}

func member(t *testing.T, r servicetest.Reply, name string) string {
	t.Helper()
	text, _ := r.Object()[name].(string)
	if text == "" {
		t.Fatalf("no %s in %s", name, r.Body)
	}
	return text
}

func (w *world) newWorkspace(t *testing.T) string {
	t.Helper()
	return member(t, w.client(t).Post("/api/v1/workspaces", map[string]any{"name": "w"}).Want(201), "id")
}

// newWebhook returns the id of a webhook of the client whose receiver does not answer.
func (w *world) newWebhook(t *testing.T, c *servicetest.Client) string {
	t.Helper()
	return member(t, c.Post("/api/v1/webhooks", map[string]any{
		"url": "http://127.0.0.1:1024/", "filter": map[string]any{"type": []string{"netsim.study.deleted.v1"}},
	}).Want(201), "id")
}

// newSimulation returns the id of a completed simulation.
func (w *world) newSimulation(t *testing.T) string {
	t.Helper()
	id := member(t, w.client(t).Post("/api/v1/simple/simulations", json.RawMessage(
		`{"workload":{"ranks":8,"phases":[{"operationType":"allReduce","dataSize":1048576}]}}`)).Want(202), "simulationId")
	w.client(t).Eventually("/api/v1/simulations/"+id, func(r servicetest.Reply) bool { return r.Object()["status"] == "completed" })
	return id
}

// newStudy returns the id of a study with that many points, which have just started.
func (w *world) newStudy(t *testing.T, points int) string {
	t.Helper()
	sizes := make([]int, points)
	for i := range sizes {
		sizes[i] = 1024 * (i + 1)
	}
	return member(t, w.client(t).Post("/api/v1/studies", map[string]any{
		"name": "study", "base": json.RawMessage(`{"simple":{"workload":{"ranks":8,"phases":[{"operationType":"allReduce","dataSize":1}]}}}`),
		"axes": []any{map[string]any{"field": "workload.phases[0].dataSize", "values": sizes}},
	}).Want(201), "id")
}

func (w *world) awaitStudy(t *testing.T, id, status string) {
	t.Helper()
	w.client(t).Eventually("/api/v1/studies/"+id, func(r servicetest.Reply) bool {
		progress, _ := r.Object()["progress"].(map[string]any)
		return r.Object()["status"] == status && progress["unfinished"] == 0.0
	})
}

// newConfiguration returns the id of a draft that has parts of every kind.
func (w *world) newConfiguration(t *testing.T) string {
	t.Helper()
	document := strings.ReplaceAll(everything, "TRACESET", w.traceset)
	return member(t, w.client(t).Post("/api/v1/configurations", json.RawMessage(document)).Want(201), "id")
}

const everything = `{"name": "everything", "activeTraceset": {"id": "TRACESET"},
	"components": [
		{"type": "switch", "model": "clos-switch-v1", "name": "leaf", "version": "1.0.0"},
		{"type": "nic", "model": "roce-nic-v1", "name": "nic", "version": "1.0.0"},
		{"type": "nic", "model": "roce-nic-v1", "name": "spare-nic", "version": "1.0.0"},
		{"type": "server", "model": "gpu-server-v1", "name": "server", "version": "1.0.0", "components": [
			{"name": "nic", "type": "nic"}, {"name": "workload", "type": "application", "parentApplicationName": "workload"}]},
		{"type": "server", "model": "gpu-server-v1", "name": "spare-server", "version": "1.0.0"}],
	"containers": [
		{"type": "rack", "model": "leaf-rack-v1", "name": "rack", "version": "1.0.0", "components": [
			{"name": "leaf", "type": "switch"}, {"name": "server", "type": "server", "count": 8}]},
		{"type": "rack", "model": "leaf-rack-v1", "name": "spare-rack", "version": "1.0.0"}],
	"applications": [
		{"type": "application", "trafficType": "chakra", "name": "workload", "model": "chakra-workload-v1", "version": "1.0.0"},
		{"type": "application", "trafficType": "non-coordinated", "name": "web", "model": "traffic-generator-v1", "version": "1.0.0"}],
	"links": [{"type": "layer", "model": "ethernet-layer-v1", "name": "spine-layer", "version": "1.0.0"}],
	"topology": {"type": "clos", "topologyTiers": 1, "components": [{"name": "rack", "type": "rack"}, {"name": "spine-layer", "type": "layer"}],
		"appDistribution": {"randomApplicationDistribution": [
			{"name": "web-client", "parentApplication": "web", "applicationType": "client", "distributionPercent": {"distributionId": "web-client", "value": 1}},
			{"name": "web-server", "parentApplication": "web", "applicationType": "server", "distributionPercent": {"distributionId": "web-server", "value": 1}}]}},
	"globalParameters": {}}`

// request returns a request that succeeds. It is the contract's example with the ids of
// existing resources, and with other values where the example is not enough.
func (w *world) request(t *testing.T, op operation) request {
	t.Helper()
	r := op.request()
	fresh := op.writes()
	for name := range maps.Clone(r.path) {
		switch {
		case name == "config_id" && fresh:
			r.path[name] = w.newConfiguration(t)
		case name == "config_id":
			r.path[name] = w.configuration
		case name == "sim_id" && fresh:
			r.path[name] = w.newSimulation(t)
		case name == "sim_id", name == "other_id":
			r.path[name] = w.simulation
		case name == "stream_id":
			r.path[name] = w.simulation
		case name == "correlation_id":
			r.path[name] = w.caused
		case name == "study_id" && op.id == "TerminateStudy":
			r.path[name] = w.newStudy(t, 2000) // which take longer than what comes before the request
		case name == "study_id" && op.id == "ResumeStudy":
			r.path[name] = w.newStudy(t, 200)
			w.client(t).Post("/api/v1/studies/"+r.path[name]+"/terminate", nil).Want(200)
			w.awaitStudy(t, r.path[name], "terminated")
			servicetest.AwaitStudyStopped(t, w.program.Config.Postgres, r.path[name])
		case name == "study_id" && fresh:
			r.path[name] = w.newStudy(t, 1)
			w.awaitStudy(t, r.path[name], "completed")
		case name == "study_id":
			r.path[name] = w.study
		case name == "workspace_id" && fresh:
			r.path[name] = w.newWorkspace(t)
		case name == "workspace_id":
			r.path[name] = w.workspace
		case name == "webhook_id" && fresh:
			r.path[name] = w.newWebhook(t, w.client(t))
			if op.id == "ResumeWebhook" {
				w.client(t).Post("/api/v1/webhooks/"+r.path[name]+"/pause", nil).Want(200)
			}
		case name == "webhook_id":
			r.path[name] = w.webhook
		case name == "mapping_file_id" && fresh:
			r.path[name] = w.newMappingFile(t, events.DefaultWorkspace)
		case name == "mapping_file_id":
			r.path[name] = w.mappingFile
		case name == "id" && strings.HasPrefix(op.path, "/api/v1/tracesets/") && fresh:
			r.path[name] = w.newTraceset(t, events.DefaultWorkspace)
		case name == "id" && strings.HasPrefix(op.path, "/api/v1/tracesets/"):
			r.path[name] = w.traceset
		case name == "template_id":
			r.path[name] = w.template
		case name == "stream":
			w.park(t, r.path)
		case name == "version":
			r.path[name] = "1"
		}
	}
	if _, letter := r.path["offset"]; letter {
		w.park(t, r.path)
	}
	body := func(text string) { r.body = json.RawMessage(text) }
	switch op.id {
	case "PatchComponentParameters":
		r.path["component_name"] = "leaf"
	case "AddServerReference":
		body(`{"name": "spare-nic", "type": "nic"}`)
	case "AddContainerReference":
		body(`{"name": "spare-server", "type": "server"}`)
	case "AddTopologyReference":
		body(`{"name": "spare-rack", "type": "rack"}`)
	case "ChangeContainerReference", "RemoveContainerReference":
		r.path["component_name"] = "server"
	case "ChangeTopologyReference", "RemoveTopologyReference":
		r.path["component_name"] = "rack"
	case "RemoveApplication":
		r.path["app_name"] = "web"
	case "DeleteTemplate":
		r.path["template_id"] = member(t, w.client(t).Post("/api/v1/templates",
			map[string]any{"name": "short-lived", "description": "", "category": "what-if"}).Want(201), "id")
	case "AddApplication":
		r.query.Set("name", "another")
	case "AttachTraceset":
		w.client(t).Delete("/api/v1/configurations/" + r.path["config_id"] + "/traceset").Want(200)
		body(`{"tracesetId": "` + w.traceset + `"}`)
	case "AttachMappingFile":
		body(`{"mappingFileId": "` + w.newMappingFile(t, events.DefaultWorkspace) + `"}`)
	case "DetachMappingFile":
		w.client(t).Patch("/api/v1/configurations/"+r.path["config_id"]+"/mapping-file",
			map[string]any{"mappingFileId": w.newMappingFile(t, events.DefaultWorkspace)}).Want(200)
	case "UploadTraceset":
		r.query.Set("workspaceId", w.workspace)
		r.header["Content-Type"], r.body = formType, formOf("a form")
	case "OpenTracesetUpload":
		body(`{"name": "set", "workspaceId": "` + w.workspace + `", "files": [{"name": "a.0.et", "size": 5}]}`)
	case "CompleteTracesetUpload":
		id, files := w.uploaded(t, "/api/v1/tracesets/upload-url", `{"name": "set", "files": [{"name": "a.0.et", "size": 5}]}`, "bytes")
		r.body = map[string]any{"uploadId": id, "files": []any{map[string]any{"name": "a.0.et", "parts": files[0]}}}
	case "OpenMappingFileUpload":
		body(`{"workspaceId": "` + w.workspace + `", "sizeBytes": 4}`)
	case "CompleteMappingFileUpload":
		id, files := w.uploaded(t, "/api/v1/mapping-files/upload-url", `{"workspaceId": "`+w.workspace+`", "sizeBytes": 4}`, "0,0\n")
		r.body = map[string]any{"uploadId": id, "parts": files[0]}
	case "StartSimulation":
		body(`{"configurationId": "` + w.configuration + `", "name": "again", "duration": "1s"}`)
	case "CloneTemplate":
		body(`{"name": "clone", "workspaceId": "` + w.workspace + `"}`)
	case "GetResultDownload":
		r.query.Set("fileName", "summary.json")
	case "GetStudyResults", "GetStudyAnalysis":
		r.query.Del("format") // a table has no pages
	case "GetLibrary":
		r.path["id"] = member(t, w.client(t).Get("/api/v1/tracesets/"+w.traceset).Want(200), "libraryHash")
		r.query.Set("workspaceId", events.DefaultWorkspace)
	case "GetTracesetDownload":
		r.query.Del("file")
	case "ShowLake":
		w.client(t).Eventually(r.target(), func(reply servicetest.Reply) bool { return reply.Status == 200 }) // it is made soon after the start
	case "GetBundle":
		w.program.Checkpoint(t, events.NewID("checkpoint"))
		today := time.Now().UTC().Format(time.DateOnly)
		r.query = url.Values{"from": {today}, "to": {today}, "preliminary": {"true"}}
	case "GetCheckpoint":
		r.path["name"] = events.NewID("checkpoint")
		w.program.Checkpoint(t, r.path["name"])
	case "GetBillingItem":
		w.client(t).Eventually("/api/v1/billing/items", func(reply servicetest.Reply) bool {
			items, _ := reply.Object()["items"].([]any)
			if len(items) > 0 {
				r.path["id"] = text(items[0].(map[string]any)["billingItemId"])
			}
			return len(items) > 0
		})
	}
	return r
}

func TestEveryOperationAnswers(t *testing.T) {
	w := newWorld(t, servicetest.Shared(t))
	each(t, every, func(t *testing.T, op operation) {
		switch r := w.request(t, op).answer(w.client(t)); {
		case op.id == "TerminateSimulation", op.id == "TerminateRun":
			r.Refused(409, "CONFLICT") // the simulation is completed
		case r.Status >= 300:
			t.Errorf("got %d %s, want success", r.Status, r.Body)
		}
	})
}
