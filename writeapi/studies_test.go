package writeapi_test

import (
	"encoding/csv"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/commands"
	"netsim/events"
	"netsim/infra/devissuer"
	"netsim/internal/servicetest"
)

const studies = "/api/v1/studies"

// algorithms returns the request of a study with four points.
func algorithms() object {
	return object{
		"name": "which", "base": object{"simple": workload(8, phase("allReduce", "", 1024))},
		"axes": []object{
			{"field": "workload.phases[0].algorithm", "values": []any{"ring", "recursiveHalvingDoubling"}},
			{"field": "workload.phases[0].dataSize", "values": []any{1024, 65536}},
		},
	}
}

// sizes returns the request of a study of one axis with that many sizes.
func sizes(n int) object {
	values := make([]int, n)
	for i := range values {
		values[i] = 1024 * (i + 1)
	}
	return with(algorithms(), object{"axes": []object{{"field": "workload.phases[0].dataSize", "values": values}}})
}

// startStudy starts a study and returns its id.
func startStudy(c *servicetest.Client, body object) string {
	return c.Post(studies, body).Want(201).Object()["id"].(string)
}

// awaitStudy waits until the study has the status and no unfinished run, and returns it.
func awaitStudy(c *servicetest.Client, id, status string) object {
	return c.Eventually(studies+"/"+id, func(r servicetest.Reply) bool {
		progress, _ := r.Object()["progress"].(object)
		return r.Object()["status"] == status && progress["unfinished"] == 0.0
	}).Object()
}

// rowsOf returns the results of a study.
func rowsOf(c *servicetest.Client, id string) (rows []object) {
	for _, r := range c.Get(studies + "/" + id + "/results?limit=1000").Want(200).Object()["results"].([]any) {
		rows = append(rows, r.(object))
	}
	return rows
}

// TestStudy: a study runs each of its points as an ordinary simulation.
func TestStudy(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, funded(t, p))
	reply := user.Post(studies, algorithms(), key("k")).Want(201)
	first := reply.Object()
	id := first["id"].(string)
	if at := reply.Header.Get("Location"); at != studies+"/"+id || first["status"] != "running" || first["points"] != 4.0 {
		t.Errorf("got Location %s and %v", at, first)
	}
	done := awaitStudy(user, id, "completed")
	want := object{"waiting": 0.0, "shared": 0.0, "unfinished": 0.0, "completed": 4.0, "failed": 0.0, "terminated": 0.0, "invalid": 0.0}
	if diff := cmp.Diff(want, done["progress"]); diff != "" || done["endedAt"] == nil {
		t.Errorf("in the end %v (-want +got):\n%s", done, diff)
	}
	if diff := cmp.Diff(first, user.Post(studies, algorithms(), key("k")).Want(201).Object()); diff != "" {
		t.Errorf("the repetition gets another response (-first +second):\n%s", diff)
	}
	user.Post(studies, sizes(2), key("k")).Refused(422, "UNPROCESSABLE_ENTITY")

	rows := rowsOf(user, id)
	for point, row := range rows {
		want := object{
			"workload.phases[0].algorithm": []string{"ring", "recursiveHalvingDoubling"}[point/2],
			"workload.phases[0].dataSize":  []float64{1024, 65536}[point%2],
		}
		if diff := cmp.Diff(want, row["inputs"]); diff != "" || row["point"] != float64(point) || row["status"] != "completed" || row["shared"] != false {
			t.Errorf("row %d is %v (-want +got):\n%s", point, row, diff)
		}
		s := user.Get(simulations + "/" + row["simulationId"].(string)).Want(200).Object()
		if s["name"] != fmt.Sprintf("which-%d", point) || s["status"] != "completed" {
			t.Errorf("the simulation of point %d is %v", point, s)
		}
		receipt(user, row["simulationId"].(string))
		figures := row["figures"].(object)
		if figures["ranks"] != 8.0 || figures["simulatedTimePs"].(float64) <= 0 || figures["goodputBps"].(float64) <= 0 || figures["bottleneck"] == "" {
			t.Errorf("point %d has the figures %v", point, figures)
		}
	}
	page := user.Get(studies + "/" + id + "/results?limit=3").Want(200).Object()
	next := page["pagination"].(object)["nextCursor"].(string)
	rest := user.Get(studies + "/" + id + "/results?limit=3&cursor=" + next).Want(200).Object()
	if got := append(page["results"].([]any), rest["results"].([]any)...); len(got) != 4 || rest["pagination"].(object)["hasMore"] != false {
		t.Errorf("two pages have %v, and the second %v", got, rest["pagination"])
	}
	for status, n := range map[string]int{"completed": 4, "waiting,failed": 0, "rumour": 0, "rumour,completed": 4} {
		if got := user.Get(studies + "/" + id + "/results?status=" + status).Want(200).Object()["results"].([]any); len(got) != n {
			t.Errorf("%d rows are %s, want %d", len(got), status, n)
		}
	}

	table := user.Get(studies + "/" + id + "/results?format=csv").Want(200)
	lines, err := csv.NewReader(strings.NewReader(string(table.Body))).ReadAll()
	if err != nil || len(lines) != 5 || table.Header.Get("Content-Type") != "text/csv" {
		t.Fatalf("the table is %s %q (%v)", table.Header.Get("Content-Type"), table.Body, err)
	}
	if diff := cmp.Diff([]string{"3", "recursiveHalvingDoubling", "65536", "completed", rows[3]["simulationId"].(string), "false", "8"}, lines[4][:7]); diff != "" {
		t.Errorf("the last line (-want +got):\n%s", diff)
	}
	file := user.Get(studies + "/" + id + "/results?format=parquet").Want(200)
	if kind := file.Header.Get("Content-Type"); kind != "application/vnd.apache.parquet" || !strings.HasPrefix(string(file.Body), "PAR1") || !strings.Contains(string(file.Body), "workload.phases[0].dataSize") {
		t.Errorf("the Parquet table is %s of %d bytes", kind, len(file.Body))
	}
	user.Get(studies+"/"+id+"/results?format=xml").Refused(400, "VALIDATION_ERROR")
	user.Get(studies+"/"+id+"/results?limit=1001").Refused(400, "VALIDATION_ERROR")
	p.User(t, servicetest.NewAccount()).Get(studies+"/"+id+"/results").Refused(404, "NOT_FOUND")
}

