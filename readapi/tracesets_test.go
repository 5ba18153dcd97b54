package readapi_test

import (
	"bytes"
	"fmt"
	"maps"
	"mime/multipart"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/cmd/settings"
	"netsim/content/library"
	"netsim/events"
	"netsim/infra/objects"
	"netsim/internal/servicetest"
)

const tracesets = "/api/v1/tracesets"

// upload uploads files as a traceset.
func upload(t *testing.T, c *servicetest.Client, workspace, name, metadata string, files map[string]string) string {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	fields := map[string]string{"name": name}
	if metadata != "" {
		fields["workloadMetadata"] = metadata
	}
	for field, value := range fields {
		if err := form.WriteField(field, value); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		part, err := form.CreateFormFile("file", file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.Write([]byte(files[file])); err != nil {
			t.Fatal(err)
		}
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	return c.Post(tracesets+"?workspaceId="+workspace, body.Bytes(), servicetest.Header{Name: "Content-Type", Value: form.FormDataContentType()}).
		Want(201).Object()["id"].(string)
}

// processed waits until the files of a traceset have been read, and returns it.
func processed(c *servicetest.Client, id string) object {
	return c.Eventually(tracesets+"/"+id, func(r servicetest.Reply) bool { return r.Object()["status"] != "processing" }).Object()
}

// ring returns the trace files of several ranks; each rank sends a message to the
// next. The name makes their content unique.
func ring(name string, ranks int) map[string]string {
	files := map[string]string{}
	message := func(id int, kind, from, to string) string {
		return fmt.Sprintf(`{"id": "%d", "name": "%s", "type": "%s", "attr": [{"name": "comm_src", "int32Val": %s},
			{"name": "comm_dst", "int32Val": %s}, {"name": "comm_tag", "int32Val": 1}, {"name": "comm_size", "int64Val": "1024"}]}`+"\n", id, name, kind, from, to)
	}
	for rank := range ranks {
		self, next, last := fmt.Sprint(rank), fmt.Sprint((rank+1)%ranks), fmt.Sprint((rank+ranks-1)%ranks)
		files["rank_"+self+".chakra.json"] = `{"version": "0.0.4"}` + "\n" +
			message(1, "COMM_SEND_NODE", self, next) + message(2, "COMM_RECV_NODE", last, self)
	}
	return files
}

func openUpload(c *servicetest.Client, workspace, name string) (upload string) {
	return c.Post(tracesets+"/upload-url", object{
		"name": name, "workspaceId": workspace, "files": []object{{"name": "a.0.et", "size": 3}, {"name": "a.1.et", "size": 4}},
	}).Want(200).Object()["uploadId"].(string)
}

func TestListTracesets(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	mine, other := newWorkspace(t, p.Service(t, account), "mine"), newWorkspace(t, p.Service(t, account), "other")
	all, member, stranger := p.User(t, account), p.User(t, account, mine), p.User(t, servicetest.NewAccount())
	one := upload(t, all, mine, "one", `{"workloadFamily":"ring"}`, ring("one", 2))
	two := upload(t, all, other, "two", `{"workloadFamily":"ring"}`, ring("two", 2))
	bad := upload(t, all, mine, "bad", "", map[string]string{"rank_1.chakra.json": "{}"})
	gone := upload(t, all, mine, "gone", "", ring("gone", 2))
	all.Delete(tracesets + "/" + gone).Want(204)
	for _, id := range []string{one, two, bad} {
		processed(all, id)
	}
	openUpload(all, mine, "on its way")
	coming := all.Get(tracesets + "?status=uploading").Want(200).Object()["items"].([]any)[0].(object)
	if coming["name"] != "on its way" || coming["fileCount"] != 2.0 || coming["status"] != "uploading" {
		t.Errorf("got the open upload %v", coming)
	}
	under := coming["id"].(string)

	// Public tracesets of other tests may be in the list, so they are ignored.
	own := func(c *servicetest.Client, query string) []string {
		ids := pages(t, c, tracesets+"?limit=2"+query, "items", "id")
		return slices.DeleteFunc(ids, func(id string) bool { return !slices.Contains([]string{one, two, bad, gone, under}, id) })
	}
	check := func(when string, c *servicetest.Client, query string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(append([]string{}, want...), own(c, query)); diff != "" {
			t.Errorf("%s, %q (-want +got):\n%s", when, query, diff)
		}
	}
	check("the account", all, "", under, bad, two, one)
	check("a member", member, "", under, bad, one)
	check("another account", stranger, "")
	check("a workspace", all, "&workspaceId="+mine, under, bad, one)
	check("the other", all, "&workspaceId="+other, two)
	check("no workspace", all, "&workspaceId="+events.NewID(events.WorkspacePrefix))
	check("another account's workspace", stranger, "&workspaceId="+mine)
	check("ready ones", all, "&status=ready", two, one)
	check("some", all, "&status=metadata_failed,uploading,deleted", under, bad)
	check("unknown ones", all, "&status=deleted,other")

	all.Post(tracesets+"/"+two+"/promote", nil).Want(200)
	check("promoted to the account", member, "", under, bad, two, one)
	check("seen from a workspace", all, "&workspaceId="+mine, under, bad, two, one)
	check("another account", stranger, "")
	all.Post(tracesets+"/"+two+"/promote", object{"target": "public"}).Want(200)
	check("public", stranger, "", two)
	check("public, from another account's workspace", stranger, "&workspaceId="+mine)

	member.Get(tracesets+"?workspaceId="+other).Refused(403, "FORBIDDEN")
	refusedPages(t, all, tracesets, libraries, "workspaceId="+mine)
	item := all.Get(tracesets + "?status=ready&workspaceId=" + other).Want(200).Object()["items"].([]any)[0].(object)
	if diff := cmp.Diff(object{"id": two, "name": "two", "status": "ready", "fileCount": 2.0, "createdAt": item["createdAt"]}, item); diff != "" {
		t.Errorf("an item (-want +got):\n%s", diff)
	}

	// Tracesets that were not promoted are deleted with their workspace.
	p.Service(t, account).Delete(workspaces + "/" + other).Want(202)
	p.Service(t, account).Delete(workspaces + "/" + mine).Want(202)
	check("without the workspaces", all, "", two)
	all.Get(tracesets+"/"+one).Refused(404, "NOT_FOUND")
	all.Get(tracesets + "/" + two).Want(200)
	all.Eventually(workspaces+"/"+mine, func(r servicetest.Reply) bool { return r.Status == 404 })
	all.Get(tracesets+"/"+under).Refused(404, "NOT_FOUND")
}

func TestGetTraceset(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	workspace := newWorkspace(t, p.Service(t, account), "mine")
	user := p.User(t, account)
	id := upload(t, user, workspace, "ring", `{"workloadFamily":"ring"}`, ring("get", 2))
	got := processed(user, id)
	files := got["files"].([]any)
	file := files[1].(object)
	if got["status"] != "ready" || got["rankCount"] != 2.0 || got["scope"] != "workspace" || len(files) != 2 ||
		file["metadataStatus"] != "complete" || !cmp.Equal(file["rankRange"], any(object{"start": 1.0, "end": 1.0})) {
		t.Errorf("got the traceset %v, want a ready one of 2 ranks in 2 files", got)
	}
	bad := processed(user, upload(t, user, workspace, "bad", "", map[string]string{"rank_1.chakra.json": ring("", 2)["rank_1.chakra.json"]}))
	message, _ := bad["statusMessage"].(string)
	if bad["status"] != "metadata_failed" || !strings.Contains(message, "rank_1.chakra.json") || bad["rankCount"] != nil ||
		bad["files"].([]any)[0].(object)["metadataStatus"] != "failed" {
		t.Errorf("got the traceset %v, want metadata_failed with the file's name", bad)
	}

	session := openUpload(user, workspace, "coming")
	coming := user.Get(tracesets + "?status=uploading&workspaceId=" + workspace).Want(200).Object()["items"].([]any)[0].(object)["id"].(string)
	shown := user.Get(tracesets + "/" + coming).Want(200).Object()
	if shown["status"] != "uploading" || shown["totalSize"] != 7.0 || shown["libraryHash"] != nil || len(shown["files"].([]any)) != 2 {
		t.Errorf("got the traceset %[2]v of upload %[1]s, want uploading with 2 files", session, shown)
	}

	for what, c := range map[string]*servicetest.Client{
		"another account": p.User(t, servicetest.NewAccount()),
		"a made-up id":    user,
	} {
		for _, traceset := range []string{id, coming} {
			path := tracesets + "/" + traceset
			if c == user {
				path = tracesets + "/" + events.NewID(events.TracesetPrefix)
			}
			if r := c.Get(path); r.Status != 404 {
				t.Errorf("%s: got %d %s, want 404", what, r.Status, r.Body)
			}
		}
	}
	p.User(t, account, events.NewID(events.WorkspacePrefix)).Get(tracesets+"/"+id).Refused(403, "FORBIDDEN")
	p.User(t, account, events.NewID(events.WorkspacePrefix)).Get(tracesets+"/"+coming).Refused(403, "FORBIDDEN")
	user.Get(tracesets+"/"+strings.ToUpper(id)).Refused(400, "VALIDATION_ERROR")
	user.Delete(tracesets + "/" + id).Want(204)
	user.Get(tracesets+"/"+id).Refused(404, "NOT_FOUND")

	off := servicetest.Start(t, func(c *settings.Config) { c.TraceRoutes = false })
	off.User(t, account).Get(tracesets).Refused(404, "NOT_FOUND")
}

// checks returns the checks of a validation by name: "" for a passed check, the
// message of a failed one.
func checks(t *testing.T, r servicetest.Reply) (valid bool, failed map[string]string) {
	t.Helper()
	var got struct {
		Valid  bool
		Checks []struct {
			Name, Message string
			Passed        bool
		}
	}
	r.Want(200).Into(&got)
	failed = map[string]string{}
	for i, c := range got.Checks {
		if want := []string{"file_integrity", "metadata_complete", "topology_correlation"}; i < 3 && c.Name != want[i] {
			t.Errorf("check %d is %s, want %s", i, c.Name, want[i])
		}
		if c.Message == "" {
			t.Errorf("the check %s has no message", c.Name)
		}
		if failed[c.Name] = ""; !c.Passed {
			failed[c.Name] = c.Message
		}
	}
	return got.Valid, failed
}

func TestValidateTraceset(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := funded(t, p)
	workspace := newWorkspace(t, p.Service(t, account), "mine")
	user := p.User(t, account)
	store := objects.New(objects.Config{
		Endpoint: p.Config.S3Endpoint, Region: p.Config.S3Region, Bucket: p.Config.S3Bucket,
		AccessKey: p.Config.S3AccessKey, SecretKey: p.Config.S3SecretKey,
	})
	good := func() map[string]string {
		return map[string]string{
			"file_integrity": "", "metadata_complete": "", "topology_correlation": "", "ranks": "", "readable_files": "",
			"dependency_graph": "", "message_pairing": "", "process_groups": "",
		}
	}
	files := ring("validate", 4)
	id := upload(t, user, workspace, "ring", "", files)
	of := processed(user, id)
	validate := func(id string, body any) (bool, map[string]string) {
		return checks(t, user.Post(tracesets+"/"+id+"/validate", body))
	}
	if valid, got := validate(id, nil); !valid || !cmp.Equal(good(), got) {
		t.Errorf("got valid=%t, failed checks %v, want every check passed", valid, got)
	}

	// With a topology, the ranks are compared with its servers.
	big := events.DerivedID(events.ConfigurationPrefix, submit(t, user, workload(8, "allReduce")))
	if valid, got := validate(id, object{"topologyId": big}); !valid || got["topology_correlation"] != "" {
		t.Errorf("eight servers: got the failed checks %v, want none", got)
	}
	wide := upload(t, user, workspace, "wide", "", ring("wide", 9))
	processed(user, wide)
	for topology, want := range map[string]string{
		big: "9 ranks, and 8 servers", events.NewID(events.ConfigurationPrefix): "does not exist",
	} {
		if valid, got := validate(wide, object{"topologyId": topology}); valid || !strings.Contains(got["topology_correlation"], want) {
			t.Errorf("topology %s: got valid=%t, failed checks %v, want %q", topology, valid, got, want)
		}
	}

	// The message names the file, the rank and the node.
	self := `{"version": "0.0.4"}
		{"id": "1", "name": "a", "type": "COMP_NODE", "durationMicros": "1", "dataDeps": ["2"]}
		{"id": "2", "name": "b", "type": "COMP_NODE", "durationMicros": "1", "dataDeps": ["1"]}`
	alone := ring("alone", 2)
	alone["rank_1.chakra.json"] = `{"version": "0.0.4"}
		{"id": "7", "name": "a", "type": "COMP_NODE", "durationMicros": "1"}`
	for name, c := range map[string]struct {
		files map[string]string
		check string
		says  []string
	}{
		"a cycle":        {map[string]string{"rank_0.chakra.json": self}, "dependency_graph", []string{"rank_0.chakra.json", "node ", "cycle"}},
		"without a peer": {alone, "message_pairing", []string{"rank", "node 1"}},
		"a missing rank": {map[string]string{"rank_1.chakra.json": files["rank_1.chakra.json"]}, "ranks", []string{"rank_1.chakra.json", "rank 0 is missing"}},
		"no trace":       {map[string]string{"rank_0.chakra.json": "hello"}, "readable_files", []string{"rank_0.chakra.json"}},
	} {
		wrong := upload(t, user, workspace, name, "", c.files)
		processed(user, wrong)
		valid, got := validate(wrong, object{})
		for _, said := range c.says {
			if !strings.Contains(got[c.check], said) {
				t.Errorf("%s: got the failed checks %v, want %q in %s", name, got, said, c.check)
			}
		}
		if valid || got["file_integrity"] != "" || got["metadata_complete"] == "" {
			t.Errorf("%s: got valid=%t, failed checks %v, want only a wrong content", name, valid, got)
		}
	}

	// The stored bytes are read again.
	hash := of["files"].([]any)[2].(object)["hash"].(string)
	key := library.Key(of["libraryHash"].(string), hash)
	for what, content := range map[string]string{
		"its hash differs": strings.Replace(files["rank_2.chakra.json"], "1024", "1025", 1), "were uploaded": "short",
	} {
		if _, err := store.Put(t.Context(), key, "application/json", strings.NewReader(content)); err != nil {
			t.Fatal(err)
		}
		if valid, got := validate(id, nil); valid || !strings.Contains(got["file_integrity"], "rank_2.chakra.json") || !strings.Contains(got["file_integrity"], what) {
			t.Errorf("other bytes: got valid=%t, failed checks %v, want file_integrity", valid, got)
		}
	}
	if err := store.Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	if valid, got := validate(id, nil); valid || !strings.Contains(got["file_integrity"], "rank_2.chakra.json is missing") || got["readable_files"] == "" {
		t.Errorf("missing bytes: got valid=%t, failed checks %v, want file_integrity and readable_files", valid, got)
	}

	// A synthesized workload has no traces, and an open upload has no files.
	simple := user.Get(configurations + "/" + big).Object()["activeTraceset"].(object)["id"].(string)
	if valid, got := validate(simple, nil); !valid || len(got) != 3 {
		t.Errorf("synthesized workload: got valid=%t, checks %v, want 3 passed", valid, got)
	}
	openUpload(user, workspace, "coming")
	coming := user.Get(tracesets + "?status=uploading&workspaceId=" + workspace).Want(200).Object()["items"].([]any)[0].(object)["id"].(string)
	if valid, got := validate(coming, nil); valid || got["file_integrity"] == "" || got["metadata_complete"] == "" {
		t.Errorf("open upload: got valid=%t, failed checks %v, want file_integrity and metadata_complete", valid, got)
	}
	user.Post(tracesets+"/"+id+"/validate", object{"topologyId": "x"}).Refused(400, "VALIDATION_ERROR")
	user.Post(tracesets+"/"+events.NewID(events.TracesetPrefix)+"/validate", nil).Refused(404, "NOT_FOUND")
	p.User(t, account, events.NewID(events.WorkspacePrefix)).Post(tracesets+"/"+id+"/validate", nil).Refused(403, "FORBIDDEN")
}
