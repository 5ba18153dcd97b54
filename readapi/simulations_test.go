package readapi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/events"
	"netsim/infra/devissuer"
	"netsim/internal/servicetest"
)

func TestListSimulations(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := funded(t, p)
	user := p.User(t, account)
	var made []string // newest first
	for i := range 5 {
		id := submit(t, user, with(workload(8, "allReduce"), "name", fmt.Sprintf("Run_%d", i%3)))
		made = slices.Insert(made, 0, id)
	}
	for _, id := range made {
		completed(user, id)
	}
	item := user.Get(simulations + "?limit=1").Want(200).Object()["simulations"].([]any)[0].(object)
	whole := user.Get(simulations + "/" + made[0]).Want(200).Object()
	want := object{}
	for _, member := range []string{"id", "workspaceId", "configurationId", "configurationVersion", "name", "status", "createdAt"} {
		want[member] = whole[member]
	}
	if diff := cmp.Diff(want, item); diff != "" {
		t.Errorf("list item (-simulation +item):\n%s", diff)
	}

	oldestFirst := slices.Clone(made)
	slices.Reverse(oldestFirst)
	at := func(id string) string { return user.Get(simulations + "/" + id).Object()["createdAt"].(string) }
	for filter, want := range map[string][]string{
		"":                                       made,
		"sort=created:asc":                       oldestFirst,
		"status=completed":                       made,
		"status=accepted,completed":              made,
		"status=running,failed":                  {},
		"status=accepted":                        {}, // unknown, so nothing matches
		"search=run_":                            made,
		"search=RUN_1":                           {made[0], made[3]},
		"search=run1":                            {},
		"workspaceId=" + events.DefaultWorkspace: made,
		"workspaceId=" + events.DefaultWorkspace + "&status=completed": made,
		"workspaceId=" + events.NewID(events.WorkspacePrefix):          {},
		"createdBefore=" + at(made[2]):                                 before(made, at, at(made[2])),
		"createdAfter=" + at(made[2]):                                  since(made, at, at(made[2])),
		"sort=name:asc,created:desc":                                   {made[1], made[4], made[0], made[3], made[2]},
		"sort=name:desc,created:asc":                                   {made[2], made[3], made[0], made[4], made[1]},
		"sort=status:asc,created:desc":                                 made,
		"sort=started:desc,created:desc&status=running":                {},
	} {
		if diff := cmp.Diff(want, pages(t, user, simulations+"?limit=2&"+filter, "simulations", "id")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", filter, diff)
		}
	}
	for _, sort := range []string{"started:asc", "completed:desc"} {
		got := pages(t, user, simulations+"?limit=2&sort="+sort, "simulations", "id")
		slices.Sort(got)
		if !slices.Equal(got, slices.Sorted(slices.Values(made))) {
			t.Errorf("sort=%s: got %v, want every simulation once", sort, got)
		}
	}
	for _, bad := range []string{
		"sort=size:asc", "sort=created", "sort=created:up", "workspaceId=config_x", "workspaceId=workspace_x",
		"search=" + strings.Repeat("x", 101), "limit=0", "limit=101", "createdAfter=x", "next=x", "colour=red",
	} {
		user.Get(simulations+"?"+bad).Refused(400, "VALIDATION_ERROR")
	}

	mine := p.User(t, account, events.NewID(events.WorkspacePrefix))
	if got := pages(t, mine, simulations+"?limit=3", "simulations", "id"); !slices.Equal(got, made) {
		t.Errorf("got %v, want all simulations of the account in the default workspace", got)
	}
	mine.Get(simulations+"?workspaceId="+events.NewID(events.WorkspacePrefix)).Refused(403, "FORBIDDEN")
	if got := pages(t, p.User(t, servicetest.NewAccount()), simulations+"?", "simulations", "id"); len(got) != 0 {
		t.Errorf("another account sees %v, want nothing", got)
	}
	platform := p.Client(t, devissuer.Options{Service: true, Account: "*"})
	if got := pages(t, platform, simulations+"?limit=100&createdAfter="+at(made[4]), "simulations", "id"); !slices.Contains(got, made[0]) {
		t.Error("the platform does not see an account's simulation")
	}
	p.Bearer(t, "").Get(simulations).Refused(401, "UNAUTHORIZED")
}