// receipt checks that the results of a simulation have a receipt.
func receipt(c *servicetest.Client, simulation string) {
	c.Get(simulations + "/" + simulation + "/results/download-url?fileName=receipt.json").Want(200)
}

func TestStudiesAreRefused(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := funded(t, p)
	user := p.User(t, account)
	axis := func(field string, values ...any) object {
		return object{"axes": []object{{"field": field, "values": values}}}
	}
	long := make([]any, 101)
	for i := range long {
		long[i] = i + 1
	}
	for name, c := range map[string]struct {
		changes object
		message string
	}{
		"no name":             {object{"name": nil}, "name is required"},
		"long name":           {object{"name": strings.Repeat("n", 201)}, "name must be 1 to 200 letters"},
		"no base":             {object{"base": nil}, "base is required"},
		"empty base":          {object{"base": object{}}, "base must have either simple or configuration"},
		"no axes":             {object{"axes": []object{}}, "axes must have between 1 and 16 items, got 0"},
		"no values":           {object{"axes": []object{{"field": "workload.ranks", "values": []any{}}}}, "axes[0].values must have between 1 and 10000 items, got 0"},
		"another workspace":   {object{"workspaceId": events.NewID(events.WorkspacePrefix)}, "workspaceId must be that of simple submissions"},
		"unknown method":      {object{"method": "walk"}, "method must be one of"},
		"unknown member":      {object{"colour": "red"}, "colour"},
		"malformed field":     {axis("workload..ranks", 8), "axes[0].field must be a path"},
		"no such element":     {axis("workload.phases[1].dataSize", 8), "workload.phases[1].dataSize: the base has no such field"},
		"below a number":      {axis("workload.ranks.x", 8), "workload.ranks.x: the base has no such field"},
		"unknown field":       {axis("workload.colour", "red"), `point 0 (workload.colour="red"): workload.colour is unknown; known members: `},
		"a text for a number": {axis("workload.ranks", 8, "x"), `point 1 (workload.ranks="x"): workload.ranks must be an integer, got 'x'`},
		"a point cannot run":  {axis("workload.ranks", 8, 12), "point 1 (workload.ranks=12): "},
		"an unknown value":    {axis("topologyConstraints.subscriptionRatio", "9:1"), "point 0 (topologyConstraints.subscriptionRatio=\"9:1\"): "},
		"the same field":      {object{"axes": []object{{"field": "workload.ranks", "values": []any{8}}, {"field": "workload.ranks", "values": []any{16}}}}, "axes[1].field must differ from that of axes[0]"},
		"the same value":      {axis("workload.ranks", 8, 8.0), "axes[0].values[1] must differ from values[0]"},
		"unequal lists":       {object{"method": "list", "axes": []object{{"field": "workload.ranks", "values": []any{8, 16}}, {"field": "workload.phases[0].dataSize", "values": []any{16}}}}, "axes[1].values must have 2 values"},
		"too many points":     {object{"axes": []object{{"field": "workload.phases[0].dataSize", "values": long}, {"field": "workload.ranks", "values": long}}}, "axes have more than 10000 combinations"},
		"samples of a grid":   {object{"samples": 2}, "samples and seed must be absent, because method is grid"},
		"seed of a grid":      {object{"seed": 2}, "samples and seed must be absent, because method is grid"},
		"no samples":          {object{"method": "sample"}, "samples must be between 1 and 4"},
		"too many samples":    {object{"method": "sample", "samples": 5}, "samples must be between 1 and 4"},
		"samples beyond":      {object{"method": "sample", "samples": 10001}, "samples must be"},
		"too large":           {axis("workload.phases[0].operationType", strings.Repeat("x", 300<<10)), "the values of all axes must have at most 262144 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			body := with(algorithms(), c.changes)
			maps.DeleteFunc(body, func(_ string, value any) bool { return value == nil })
			if message := user.Post(studies, body).Refused(400, "VALIDATION_ERROR"); !strings.Contains(message, c.message) {
				t.Errorf("got the message %q, want one with %q", message, c.message)
			}
		})
	}
	if n := len(user.Get(studies).Want(200).Object()["studies"].([]any)); n != 0 {
		t.Errorf("%d studies were started", n)
	}
	p.SetQuota(t, account, commands.QuotaStudies, 0)
	refusedByQuota(t, `"studies.running";q=0`, user.Post(studies, algorithms()))
	p.SetQuota(t, account, commands.QuotaStudies, 1)
	p.SetQuota(t, account, commands.QuotaRuns, 0)
	refusedByQuota(t, `"runs.unfinished";q=0`, user.Post(studies, algorithms()))
}

