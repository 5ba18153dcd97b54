package api_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"netsim/api"
)

// TestPaginationOverlay: redocly-overlay.yaml has exactly the lists of the contract, and says
// of each how it goes on and where its items are.
func TestPaginationOverlay(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromData(api.Document())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]map[string]string{}
	for path, item := range doc.Paths.Map() {
		if item.Get == nil {
			continue
		}
		content := item.Get.Responses.Value("200").Value.Content["application/json"]
		if content == nil || content.Schema.Value.Properties["pagination"] == nil {
			continue
		}
		var lists []string
		for name, of := range content.Schema.Value.Properties {
			if of.Value.Type.Is("array") {
				lists = append(lists, name)
			}
		}
		if len(lists) != 1 {
			t.Errorf("a page of %s has the lists %v, want one", path, lists)
			continue
		}
		for _, name := range []string{"limit", "next"} {
			if item.Get.Parameters.GetByInAndName("query", name) == nil {
				t.Errorf("%s does not take %s", path, name)
			}
		}
		pagination := content.Schema.Value.Properties["pagination"].Value
		for _, name := range []string{"nextCursor", "hasMore"} {
			if pagination.Properties[name] == nil {
				t.Errorf("the pagination of %s has no %s", path, name)
			}
		}
		want[fmt.Sprintf("$.paths['%s'].get", path)] = map[string]string{
			"style": "cursor", "cursorParam": "next", "limitParam": "limit",
			"nextCursor": "/pagination/nextCursor", "hasMore": "/pagination/hasMore", "items": "/" + lists[0],
		}
	}
	text, err := os.ReadFile("redocly-overlay.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var overlay struct {
		Overlay, Extends string
		Actions          []struct {
			Target string
			Update map[string]map[string]string
		}
	}
	if err := yaml.Unmarshal(text, &overlay); err != nil {
		t.Fatal(err)
	}
	got := map[string]map[string]string{}
	for _, a := range overlay.Actions {
		if got[a.Target] != nil || len(a.Update) != 1 {
			t.Errorf("the target %s is there twice, or has %d updates", a.Target, len(a.Update))
		}
		got[a.Target] = a.Update["x-redoclyPagination"]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-contract +overlay):\n%s", diff)
	}
	if overlay.Overlay != "1.0.0" || overlay.Extends != "openapi.yaml" || len(got) < 21 {
		t.Errorf("overlay %s extends %s with %d lists", overlay.Overlay, overlay.Extends, len(got))
	}
}
