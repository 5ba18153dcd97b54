package readapi_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/events"
	"netsim/internal/servicetest"
)

const templates = "/api/v1/templates"

type templatePage struct {
	Templates  []map[string]string
	Pagination struct {
		Count      int
		HasMore    bool
		NextCursor string
	}
}

func newTemplate(c *servicetest.Client, name, description, category string) string {
	return c.Post(templates, map[string]any{"name": name, "description": description, "category": category, "visibility": "public"}).
		Want(201).Object()["id"].(string)
}

func TestListTemplates(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	mark := servicetest.NewAccount() // unique text, to find the templates of this test
	one, two := p.User(t, servicetest.NewAccount()), p.User(t, servicetest.NewAccount())
	first := newTemplate(one, "First of "+mark, "", "benchmark")
	second := newTemplate(two, "second", "about "+strings.ToUpper(mark), "what-if")
	third := newTemplate(one, "third of "+mark, "", "benchmark")

	list := func(query string) templatePage {
		t.Helper()
		var page templatePage
		two.Get(templates + "?" + query).Want(200).Into(&page)
		return page
	}
	ids := func(page templatePage) []string {
		var out []string
		for _, item := range page.Templates {
			out = append(out, item["id"])
		}
		return out
	}
	search := "search=" + url.QueryEscape(mark)
	for query, want := range map[string][]string{
		search:                                {second, third, first}, // the account's own before those of others
		search + "&category=benchmark":        {third, first},
		search + "&category=what-if":          {second},
		search + "&category=reference-design": nil,
		"search=%25" + mark:                   nil,
	} {
		if diff := cmp.Diff(want, ids(list(query))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	want := map[string]string{"id": second, "name": "second", "description": "about " + strings.ToUpper(mark), "category": "what-if", "visibility": "public"}
	if diff := cmp.Diff(want, list(search).Templates[0]); diff != "" {
		t.Errorf("item (-want +got):\n%s", diff)
	}

	var walked []string
	query, cursor := search+"&limit=1", ""
	for name := "next"; ; name = "cursor" { // both names are accepted
		page := list(query + cursor)
		walked = append(walked, ids(page)...)
		if page.Pagination.Count != 1 || page.Pagination.HasMore != (page.Pagination.NextCursor != "") {
			t.Errorf("got the pagination %+v, want 1 row and a cursor only if there are more", page.Pagination)
		}
		if !page.Pagination.HasMore {
			break
		}
		cursor = "&" + name + "=" + page.Pagination.NextCursor
	}
	if diff := cmp.Diff([]string{second, third, first}, walked); diff != "" {
		t.Errorf("page by page (-want +got):\n%s", diff)
	}
	next := list(query).Pagination.NextCursor
	for _, bad := range []string{
		"limit=0", "limit=101", "limit=x", "next=x", "category=other", "category=", "search=" + strings.Repeat("x", 101), "sort=name:asc",
		"next=" + next, "category=benchmark&" + query + "&next=" + next, query + "&next=" + next + "&cursor=x",
	} {
		two.Get(templates+"?"+bad).Refused(400, "VALIDATION_ERROR")
	}
	p.Bearer(t, "").Get(templates).Refused(401, "UNAUTHORIZED")
}

func TestGetTemplate(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, servicetest.NewAccount())
	var curated templatePage
	user.Get(templates + "?search=" + url.QueryEscape("2:1 oversubscribed")).Want(200).Into(&curated)
	path := templates + "/" + curated.Templates[0]["id"]

	reply := user.Get(path).Want(200)
	var template struct {
		ID, Name, Description, Category string
		Configuration                   struct {
			WorkspaceID, Status string
			Components          []struct {
				Name            string
				TypedParameters map[string]any
			}
			Applications     []struct{ TypedParameters map[string]any }
			GlobalParameters map[string]map[string]any
			ActiveTraceset   map[string]string
		}
	}
	reply.Into(&template)
	c := template.Configuration
	if template.ID != curated.Templates[0]["id"] || template.Category != "what-if" || c.Status != "validated" ||
		c.WorkspaceID != events.TemplateWorkspace || c.ActiveTraceset["id"] == "" {
		t.Errorf("got %+v, want the curated template", template)
	}
	// A parameter has its model's description, with the default as a string.
	i := slices.IndexFunc(c.Components, func(m struct {
		Name            string
		TypedParameters map[string]any
	}) bool {
		return m.Name == "leaf"
	})
	links := c.Components[i].TypedParameters["NumUpLinks"].(map[string]any)
	if links["value"] != 8.0 || links["type"] != "uint" || links["default"] != "64" || links["description"] == "" {
		t.Errorf("got NumUpLinks %v, want the value 8, the default 64 and a description", links)
	}
	chakra := c.Applications[0].TypedParameters["ChakraConfiguration"].(map[string]any)
	ranks, algorithm := chakra["NumOfChakraFiles"].(map[string]any), chakra["AllReduceAlgorithm"].(map[string]any)
	if ranks["readonly"] != true || ranks["value"] != 64.0 || len(algorithm["enum"].([]any)) != 2 {
		t.Errorf("got ranks %v and algorithm %v, want 64 read-only ranks and 2 algorithms", ranks, algorithm)
	}
	if report := c.GlobalParameters["SimulationParameters"]["NDStatsReportInterval"].(map[string]any); report["default"] != "1" || report["defaultUnit"] != "ms" {
		t.Errorf("got NDStatsReportInterval %v, want the default 1 ms", report)
	}

	tag := reply.Header.Get("ETag")
	if tag != `"1"` {
		t.Errorf("got the entity tag %s, want \"1\"", tag)
	}
	match := servicetest.Header{Name: "If-None-Match", Value: tag}
	if same := user.Get(path, match).Want(304); len(same.Body) != 0 || same.Header.Get("ETag") != tag {
		t.Errorf("got the 304 response %v %s, want the same entity tag and no body", same.Header, same.Body)
	}

	plain := user.Post("/api/v1/configurations", map[string]any{
		"name": "no template", "components": []any{}, "containers": []any{}, "applications": []any{}, "links": []any{},
		"topology": map[string]any{"type": "clos", "topologyTiers": 1, "components": []any{}}, "globalParameters": map[string]any{},
	}).Want(201).Object()["id"].(string)
	for _, id := range []string{plain, events.NewID(events.ConfigurationPrefix)} {
		user.Get(templates+"/"+id).Refused(404, "NOT_FOUND")
	}
	user.Get(templates+"/config_x").Refused(400, "VALIDATION_ERROR")
	p.Bearer(t, "").Get(path).Refused(401, "UNAUTHORIZED")
}