// TestAStudySharesResults: a point with the inputs of a completed run takes its result,
// and only runs are billed.
func TestAStudySharesResults(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := funded(t, p)
	user := p.User(t, account)
	plain := submit(t, user, workload(8, phase("allReduce", "ring", 65536)))
	awaitStatus(user, plain, "completed")
	first := startStudy(user, algorithms())
	if shared := awaitStudy(user, first, "completed")["progress"].(object)["shared"]; shared != 1.0 {
		t.Errorf("%v points of the first study are shared, want 1", shared)
	}
	rows := rowsOf(user, first)
	if rows[1]["simulationId"] != plain || rows[1]["shared"] != true || rows[1]["figures"] == nil {
		t.Errorf("point 1 is %v, want the simulation %s", rows[1], plain)
	}
	second := startStudy(user, with(algorithms(), object{"name": "again"}))
	if shared := awaitStudy(user, second, "completed")["progress"].(object)["shared"]; shared != 4.0 {
		t.Errorf("%v points of the second study are shared, want all", shared)
	}
	for point, row := range rowsOf(user, second) {
		if diff := cmp.Diff(rows[point]["figures"], row["figures"]); diff != "" || row["simulationId"] != rows[point]["simulationId"] {
			t.Errorf("point %d of the second study is %v (-first +second):\n%s", point, row, diff)
		}
	}
	// A default and its value are the same input.
	third := startStudy(user, with(algorithms(), object{"method": "list", "axes": []object{
		{"field": "topologyConstraints.subscriptionRatio", "values": []any{"1:1", "1:1"}},
		{"field": "workload.phases[0].dataSize", "values": []any{2048, 2048}},
	}}))
	if progress := awaitStudy(user, third, "completed")["progress"].(object); progress["shared"] != 1.0 || progress["completed"] != 1.0 {
		t.Errorf("the third study ends with %v, want one run for both points", progress)
	}
	if rows := rowsOf(user, third); rows[0]["simulationId"] != rows[1]["simulationId"] || rows[1]["status"] != "completed" {
		t.Errorf("the points of the third study are %v", rows)
	}
	service := p.Service(t, account)
	started := func() (n int) {
		for _, e := range service.Get("/api/v1/billing/items?limit=100").Want(200).Object()["items"].([]any) {
			if e.(object)["details"].(object)["resourceType"] == "simulation" {
				n++
			}
		}
		return n
	}
	service.Eventually("/api/v1/billing/items?limit=100", func(servicetest.Reply) bool { return started() >= 5 })
	if n := started(); n != 5 {
		t.Errorf("%d simulations were billed, want 5: one submission, three and one of the studies", n)
	}
	// Another account shares nothing.
	other := p.User(t, funded(t, p))
	if shared := awaitStudy(other, startStudy(other, algorithms()), "completed")["progress"].(object)["shared"]; shared != 0.0 {
		t.Errorf("another account's study takes %v results", shared)
	}
}

