package readapi_test

import (
	"slices"
	"testing"

	"netsim/internal/servicetest"
)

const (
	simple         = "/api/v1/simple"
	simulations    = "/api/v1/simulations"
	configurations = "/api/v1/configurations"
	workspaces     = "/api/v1/workspaces"
)

type object = map[string]any

// funded returns a new account with credit.
func funded(t *testing.T, p *servicetest.Program) string {
	t.Helper()
	account := servicetest.NewAccount()
	p.Grant(t, account, "1000000")
	return account
}

func workload(ranks int, operation string) object {
	return object{"workload": object{"ranks": ranks, "phases": []object{{"operationType": operation, "dataSize": 65536}}}}
}

func with(body object, name string, value any) object {
	body[name] = value
	return body
}

// submit submits a workload and returns the simulation's id.
func submit(t *testing.T, c *servicetest.Client, body object) string {
	t.Helper()
	return c.Post(simple+"/simulations", body).Want(202).Object()["simulationId"].(string)
}

// completed waits until the simulation is completed, and returns it.
func completed(c *servicetest.Client, id string) object {
	return c.Eventually(simulations+"/"+id, func(r servicetest.Reply) bool {
		return r.Object()["status"] == "completed"
	}).Object()
}

func newWorkspace(t *testing.T, service *servicetest.Client, name string) string {
	t.Helper()
	return service.Post(workspaces, object{"name": name}).Want(201).Object()["id"].(string)
}

// pages reads all pages of a list, and returns one member of every row.
func pages(t *testing.T, c *servicetest.Client, path, list, member string) []string {
	t.Helper()
	got := []string{}
	next := ""
	for {
		reply := c.Get(path + next).Want(200).Object()
		rows := reply[list].([]any)
		for _, row := range rows {
			got = append(got, row.(object)[member].(string))
		}
		p := reply["pagination"].(object)
		if int(p["count"].(float64)) != len(rows) {
			t.Errorf("%s: got the count %v for %d rows", path+next, p["count"], len(rows))
		}
		cursor, more := p["nextCursor"].(string)
		if more != p["hasMore"].(bool) {
			t.Fatalf("%s: hasMore and nextCursor disagree in %v", path+next, p)
		}
		if !more {
			return got
		}
		next = "&next=" + cursor
	}
}

// cursor returns the cursor of the page after the first.
func cursor(c *servicetest.Client, path string) string {
	return c.Get(path).Want(200).Object()["pagination"].(object)["nextCursor"].(string)
}

// since returns the ids of the resources that were created at or after a time, and
// before those created before it. Timestamps sort as text in the order of their times.
func since(ids []string, at func(string) string, when string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return at(id) < when })
}

func before(ids []string, at func(string) string, when string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return at(id) >= when })
}
