package readapi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"netsim/events"
	"netsim/infra/devissuer"
	"netsim/internal/servicetest"
)

// tree returns all nodes of what a request caused, and how many are hidden.
func tree(t *testing.T, c *servicetest.Client, request, query string) (nodes []object, hidden int) {
	t.Helper()
	for next := ""; ; {
		page := c.Get(causes + request + "?" + query + next).Want(200).Object()
		for _, n := range page["nodes"].([]any) {
			nodes = append(nodes, n.(object))
		}
		hidden += int(page["hidden"].(float64))
		pagination := page["pagination"].(object)
		if pagination["hasMore"] == false {
			return nodes, hidden
		}
		next = "&next=" + pagination["nextCursor"].(string)
	}
}

// billedOf waits until a request has led to a run's usage from its start to its end, and
// returns the tree.
func billedOf(t *testing.T, p *servicetest.Program, c *servicetest.Client, request string) (nodes []object) {
	t.Helper()
	c.Eventually(causes+request, func(r servicetest.Reply) bool {
		return r.Status == 200 && strings.Count(string(r.Body), `"netsim.billing.usage_recorded.v1"`) >= 2 &&
			strings.Contains(string(r.Body), `"netsim.billing.credit_released.v1"`)
	})
	nodes, hidden := tree(t, c, request, "")
	if hidden != 0 {
		t.Errorf("%d facts are hidden from a service token of the account", hidden)
	}
	return nodes
}

// TestARequestIsFollowedToItsBill: what the submission of a run led to is one tree down to
// its usage. Each node is the fact of its stream, and the state after the last fact of each
// stream is what the API shows.
func TestARequestIsFollowedToItsBill(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := funded(t, p)
	service := p.Service(t, account)
	request := "submit-" + account
	body := object{"workload": object{"ranks": 8, "phases": []object{{"operationType": "allReduce", "dataSize": 77_777}}}} // no other test has its traceset
	sim := service.Post(simple+"/simulations", body, header("X-Request-Id", request)).Want(202).Object()["simulationId"].(string)
	completed(service, sim)
	nodes := billedOf(t, p, service, request)

	byID := map[string]object{}
	types := map[string]int{}
	for _, n := range nodes {
		byID[n["id"].(string)] = n
		types[n["type"].(string)]++
	}
	for _, want := range []string{
		"netsim.simulation.requested.v1", "netsim.traceset.created.v1", "netsim.configuration.created.v1",
		"netsim.simulation.started.v1", "netsim.simulation.results_published.v1", "netsim.simulation.completed.v1", "netsim.billing.usage_recorded.v1",
	} {
		if types[want] == 0 {
			t.Errorf("the tree has no %s: %v", want, types)
		}
	}
	for _, n := range nodes {
		var path []string
		for at := n; at != nil; at = byID[fmt.Sprint(at["parentId"])] {
			path = append(path, fmt.Sprint(at["type"]))
			if len(path) > len(nodes) {
				t.Fatalf("the parents of %v go round", n)
			}
			if parent := at["parentId"]; parent != nil && byID[parent.(string)] == nil {
				t.Errorf("the parent %v of %v is not in the tree", parent, at)
			}
		}
		// The request holds credit before it requests the run.
		if root := path[len(path)-1]; root != "netsim.simulation.requested.v1" && path[0] != "netsim.billing.credit_held.v1" {
			t.Errorf("%v follows from %v, want that it follows from the request for the run", n, path)
		}
	}
	ofStreams(t, service, nodes, request)
	last := func(stream string) object {
		all := facts(t, service, stream, "state=true")
		return all[len(all)-1]["after"].(object)
	}
	run := service.Get(simulations + "/" + sim).Want(200).Object()
	if state := last(sim); state["status"] != run["status"] {
		t.Errorf("the last state of the run is %v, and the API shows %v", state, run["status"])
	}
	id := run["configurationId"].(string)
	configuration := service.Get(configurations + "/" + id).Want(200).Object()
	if state := last(id); state["status"] != configuration["status"] || state["version"] != configuration["version"] {
		t.Errorf("the last state of the configuration is %v, and the API shows the status %v and version %v", state, configuration["status"], configuration["version"])
	}
	traceset := configuration["activeTraceset"].(object)["id"].(string)
	if state, shown := last(traceset), service.Get("/api/v1/tracesets/"+traceset).Want(200).Object(); state["status"] != shown["status"] || state["scope"] != shown["scope"] {
		t.Errorf("the last state of the traceset is %v, and the API shows %v, %v", state, shown["status"], shown["scope"])
	}
	balance := service.Get("/api/v1/billing/balance").Want(200).Object()["balances"].([]any)[0].(object)
	credit := last(account)["credits"].(object)["CREDIT"].(object)
	if balance["currentBalance"] != credit["balance"] {
		t.Errorf("the last state of the account has the credit %v, and the API shows %v", credit, balance)
	}
	if paged, _ := tree(t, service, request, "limit=3"); !slices.EqualFunc(nodes, paged, func(a, b object) bool { return a["id"] == b["id"] && a["parentId"] == b["parentId"] }) {
		t.Errorf("in pages of 3 the tree has other nodes: %v, want %v", paged, nodes)
	}
}