// TestAStudyIsTerminatedResumedAndDeleted as a whole.
func TestAStudyIsTerminatedResumedAndDeleted(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := funded(t, p)
	user := p.User(t, account)
	id := startStudy(user, sizes(160))
	path := studies + "/" + id
	user.Delete(path).Refused(409, "CONFLICT")
	user.Post(path+"/resume", nil).Refused(409, "CONFLICT")
	elsewhere := newWorkspace(t, p.Service(t, account), "elsewhere")
	p.Client(t, devissuer.Options{Account: account, User: "another", Workspaces: []string{elsewhere}}).Post(path+"/terminate", nil).Refused(403, "FORBIDDEN")
	p.User(t, servicetest.NewAccount()).Post(path+"/terminate", nil).Refused(404, "NOT_FOUND")
	stopped := user.Post(path+"/terminate", nil, key("k")).Want(200).Object()
	if stopped["status"] != "terminated" || stopped["reason"] != "request" || stopped["endedAt"] == nil {
		t.Errorf("got %v, want terminated", stopped)
	}
	user.Post(path+"/terminate", nil, key("k")).Want(200)
	user.Post(path+"/terminate", nil).Refused(409, "CONFLICT")
	progress := awaitStudy(user, id, "terminated")["progress"].(object)
	if progress["waiting"] == 0.0 {
		t.Errorf("the terminated study has %v, want waiting points", progress)
	}
	servicetest.AwaitStudyStopped(t, p.Config.Postgres, id)
	again := user.Post(path+"/resume", nil, key("r")).Want(200).Object()
	if again["status"] != "running" || again["reason"] != nil || again["endedAt"] != nil {
		t.Errorf("got %v, want running", again)
	}
	user.Post(path+"/resume", nil, key("r")).Want(200)
	if progress := awaitStudy(user, id, "completed")["progress"].(object); progress["completed"] != 160.0 {
		t.Errorf("the resumed study ends with %v, want every point completed", progress)
	}
	rows := rowsOf(user, id)
	user.Post(path+"/resume", nil).Refused(409, "CONFLICT")
	user.Delete(path, key("d")).Want(200)
	user.Delete(path, key("d")).Want(200)
	user.Delete(path).Refused(404, "NOT_FOUND")
	user.Get(path).Refused(404, "NOT_FOUND")
	user.Get(path+"/results").Refused(404, "NOT_FOUND")
	user.Post(path+"/terminate", nil).Refused(404, "NOT_FOUND")
	for _, row := range []object{rows[0], rows[159]} {
		user.Eventually(simulations+"/"+row["simulationId"].(string), func(r servicetest.Reply) bool { return r.Status == 404 })
	}
	user.Eventually(configurations, func(r servicetest.Reply) bool { return len(r.Object()["configurations"].([]any)) == 0 })
	user.Get(studies+"/study_x").Refused(400, "VALIDATION_ERROR")
	user.Get(studies+"/study_x/results").Refused(400, "VALIDATION_ERROR")
	p.Bearer(t, "").Post(path+"/resume", nil).Refused(401, "UNAUTHORIZED")
}

