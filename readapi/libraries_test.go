package readapi_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/commands"
	"netsim/events"
	"netsim/internal/servicetest"
	"netsim/internal/testworld"
)

const libraries = "/api/v1/libraries"

// libraryOf returns the hash of a traceset's library.
func libraryOf(c *servicetest.Client, traceset string) string {
	return c.Get(tracesets + "/" + traceset).Want(200).Object()["libraryHash"].(string)
}

func TestListLibraries(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	mine, other := newWorkspace(t, p.Service(t, account), "mine"), newWorkspace(t, p.Service(t, account), "other")
	user, stranger := p.User(t, account), p.User(t, servicetest.NewAccount())
	seven, eleven, thirteen := ring("", 7), ring("", 11), ring("", 13)
	made := []string{
		upload(t, user, mine, "seven", `{"workloadFamily":"ring"}`, seven),
		upload(t, user, mine, "eleven", `{"workloadFamily":"ring"}`, eleven),
		upload(t, user, mine, "seven again", "", seven),
		upload(t, user, other, "eleven elsewhere", `{"workloadFamily":"ring"}`, eleven),
		upload(t, user, other, "thirteen", `{"workloadFamily":"ring"}`, thirteen),
	}
	for _, id := range made {
		processed(user, id)
	}
	h7, h11, h13 := libraryOf(user, made[0]), libraryOf(user, made[1]), libraryOf(user, made[4])
	check := func(c *servicetest.Client, query string, want ...string) {
		t.Helper()
		got := slices.DeleteFunc(pages(t, c, libraries+"?limit=1"+query, "items", "hash"), func(h string) bool { return h != h7 && h != h11 && h != h13 })
		if diff := cmp.Diff(append([]string{}, want...), got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", query, diff)
		}
	}
	in := "&workspaceId=" + mine
	check(user, "")
	check(user, in, h11, h7)
	check(user, "&workspaceId="+other, h13, h11)
	check(user, in+"&scope=workspace", h11, h7)
	check(user, in+"&scope=tenant")
	check(stranger, in)

	// Promotion makes a library visible to more callers, and gives it the position
	// of the promoted traceset.
	user.Post(tracesets+"/"+made[4]+"/promote", nil).Want(200)
	check(user, in, h13, h11, h7)
	check(user, in+"&scope=tenant", h13)
	check(user, in+"&scope=workspace", h11, h7)
	check(user, "")
	check(stranger, in)
	user.Post(tracesets+"/"+made[4]+"/promote", object{"target": "public"}).Want(200)
	check(stranger, "", h13)
	check(stranger, "&scope=global", h13)
	check(stranger, "&scope=workspace")
	check(user, in+"&scope=global", h13)
	check(user, in+"&scope=tenant")

	var item object
	for _, row := range user.Get(libraries + "?workspaceId=" + mine).Want(200).Object()["items"].([]any) {
		if row.(object)["hash"] == h7 {
			item = row.(object)
		}
	}
	id := events.DerivedID(events.LibraryPrefix, h7)
	want := object{
		"id": id, "hash": h7, "hash_short": h7[:12], "format": "chakra_json_v1", "layout": "cas", "scope": "workspace",
		"total_size": item["total_size"], "reference_count": 2.0, "rank_count": 7.0,
		"storage_url": "s3://" + p.Config.S3Bucket + "/libraries/" + id + "/", "workload_type": "ring",
	}
	if diff := cmp.Diff(want, item); diff != "" {
		t.Errorf("an item (-want +got):\n%s", diff)
	}
	refusedPages(t, stranger, libraries, tracesets, "scope=tenant")
	user.Get(libraries+"?scope=public").Refused(400, "VALIDATION_ERROR")
	p.User(t, account, other).Get(libraries+"?workspaceId="+mine).Refused(403, "FORBIDDEN")

	// A library exists as long as a traceset refers to it.
	user.Delete(tracesets + "/" + made[0]).Want(204)
	check(user, in, h13, h7, h11)
	user.Delete(tracesets + "/" + made[2]).Want(204)
	check(user, in, h13, h11)
}

func TestGetLibrary(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	mine := newWorkspace(t, p.Service(t, account), "mine")
	user := p.User(t, account)
	id := upload(t, user, mine, "five", "", ring("", 5))
	processed(user, id)
	twin := upload(t, user, mine, "five again", "", ring("", 5))
	processed(user, twin)
	hash := libraryOf(user, id)
	in := "?workspaceId=" + mine
	path := libraries + "/" + events.DerivedID(events.LibraryPrefix, hash)
	got := user.Get(path + in).Want(200).Object()
	refer := []any{
		object{"id": twin, "name": "five again", "workspace_id": mine}, object{"id": id, "name": "five", "workspace_id": mine},
	}
	if diff := cmp.Diff(refer, got["tracesets"]); diff != "" {
		t.Errorf("tracesets (-want +got):\n%s", diff)
	}
	if got["file_count"] != 5.0 || got["metadata_status"] != "complete" || got["reference_count"] != 2.0 ||
		got["content_type"] != "application/octet-stream" || got["created_at"] != user.Get(tracesets + "/" + id).Object()["createdAt"] {
		t.Errorf("got the library %v", got)
	}
	for _, prefix := range []string{hash, hash[:8], hash[:63]} {
		if diff := cmp.Diff(got, user.Get(libraries+"/"+prefix+in).Want(200).Object()); diff != "" {
			t.Errorf("%s (-by id +by hash):\n%s", prefix, diff)
		}
	}
	user.Get(libraries+"/"+hash[:7]+in).Refused(400, "VALIDATION_ERROR")
	user.Get(libraries+"/"+strings.ToUpper(hash)+in).Refused(400, "VALIDATION_ERROR")
	user.Get(libraries+"/00000000"+in).Refused(404, "NOT_FOUND")
	user.Get(path).Refused(404, "NOT_FOUND") // without a workspace only public libraries are visible
	p.User(t, servicetest.NewAccount()).Get(path+in).Refused(404, "NOT_FOUND")
	p.User(t, account, events.NewID(events.WorkspacePrefix)).Get(path+in).Refused(403, "FORBIDDEN")

	// Real content with a common hash prefix is hard to find, so the hashes are
	// invented.
	twins := sameHash(t, p, account, mine)
	reply := user.Get(libraries + "/" + twins[0][:8] + in).Want(300).Object()
	matches := reply["matches"].([]any)
	if reply["error"].(object)["code"] != "MULTIPLE_CHOICES" || len(matches) != 2 ||
		matches[0].(object)["hash_short"] != twins[0][:12] || matches[1].(object)["id"] != events.DerivedID(events.LibraryPrefix, twins[1]) {
		t.Errorf("got the choices %v, want two matches", reply)
	}
	if one := user.Get(libraries + "/" + twins[1][:10] + in).Want(200).Object(); one["hash"] != twins[1] {
		t.Errorf("got %v for a longer prefix, want one library", one)
	}
}

// sameHash records tracesets of two libraries whose hashes have a common prefix.
func sameHash(t *testing.T, p *servicetest.Program, account, workspace string) []string {
	t.Helper()
	beside := p.Beside(t)
	hashes := []string{"feedbeef00" + strings.Repeat("0", 54), "feedbeef01" + strings.Repeat("0", 54)}
	for _, hash := range hashes {
		testworld.In(t, beside, workspace, events.NewID(events.TracesetPrefix), commands.CreateTraceset{Created: events.TracesetCreated{
			AccountID: account, WorkspaceID: workspace, Name: "made", Format: "chakra_et_v1", LibraryHash: hash, TTLDays: 7, Status: commands.TracesetReady,
		}})
	}
	return hashes
}
