package readapi_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/cmd/settings"
	"netsim/events"
	"netsim/internal/servicetest"
)

func TestListTracesetCandidates(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := funded(t, p)
	user := p.User(t, account)
	var made []string // newest first
	for _, ranks := range []int{8, 16, 32} {
		id := submit(t, user, workload(ranks, "allReduce"))
		c := user.Get(configurations + "/" + events.DerivedID(events.ConfigurationPrefix, id)).Want(200).Object()
		made = slices.Insert(made, 0, c["activeTraceset"].(object)["id"].(string))
	}
	foreign := p.User(t, funded(t, p))
	other := foreign.Get(configurations + "/" + events.DerivedID(events.ConfigurationPrefix, submit(t, foreign, workload(8, "allReduce")))).
		Want(200).Object()["activeTraceset"].(object)["id"].(string)
	workspace := newWorkspace(t, p.Service(t, account), "elsewhere")
	elsewhere := twoTiers("elsewhere")
	elsewhere["workspaceId"] = workspace
	list := newConfiguration(t, user, twoTiers("candidates")) + "/traceset"

	// Public tracesets of other tests may be in the list, so they are ignored.
	own := func(list string) []string {
		ids := pages(t, user, list, "tracesets", "id")
		if slices.Contains(ids, other) {
			t.Errorf("%s shows another account's traceset", list)
		}
		return slices.DeleteFunc(ids, func(id string) bool { return !slices.Contains(made, id) })
	}
	for query, want := range map[string][]string{
		list + "?limit=1":                                                   made,
		list + "?limit=2&scope=global":                                      made,
		list + "?limit=2&scope=workspace":                                   made,
		list + "?limit=2&status=completed":                                  made,
		list + "?limit=2&status=ready":                                      made,
		list + "?limit=2&status=failed,completed":                           made,
		list + "?limit=2&status=uploading,failed,processing":                {},
		list + "?limit=2&status=other":                                      {},
		newConfiguration(t, user, elsewhere) + "/traceset?limit=2":          made,
		newConfiguration(t, user, elsewhere) + "/traceset?scope=workspace&": {},
	} {
		if diff := cmp.Diff(want, own(query)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	for _, item := range user.Get(list + "?scope=workspace").Want(200).Object()["tracesets"].([]any) {
		c := item.(object)
		if c["id"] != made[0] {
			continue
		}
		hash, _ := c["hash"].(string)
		if len(hash) != 64 || c["hashShort"] != hash[:12] || c["metadataStatus"] != "complete" || c["format"] != "simple_v1" ||
			c["totalSize"].(float64) <= 0 || c["updatedAt"] != c["createdAt"] {
			t.Errorf("got the candidate %v, want a complete one of simple_v1", c)
		}
	}
	refusedPages(t, user, list, newConfiguration(t, user, elsewhere)+"/traceset", "status=ready")
	for _, bad := range []string{"scope=public", "status=" + strings.Repeat("x", 256)} {
		user.Get(list+"?"+bad).Refused(400, "VALIDATION_ERROR")
	}
}

// Public tracesets are candidates for every account, and can be attached.
func TestPublicTracesetsAreCandidates(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	user := p.User(t, account)
	path := newConfiguration(t, user, twoTiers("public"))
	public := pages(t, user, path+"/traceset?limit=3", "tracesets", "id")
	if len(public) == 0 {
		t.Fatal("got no public tracesets, want those of the templates")
	}
	if diff := cmp.Diff(public, pages(t, p.User(t, account, events.NewID(events.WorkspacePrefix)), path+"/traceset?limit=100", "tracesets", "id")); diff != "" {
		t.Errorf("a member of other workspaces (-want +got):\n%s", diff)
	}
	attached := user.Patch(path+"/traceset", object{"tracesetId": public[0]}).Want(200).Object()["activeTraceset"].(object)
	if attached["id"] != public[0] {
		t.Errorf("got %v attached, want the public traceset", attached)
	}
}

// Without the traceset routes the list of candidates is empty.
func TestCandidatesWithoutTraceRoutes(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t, func(c *settings.Config) { c.TraceRoutes = false })
	user := p.User(t, funded(t, p))
	id := events.DerivedID(events.ConfigurationPrefix, submit(t, user, workload(8, "allReduce")))
	got := user.Get(configurations + "/" + id + "/traceset").Want(200).Object()
	want := object{"tracesets": []any{}, "pagination": object{"count": 0.0, "hasMore": false}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("candidates (-want +got):\n%s", diff)
	}
	traceset := user.Get(configurations + "/" + id).Object()["activeTraceset"].(object)["id"]
	user.Patch(configurations+"/"+id+"/traceset", object{"tracesetId": traceset}).Refused(400, "VALIDATION_ERROR")
}
