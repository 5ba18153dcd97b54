package conformance_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"netsim/infra/devissuer"
	"netsim/internal/servicetest"
)

// private has the resources of a workspace that other tokens do not name.
type private struct {
	ids   map[string]string // by the parameter of the path; "id" is a traceset
	item  string            // a billing item of the account
	start json.RawMessage   // starts a simulation of the configuration
}

func (w *world) newPrivate(t *testing.T) private {
	t.Helper()
	c := w.client(t)
	p := private{ids: map[string]string{
		"workspace_id": w.workspace, "mapping_file_id": w.newMappingFile(t, w.workspace), "id": w.newTraceset(t, w.workspace),
	}}
	p.ids["config_id"] = member(t, c.Post("/api/v1/configurations/"+w.configuration+"/clone",
		map[string]any{"name": "mine", "workspaceId": w.workspace}).Want(201), "id")
	c.Post("/api/v1/configurations/"+p.ids["config_id"]+"/validate", nil).Want(200)
	p.ids["webhook_id"] = w.newWebhook(t, w.program.Client(t, devissuer.Options{Account: w.account, Workspaces: []string{w.workspace}}))
	p.start = json.RawMessage(`{"configurationId": "` + p.ids["config_id"] + `", "name": "mine", "duration": "1s"}`)
	p.ids["sim_id"] = member(t, c.Post("/api/v1/simulations", p.start).Want(201), "id")
	p.ids["stream_id"] = p.ids["sim_id"]
	c.Eventually("/api/v1/simulations/"+p.ids["sim_id"], func(r servicetest.Reply) bool { return r.Object()["status"] == "completed" })
	c.Eventually("/api/v1/billing/items", func(r servicetest.Reply) bool {
		items, _ := r.Object()["items"].([]any)
		if len(items) > 0 {
			p.item = text(items[0].(map[string]any)["billingItemId"])
		}
		return len(items) > 0
	})
	return p
}

// request returns the contract's example of a request, for a private resource if the
// operation concerns one.
func (p private) request(w *world, op operation) (r request, about bool) {
	r = op.request()
	for name := range r.path {
		if id, ok := p.ids[name]; ok && (name != "id" || strings.HasPrefix(op.path, "/api/v1/tracesets/")) {
			r.path[name], about = id, true
		}
	}
	switch op.id {
	case "GetConfigurationVersion":
		r.path["version"] = "1"
	case "GetResultDownload":
		r.query.Set("fileName", "summary.json")
	case "CompareSimulations":
		r.path["other_id"] = p.ids["sim_id"]
	case "GetBillingItem":
		r.path["id"], about = p.item, true
	case "StartSimulation":
		r.body, about = p.start, true
	case "CloneTemplate":
		r.path["template_id"], about = w.template, true
		r.body = map[string]any{"name": "clone", "workspaceId": w.workspace}
	}
	return r, about
}

// state returns what the workspace's owner sees of it.
func (p private) state(t *testing.T, w *world) string {
	t.Helper()
	c := w.client(t)
	var all []string
	for name, path := range map[string]string{
		"workspace_id": "workspaces", "mapping_file_id": "mapping-files", "id": "tracesets", "config_id": "configurations", "sim_id": "simulations", "webhook_id": "webhooks",
	} {
		all = append(all, fmt.Sprint(c.Get("/api/v1/"+path+"/"+p.ids[name]).Want(200).Object()))
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}