// TestWorkspacesBoundLists: members of a workspace see its resources, other users
// of the account do not. After its deletion no user sees them.
func TestWorkspacesBoundLists(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := funded(t, p)
	user, service := p.User(t, account), p.Service(t, account)
	workspace := newWorkspace(t, service, "theirs")
	first := submit(t, user, workload(8, "allReduce"))
	made := user.Get(configurations + "/" + events.DerivedID(events.ConfigurationPrefix, first)).Want(200).Object()
	copied := object{"name": "copy", "workspaceId": workspace, "activeTraceset": object{"id": made["activeTraceset"].(object)["id"]}}
	for _, member := range []string{"components", "containers", "applications", "links", "topology", "globalParameters"} {
		copied[member] = made[member]
	}
	configuration := user.Post(configurations, copied).Want(201).Object()["id"].(string)
	user.Post(configurations+"/"+configuration+"/validate", nil).Want(200)
	id := user.Post(simulations, object{"configurationId": configuration, "name": "theirs", "duration": "1s"}).Want(201).Object()["id"].(string)
	completed(user, id)
	completed(user, first)

	member := p.User(t, account, workspace)
	stranger := p.User(t, account, events.NewID(events.WorkspacePrefix))
	for client, want := range map[*servicetest.Client][]string{user: {id, first}, member: {id, first}, stranger: {first}} {
		if got := pages(t, client, simulations+"?", "simulations", "id"); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	if got := pages(t, stranger, configurations+"?", "configurations", "id"); len(got) != 1 {
		t.Errorf("got the configurations %v, want 1", got)
	}
	for _, path := range []string{simulations + "/" + id, simulations + "/" + id + "/logs", configurations + "/" + configuration} {
		stranger.Get(path).Refused(403, "FORBIDDEN")
		member.Get(path).Want(200)
		p.User(t, servicetest.NewAccount()).Get(path).Refused(404, "NOT_FOUND")
	}
	// By default every authenticated user can read results.
	p.User(t, servicetest.NewAccount()).Get(simulations + "/" + id + "/results").Want(200)

	service.Delete(workspaces + "/" + workspace).Want(202)
	for _, path := range []string{simulations + "/" + id, simulations + "/" + id + "/results", configurations + "/" + configuration} {
		member.Get(path).Refused(404, "NOT_FOUND")
	}
	if got := pages(t, user, simulations+"?", "simulations", "id"); !slices.Equal(got, []string{first}) {
		t.Errorf("got %v after the deletion, want the other simulation", got)
	}
}

func TestGetSimulation(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, funded(t, p))
	id := submit(t, user, workload(64, "allReduce"))
	s := completed(user, id)
	metrics, _ := s["metrics"].(object)
	for _, member := range []string{"simulatedTime", "eventsProcessed", "throughput"} {
		if metrics[member] == nil {
			t.Errorf("no metric %s in %v", member, s)
		}
	}
	if s["startedAt"] == nil || s["completedAt"] == nil || s["failureReason"] != nil || s["appliedMappingFile"] != nil {
		t.Errorf("got %v, want start and end, and no failure or mapping file", s)
	}
	user.Get(simulations+"/sim_x").Refused(400, "VALIDATION_ERROR")
	user.Get(simulations+"/"+events.NewID(events.SimulationPrefix)).Refused(404, "NOT_FOUND")
	p.Bearer(t, "").Get(simulations+"/"+id).Refused(401, "UNAUTHORIZED")
}

func TestGetLogs(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, funded(t, p))
	id := submit(t, user, workload(8, "allReduce"))
	completed(user, id)
	path := simulations + "/" + id + "/logs"

	all := pages(t, user, path+"?limit=3", "logs", "message")
	if len(all) < 4 || !slices.Equal(all, pages(t, user, path+"?", "logs", "message")) {
		t.Errorf("got %d entries in pages of 3, want the same as in one page: %v", len(all), all)
	}
	levels := pages(t, user, path+"?level=info", "logs", "level")
	if len(levels) == 0 || slices.Contains(levels, "debug") {
		t.Errorf("level=info: got the levels %v, want no debug", levels)
	}
	if engine := pages(t, user, path+"?component=engine&limit=1", "logs", "component"); len(engine) == 0 || slices.ContainsFunc(engine, func(c string) bool { return c != "engine" }) {
		t.Errorf("component=engine: got the components %v", engine)
	}
	started := user.Post(simulations, map[string]any{
		"configurationId": user.Get(simulations + "/" + id).Object()["configurationId"], "name": "again", "duration": "1s",
	}).Want(201).Object()["id"].(string)
	completed(user, started)
	for _, component := range []string{"service", "validator"} {
		if got := pages(t, user, simulations+"/"+started+"/logs?component="+component, "logs", "message"); len(got) != 1 {
			t.Errorf("component=%s: got %v, want 1 entry", component, got)
		}
	}
	if got := pages(t, user, path+"?component=nobody", "logs", "message"); len(got) != 0 {
		t.Errorf("component=nobody: got %v, want no entry", got)
	}
	for _, bad := range []string{"level=fatal", "limit=0", "limit=101", "next=x", "component="} {
		user.Get(path+"?"+bad).Refused(400, "VALIDATION_ERROR")
	}
	user.Get(simulations+"/"+events.NewID(events.SimulationPrefix)+"/logs").Refused(404, "NOT_FOUND")
}