// ofStreams compares each node with the fact of its stream.
func ofStreams(t *testing.T, c *servicetest.Client, nodes []object, request string) {
	t.Helper()
	for _, n := range nodes {
		all := facts(t, c, n["stream"].(string), fmt.Sprintf("limit=1&from=%.0f", n["sequence"]))
		f := all[0]
		for _, name := range []string{"id", "type", "time", "actor", "causeId", "sequence"} {
			if f[name] != n[name] {
				t.Errorf("the node %v is not the fact %v", n, f)
			}
		}
		if fmt.Sprint(f["position"]) != fmt.Sprint(n["position"]) || f["correlationId"] != request {
			t.Errorf("the node %v is not the fact %v of request %s", n, f, request)
		}
	}
}

// TestWhoSeesCauses: a caller gets the nodes that it may see, a count of the others of its
// account, and nothing of other accounts, not even from a request with the same id.
func TestWhoSeesCauses(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account, other := funded(t, p), funded(t, p)
	request := "same-" + account
	submitted := func(account string) string {
		return p.Service(t, account).Post(simple+"/simulations", workload(8, "allReduce"), header("X-Request-Id", request)).Want(202).Object()["simulationId"].(string)
	}
	sims := map[string]string{account: submitted(account), other: submitted(other)}
	for account, sim := range sims {
		service := p.Service(t, account)
		completed(service, sim)
		all := billedOf(t, p, service, request)
		bills, accounts := 0, map[string]bool{}
		for _, n := range all {
			if stream := n["stream"].(string); strings.HasPrefix(stream, "acct_") {
				bills++
				accounts[stream] = true
			} else if strings.HasPrefix(stream, "sim_") && stream != sim {
				t.Errorf("the tree of one account has the run of another: %v", n)
			}
		}
		if len(accounts) != 1 || !accounts[account] {
			t.Errorf("the tree has usage of %v, want that of %s", accounts, account)
		}
		seen, hidden := tree(t, p.User(t, account), request, "")
		if len(seen) != len(all)-bills || hidden != bills {
			t.Errorf("a user sees %d nodes and %d are hidden, want %d without the bill, and %d", len(seen), hidden, len(all)-bills, bills)
		}
		workspace := newWorkspace(t, service, "w")
		service.Patch(workspaces+"/"+workspace, object{"name": "v"}, header("If-Match", `"1"`), header("X-Request-Id", "in-"+workspace)).Want(200)
		elsewhere := p.User(t, account, newWorkspace(t, service, "elsewhere"))
		if nodes, hidden := tree(t, elsewhere, "in-"+workspace, ""); len(nodes) != 0 || hidden != 1 {
			t.Errorf("who is no member of the workspace sees %v and %d hidden, want one hidden", nodes, hidden)
		}
	}
	everyone, hidden := tree(t, p.Client(t, devissuer.Options{User: "operator", Account: servicetest.NewAccount(), Roles: []string{"operator"}}), request, "")
	ended := 0
	for _, n := range everyone {
		if n["type"] == "netsim.simulation.completed.v1" {
			ended++
		}
	}
	if hidden != 0 || ended != 2 {
		t.Errorf("an operator sees %d completed runs, and %d facts are hidden; want both runs, and none", ended, hidden)
	}
	stranger := p.Service(t, servicetest.NewAccount())
	missing := stranger.Get(causes+"nobody-"+account).Refused(404, "NOT_FOUND")
	if got := stranger.Get(causes+request).Refused(404, "NOT_FOUND"); strings.ReplaceAll(got, request, "ID") != strings.ReplaceAll(missing, "nobody-"+account, "ID") {
		t.Errorf("another account gets %q, and %q for a missing one", got, missing)
	}
	p.Bearer(t, "").Get(causes+request).Refused(401, "UNAUTHORIZED")
	for id, says := range map[string]string{"a%20b": "must be letters, digits", strings.Repeat("x", 129): "must be letters, digits"} {
		if got := stranger.Get(causes+id).Refused(400, "VALIDATION_ERROR"); !strings.Contains(got, says) {
			t.Errorf("%s: %q, want %q in it", id, got, says)
		}
	}
}

// TestAStudyIsFollowedToItsRuns: the runs of a study belong to the request that started it.
func TestAStudyIsFollowedToItsRuns(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := funded(t, p)
	service := p.Service(t, account)
	request := "study-" + account
	study := service.Post("/api/v1/studies", object{
		"name": "study", "base": object{"simple": workload(8, "allReduce")},
		"axes": []any{object{"field": "workload.phases[0].dataSize", "values": []int{1024, 2048}}},
	}, header("X-Request-Id", request)).Want(201).Object()["id"].(string)
	service.Eventually("/api/v1/studies/"+study, func(r servicetest.Reply) bool { return r.Object()["status"] == "completed" })
	nodes, _ := tree(t, service, request, "")
	ended := map[string]bool{}
	studied := 0
	for _, n := range nodes {
		stream := n["stream"].(string)
		if n["type"] == "netsim.simulation.completed.v1" {
			ended[stream] = true
		}
		if strings.HasPrefix(stream, events.StudyPrefix+"_") {
			studied++
		}
	}
	if len(ended) != 2 || studied != len(facts(t, service, study, "")) {
		t.Errorf("the tree has %d completed runs and %d facts of the study, want 2 and all: %v", len(ended), studied, nodes)
	}
}
