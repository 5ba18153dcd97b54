package service

import (
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/google/go-cmp/cmp"

	"netsim/api/contract"
	"netsim/infra/web"
)

// The router, the contract and the documents have exactly the same operations. The list
// of the documents' operations below is written by hand.
func TestTheRoutesAreThoseOfTheDocuments(t *testing.T) {
	t.Parallel()
	terms, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	ofContract := map[string]bool{}
	for _, op := range terms.Operations() {
		ofContract[op.Method+" "+op.Path] = true
	}
	if diff := cmp.Diff(served(t, terms), ofContract); diff != "" {
		t.Errorf("the router and the contract differ (-router +contract):\n%s", diff)
	}
	var documented []string
	for line := range strings.Lines(documents) {
		route, _, _ := strings.Cut(line, " | ")
		method, path, _ := strings.Cut(route, " ")
		path = "/api/v1" + strings.Replace(path, "C/", "/configurations/{config_id}/", 1)
		documented = append(documented, method+" "+path)
	}
	slices.Sort(documented)
	if diff := cmp.Diff(documented, slices.Sorted(maps.Keys(ofContract))); diff != "" {
		t.Errorf("the documents and the contract differ (-documents +contract):\n%s", diff)
	}
}

// served lists the routes of the router below /api.
func served(t *testing.T, terms *contract.Contract) map[string]bool {
	t.Helper()
	router := frontEnd{contract: terms, metrics: &web.Metrics{}, log: slog.New(slog.DiscardHandler)}.router(nil)
	routes := map[string]bool{}
	err := chi.Walk(router.(chi.Routes), func(method, path string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		if strings.HasPrefix(path, "/api/") {
			routes[method+" "+path] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return routes
}

// documents lists every operation of the documents with its source. D1 and D2 are
// document 1 and document 2. A number is a section of the completions, with the row of
// its table if it has one. C/ stands for the path of a configuration.
const documents = `POST /simple/simulations | D1 Simple
POST /simple/simulations/preview | D1 Simple
GET /simple/compatibility | D1 Simple
GET /simulations | D1 Simulations
POST /simulations | D1 Simulations, 5.2
GET /simulations/{sim_id} | D1 Simulations
GET /simulations/{sim_id}/events | ours, issue 5
GET /events | ours, issue 14
GET /streams/{stream_id} | ours, issue 25
GET /webhooks | ours, issue 27
POST /webhooks | ours, issue 27
GET /webhooks/{webhook_id} | ours, issue 27
PATCH /webhooks/{webhook_id} | ours, issue 27
DELETE /webhooks/{webhook_id} | ours, issue 27
POST /webhooks/{webhook_id}/rotate-secret | ours, issue 27
POST /webhooks/{webhook_id}/pause | ours, issue 27
POST /webhooks/{webhook_id}/resume | ours, issue 27
POST /webhooks/{webhook_id}/test | ours, issue 27
POST /webhooks/{webhook_id}/replay | ours, issue 27
GET /webhooks/{webhook_id}/attempts | ours, issue 27
GET /causes/{correlation_id} | ours, issue 25
DELETE /simulations/{sim_id} | D1 Simulations, 5.5
POST /simulations/{sim_id}/terminate | D1 Simulations, 5.4
GET /studies | ours, issue 16
POST /studies | ours, issue 16
POST /studies/preview | ours, issue 16
GET /studies/{study_id} | ours, issue 16
DELETE /studies/{study_id} | ours, issue 16
POST /studies/{study_id}/terminate | ours, issue 16
POST /studies/{study_id}/resume | ours, issue 16
GET /studies/{study_id}/events | ours, issue 16
GET /studies/{study_id}/analysis | ours, issue 16
GET /studies/{study_id}/analysis.csv | ours, ADR 80
GET /studies/{study_id}/results | ours, issue 16
GET /studies/{study_id}/results.csv | ours, ADR 80
GET /studies/{study_id}/results.parquet | ours, ADR 80
GET /simulations/{sim_id}/results | D1 Simulations, 5.3
GET /simulations/{sim_id}/results/download-url | D1 Simulations, 5.8
GET /simulations/{sim_id}/results/data | D1 Simulations, 5.7
GET /simulations/{sim_id}/compare/{other_id} | ours, issue 16
GET /simulations/{sim_id}/logs | D1 Simulations, 5.8
GET /billing/balance | D1 Billing
GET /billing/costs | D1 Billing
GET /billing/costs/summary | D1 Billing
GET /billing/focus | ours, issue 25
GET /billing/focus.parquet | ours, ADR 80
GET /billing/items | D1 Billing
GET /billing/items/{id} | D1 Billing
GET /billing/events | D1 Billing
GET /billing/rates | D1 Billing
GET /operations/read-models | ours, ADR 76
GET /operations/streams | ours, ADR 76
GET /operations/parked-facts | ours, ADR 76
GET /operations/parked-facts/{stream}/{sequence} | ours, ADR 76
POST /operations/parked-facts/{stream}/retry | ours, ADR 76
GET /operations/reactions | ours, ADR 76
GET /operations/dead-letters | ours, ADR 76
GET /operations/dead-letters/{handler_name}/{family}/{partition}/{offset} | ours, ADR 76
POST /operations/dead-letters/retry | ours, ADR 76
POST /operations/dead-letters/{handler_name}/{family}/{partition}/{offset}/retry | ours, ADR 76
GET /operations/jobs | ours, ADR 76
GET /operations/runs | ours, ADR 76
POST /operations/runs/{sim_id}/terminate | ours, ADR 76
GET /operations/upgrade | ours, ADR 76
GET /operations/lake | ours, ADR 76
GET /operations/public-topics | ours, ADR 76
GET /operations/checkpoint | ours, ADR 76
GET /operations/acts | ours, ADR 76
GET /billing/bundle | ours, 11.13
GET /billing/checkpoints | ours, 11.13
GET /billing/checkpoints/{name} | ours, 11.13
GET /health | 2.1 (ours)
GET /health/ready | 2.1 (ours)
GET /chart-definitions | 2.2
GET /components | 2.3
GET /components/{component_id} | 2.3
GET /models | 2.4
GET /models/{model_id} | 2.4
GET /models/{model_id}/versions | 2.4
GET /templates | 2.5
POST /templates | 2.5
GET /templates/{template_id} | 2.5
DELETE /templates/{template_id} | 10.8
POST /templates/{template_id}/clone | 2.5
POST /topology/validate | 2.6
GET /libraries | 2.7
GET /libraries/{id} | 2.7
GET /workspaces | D1 Workspaces, 2.8
POST /workspaces | D1 Workspaces, 2.8
GET /workspaces/{workspace_id} | D1 Workspaces, 2.8
PATCH /workspaces/{workspace_id} | D1 Workspaces, 2.8
DELETE /workspaces/{workspace_id} | D1 Workspaces, 2.8
POST /workspaces/{workspace_id}/legacy-project | D1 Workspaces, 2.8
GET /configurations | 3.5 row 1
POST /configurations | 3.5 row 2
GET /configurations/{config_id} | 3.5 row 3
PATCH /configurations/{config_id} | 3.5 row 4
DELETE /configurations/{config_id} | 3.5 row 5
GET C/applications | 3.5 row 6
POST C/applications | 3.5 row 7
DELETE C/applications/{app_name} | 3.5 row 8
PATCH C/applications/{app_name}/parameters | 3.5 row 9
GET C/components | 3.5 row 10
POST C/components | 3.5 row 11
DELETE C/components/{component_name} | 3.5 row 12
PATCH C/components/{component_name}/parameters | 3.5 row 13
PATCH C/configurations/{component_name} | 3.5 row 14
PATCH C/configurations/{component_name}/components/{child_name} | 3.5 row 15
DELETE C/configurations/{component_name}/components/{child_name} | 3.5 row 16
GET C/containers | 3.5 row 17
PATCH C/containers/{container_name} | 3.5 row 18
GET C/containers/{container_name}/allowed | 3.5 row 19
PATCH C/containers/{container_name}/components/{component_name} | 3.5 row 20
DELETE C/containers/{container_name}/components/{component_name} | 3.5 row 21
PATCH C/distribution | 3.5 row 22
GET C/links | 3.5 row 23
PATCH C/links/{link_name}/parameters | 3.5 row 24
PATCH C/parameters | 3.5 row 25
GET C/software-version | 3.5 row 26
PATCH C/topology | 3.5 row 27
PATCH C/topology/{component_name} | 3.5 row 28
DELETE C/topology/{component_name} | 3.5 row 29
GET C/traceset | 3.5 row 30
PATCH C/traceset | 3.5 row 31
POST C/validate | 3.5 row 32
GET C/versions | 3.5 row 33
GET C/versions/{version} | 3.5 row 34
PATCH C/mapping-file | 3.5 row 35, D2
DELETE C/mapping-file | 3.5 row 36, D2
DELETE C/traceset | 3.5 row 37 (ours)
POST C/clone | ours: what templates can, for any configuration
GET C/diff | ours: what changed between two versions
GET /tracesets | D2 Tracesets
POST /tracesets | D2 Tracesets, 6.2
POST /tracesets/upload-url | D2 Tracesets, 6.2
POST /tracesets/upload-url/complete | D2 Tracesets, 6.2
GET /tracesets/{id} | D2 Tracesets
DELETE /tracesets/{id} | D2 Tracesets
GET /tracesets/{id}/download | D2 Tracesets
POST /tracesets/{id}/promote | D2 Tracesets
GET /tracesets/{id}/resolve | D2 Tracesets
POST /tracesets/{id}/validate | D2 Tracesets
GET /mapping-files | D2 Mapping files
GET /mapping-files/{mapping_file_id} | D2 Mapping files
DELETE /mapping-files/{mapping_file_id} | D2 Mapping files
GET /mapping-files/{mapping_file_id}/download | D2 Mapping files
POST /mapping-files/upload-url | D2 Mapping files
POST /mapping-files/upload-url/complete | D2 Mapping files
`
