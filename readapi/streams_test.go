package readapi_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/infra/devissuer"
	"netsim/internal/servicetest"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

const (
	streams = "/api/v1/streams/"
	causes  = "/api/v1/causes/"
)

// facts returns all facts of a stream, read page by page.
func facts(t *testing.T, c *servicetest.Client, stream, query string) (all []object) {
	t.Helper()
	for next := ""; ; {
		page := c.Get(streams + stream + "?" + query + next).Want(200).Object()
		for _, f := range page["facts"].([]any) {
			all = append(all, f.(object))
		}
		pagination := page["pagination"].(object)
		if pagination["hasMore"] == false {
			return all
		}
		next = "&next=" + pagination["nextCursor"].(string)
	}
}

// TestAStreamIsRead: the facts of a stream are those of the event feed, in order and
// chained, with the states between them; whatever the pages.
func TestAStreamIsRead(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	service := p.Service(t, account)
	id := newWorkspace(t, service, "first")
	at := service.Patch(workspaces+"/"+id, object{"name": "second"}, header("If-Match", `"1"`), header("X-Request-Id", "patch-"+id)).Want(200)
	service.Patch(workspaces+"/"+id, object{"name": "second", "description": "third"}, header("If-Match", at.Header.Get("ETag"))).Want(200)

	user := p.User(t, account)
	page := user.Get(streams + id + "?state=true").Want(200).Object()
	if page["stream"] != id || page["sequence"] != 3.0 || page["parked"] != false {
		t.Errorf("got the page %v, want 3 facts of %s, none of them parked", page, id)
	}
	all := facts(t, user, id, "state=true")
	var sequences []float64
	for i, f := range all {
		sequences = append(sequences, f["sequence"].(float64))
		if i == 0 {
			if f["previousHash"] != nil || len(f["before"].(object)) != 0 || f["type"] != "netsim.workspace.created.v1" {
				t.Errorf("the first fact is %v, want one without a fact before it, on no state", f)
			}
			continue
		}
		if f["previousHash"] != all[i-1]["hash"] || !cmp.Equal(f["before"], all[i-1]["after"]) {
			t.Errorf("fact %d is %v, want that it follows from %v", i+1, f, all[i-1])
		}
	}
	if !slices.Equal(sequences, []float64{1, 2, 3}) {
		t.Errorf("got the sequences %v, want 1, 2 and 3", sequences)
	}
	if last := all[2]["after"].(object); last["name"] != "second" || last["description"] != "third" || last["version"] != 3.0 {
		t.Errorf("the last state is %v, want the workspace as it is", last)
	}
	if f := all[1]; f["correlationId"] != "patch-"+id || f["causeId"] != nil || f["dataVersion"] != 1.0 || f["data"].(object)["name"] != "second" {
		t.Errorf("got the fact %v, want that of the request", f)
	}
	for _, query := range []string{"state=true&limit=1", "state=true&limit=2"} {
		if diff := cmp.Diff(all, facts(t, user, id, query)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	if diff := cmp.Diff(all[1:], facts(t, user, id, "state=true&from=2")); diff != "" {
		t.Errorf("from the second on (-want +got):\n%s", diff)
	}
	if rest := facts(t, user, id, "from=4"); len(rest) != 0 {
		t.Errorf("behind the last fact: got %v, want none", rest)
	}
	if plain := facts(t, user, id, ""); plain[1]["before"] != nil || plain[1]["after"] != nil {
		t.Errorf("without state: got %v", plain[1])
	}

	feed := followEvents(t, user, "?stream="+id+"&since=2026-01-01T00:00:00Z", header("Accept", "application/x-ndjson"))
	for i, one := range feed.take(3) {
		position := all[i]["position"].(object)
		for _, want := range []string{
			fmt.Sprintf(`"id":"%s"`, all[i]["id"]), fmt.Sprintf(`"hash":"%s"`, strings.TrimPrefix(all[i]["hash"].(string), "sha256:")),
			fmt.Sprintf(`"sourcepartition":%v`, position["partition"]), fmt.Sprintf(`"sourceoffset":"%.0f"`, position["offset"]),
			fmt.Sprintf(`"time":"%s"`, all[i]["time"]), fmt.Sprintf(`"recordedtime":"%s"`, all[i]["recordedTime"]), fmt.Sprintf(`"actor":"%s"`, all[i]["actor"]),
		} {
			if !strings.Contains(one.raw, want) {
				t.Errorf("the feed has %s, want %s in it", one.raw, want)
			}
		}
	}
}

// owned makes a resource of each kind that a workspace owns, and returns their streams by
// kind.
func owned(t *testing.T, p *servicetest.Program, account, workspace string) map[string]string {
	t.Helper()
	c := p.Service(t, account)
	of := completed(c, submit(t, c, workload(8, "allReduce")))["configurationId"].(string)
	configuration := c.Post(configurations+"/"+of+"/clone", object{"name": "mine", "workspaceId": workspace}).Want(201).Object()["id"].(string)
	c.Post(configurations+"/"+configuration+"/validate", nil).Want(200)
	sim := c.Post(simulations, object{"configurationId": configuration, "name": "mine", "duration": "1s"}).Want(201).Object()["id"].(string)
	completed(c, sim)
	w := p.Beside(t)
	file, upload, traceset := events.NewID(events.MappingFilePrefix), events.NewID(events.UploadPrefix), events.NewID(events.TracesetPrefix)
	testworld.In(t, w, workspace, traceset, commands.CreateTraceset{Created: events.TracesetCreated{
		AccountID: account, WorkspaceID: workspace, Name: "set", Format: "chakra_et_v1", LibraryHash: "sha256:" + strings.Repeat("ab", 32),
		TTLDays: 7, RankCount: 1, Status: commands.TracesetReady,
	}})
	testworld.In(t, w, workspace, file, commands.CreateMappingFile{Created: events.MappingFileCreated{
		AccountID: account, WorkspaceID: workspace, Name: "m", Hash: "crc64nvme:AAAAAAAAAAA", SizeBytes: 1, RankCount: 8, ObjectKey: "mappingfiles/" + file,
	}})
	testworld.In(t, w, workspace, upload, commands.OpenUpload{Opened: events.UploadOpened{
		Kind: events.UploadTraceset, AccountID: account, WorkspaceID: workspace, ResultID: events.NewID(events.TracesetPrefix),
	}})
	study := c.Post("/api/v1/studies", object{
		"name": "study", "base": object{"configuration": object{"configurationId": configuration, "duration": "1s"}},
		"axes": []any{object{"field": "globalParameters.SimulationParameters.RandomSeed.value", "values": []int{7}}},
	}).Want(201).Object()["id"].(string)
	return map[string]string{
		"workspace": workspace, "simulation": sim, "configuration": configuration, "mapping file": file, "upload": upload, "study": study, "traceset": traceset,
	}
}

// TestWhoReadsStreams: a stream is read by who sees its events. Another account's is as a
// missing one, in every byte.
func TestWhoReadsStreams(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account, other := funded(t, p), servicetest.NewAccount()
	workspace := newWorkspace(t, p.Service(t, account), "w")
	all := owned(t, p, account, workspace)
	member := p.User(t, account, workspace)
	elsewhere := p.User(t, account, newWorkspace(t, p.Service(t, account), "elsewhere"))
	platform := p.Client(t, devissuer.Options{Service: true, User: "robot", Account: "*"})
	operator := p.Client(t, devissuer.Options{User: "operator", Account: other, Roles: []string{"operator"}})
	refusal := func(c *servicetest.Client, id string) string {
		r := c.Get(streams + id).Want(http.StatusNotFound)
		return strings.ReplaceAll(string(r.Body), id, "ID")
	}
	for kind, id := range all {
		for who, c := range map[string]*servicetest.Client{"a user": p.User(t, account), "a member": member, "a service": p.Service(t, account), "the platform": platform, "an operator": operator} {
			if got := facts(t, c, id, "state=true"); len(got) == 0 {
				t.Errorf("%s reads no facts of the %s", who, kind)
			}
		}
		elsewhere.Get(streams+id).Refused(403, "FORBIDDEN")
		prefix, _, _ := strings.Cut(id, "_")
		missing := refusal(p.User(t, other), events.NewID(prefix))
		for who, c := range map[string]*servicetest.Client{"a user": p.User(t, other), "a service": p.Service(t, other), "one that names the workspace": p.User(t, other, workspace)} {
			if got := refusal(c, id); got != missing {
				t.Errorf("%s of another account gets %s for a %s, and %s for a missing one", who, got, kind, missing)
			}
		}
	}
	for id, want := range map[string]int{
		account: 200, other: 404, servicetest.NewAccount(): 404, "checkpoint_" + p.Config.Platform: 403, "operation_01kahcfv4ge3brkm7b2d4f6h8k": 403,
		"seal_billing_0": 403, "platform_" + p.Config.Platform: 200,
	} {
		p.Service(t, account).Get(streams + id).Want(want)
		p.User(t, account).Get(streams + id).Want(403)
		for who, c := range map[string]*servicetest.Client{"the platform": platform, "an operator": operator} {
			if got := c.Get(streams + id); got.Status != 200 && got.Status != 404 {
				t.Errorf("%s gets %d for %s", who, got.Status, id)
			}
		}
	}
	facts(t, operator, account, "")
	biller := p.Client(t, devissuer.Options{User: "biller", Account: account, Roles: []string{"billing"}})
	facts(t, biller, account, "")
	biller.Get(streams+other).Refused(404, "NOT_FOUND")
	for id, says := range map[string]string{
		"planet_1": "must be the id of a stream", "sim": "must be the id of a stream", "seal_planets_0": "is not the id of a stream",
	} {
		if got := p.User(t, account).Get(streams+id).Refused(400, "VALIDATION_ERROR"); !strings.Contains(got, says) {
			t.Errorf("%s: %q, want %q in it", id, got, says)
		}
	}
	p.Bearer(t, "").Get(streams+workspace).Refused(401, "UNAUTHORIZED")
}

// TestAccessesAreLeftOut: who looked at the billing of a person is in the account's stream,
// and only the platform sees it there.
func TestAccessesAreLeftOut(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := funded(t, p)
	service := p.Service(t, account)
	service.Get("/api/v1/billing/events?userName=Ada", header("X-Request-Id", "looks-"+account)).Want(200)
	p.Grant(t, account, "7")
	platform := p.Client(t, devissuer.Options{Service: true, User: "robot", Account: "*"})
	types := func(c *servicetest.Client) (types []string) {
		for _, f := range facts(t, c, account, "") {
			types = append(types, fmt.Sprint(f["sequence"], " ", f["type"]))
		}
		return types
	}
	granted, logged := "netsim.billing.credit_granted.v1", "netsim.billing.access_logged.v1"
	if diff := cmp.Diff([]string{"1 " + granted, "2 " + logged, "3 " + granted}, types(platform)); diff != "" {
		t.Errorf("the platform (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"1 " + granted, "3 " + granted}, types(service)); diff != "" {
		t.Errorf("the account's service (-want +got):\n%s", diff)
	}
	if got := service.Get(causes + "looks-" + account).Want(200).Object(); got["hidden"] != 1.0 || len(got["nodes"].([]any)) != 0 {
		t.Errorf("got %v, want one hidden fact", got)
	}
}

// TestAStreamIsTooLongForStates: beyond the bound the answer says what is allowed.
func TestAStreamIsTooLongForStates(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	id := newWorkspace(t, p.Service(t, account), "w")
	w := p.Beside(t)
	w.Commands.Timeout = 2 * time.Minute // on a busy machine, 64 at a time
	var group errgroup.Group
	group.SetLimit(64)
	for i := range 2000 {
		group.Go(func() error {
			_, err := handle.Command[commands.Workspace](t.Context(), w.Commands, handle.Target{Stream: id, PartitionKey: id},
				handle.Origin{Actor: "tester"}, commands.UpdateWorkspace{ID: id, Name: fmt.Sprint(i)})
			return err
		})
	}
	if err := testwait.Call(t, group.Wait, "the updates"); err != nil {
		t.Fatal(err)
	}
	user := p.User(t, account)
	if got := user.Get(streams+id+"?state=true&from=2001").Refused(422, "UNPROCESSABLE_ENTITY"); !strings.Contains(got, "up to sequence 2000") {
		t.Errorf("got %q, want the bound in it", got)
	}
	if last := facts(t, user, id, "from=1950&limit=100"); len(last) != 52 {
		t.Errorf("without states: got %d facts, want 52", len(last))
	}
}