// TestADeletedRunEndsItsPoint: the point of a run that was deleted before it started is
// terminated, and does not wait for another run.
func TestADeletedRunEndsItsPoint(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := funded(t, p)
	user := p.User(t, account)
	p.SetQuota(t, account, commands.QuotaRunning, 0)
	id := startStudy(user, algorithms())
	path := studies + "/" + id
	user.Eventually(path+"/results?status=provisioning", func(r servicetest.Reply) bool { return len(r.Object()["results"].([]any)) == 4 })
	rows := rowsOf(user, id)
	user.Delete(simulations + "/" + rows[1]["simulationId"].(string)).Want(200)
	user.Eventually(path+"/results?status=terminated", func(r servicetest.Reply) bool { return len(r.Object()["results"].([]any)) == 1 })
	user.Delete(simulations + "/" + rows[2]["simulationId"].(string)).Want(200)
	p.SetQuota(t, account, commands.QuotaRunning, 8) // from now on, each end of a run of any account lets others start
	submit(t, user, workload(8, phase("allReduce", "", 4096)))
	want := object{"waiting": 0.0, "shared": 0.0, "unfinished": 0.0, "completed": 2.0, "failed": 0.0, "terminated": 2.0, "invalid": 0.0}
	if diff := cmp.Diff(want, awaitStudy(user, id, "completed")["progress"]); diff != "" {
		t.Errorf("in the end (-want +got):\n%s", diff)
	}
	for point, row := range rowsOf(user, id) {
		if want := []string{"completed", "terminated", "terminated", "completed"}[point]; row["status"] != want {
			t.Errorf("point %d is %v, want %s", point, row, want)
		}
	}
}

func TestStudiesAreListed(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := funded(t, p)
	user := p.User(t, account)
	var ids []string
	for i := range 3 {
		id := startStudy(user, with(algorithms(), object{"name": fmt.Sprintf("study-%d", i), "method": "sample", "samples": 2, "seed": i}))
		awaitStudy(user, id, "completed")
		ids = append([]string{id}, ids...)
	}
	list := func(query string) (found []string) {
		for _, s := range user.Get(studies + "?" + query).Want(200).Object()["studies"].([]any) {
			found = append(found, s.(object)["id"].(string))
		}
		return found
	}
	for query, want := range map[string][]string{
		"": ids, "status=completed": ids, "status=running,terminated": nil, "status=rumour": nil,
		"search=UDY-1": ids[1:2], "workspaceId=" + events.DefaultWorkspace: ids,
		"createdAfter=2100-01-01T00:00:00Z": nil, "createdBefore=2100-01-01T00:00:00Z": ids, "limit=2": ids[:2],
	} {
		if diff := cmp.Diff(want, list(query)); diff != "" {
			t.Errorf("the list with %q (-want +got):\n%s", query, diff)
		}
	}
	page := user.Get(studies + "?limit=2").Want(200).Object()
	if got := list("limit=2&cursor=" + page["pagination"].(object)["nextCursor"].(string)); !cmp.Equal(got, ids[2:]) {
		t.Errorf("the second page has %v, want %v", got, ids[2:])
	}
	limited := p.User(t, account, events.NewID(events.WorkspacePrefix))
	if got := limited.Get(studies).Want(200).Object()["studies"].([]any); len(got) != len(ids) {
		t.Errorf("a member of another workspace sees %d studies of the default one, want %d", len(got), len(ids))
	}
	limited.Get(studies+"?workspaceId="+events.NewID(events.WorkspacePrefix)).Refused(403, "FORBIDDEN")
}
