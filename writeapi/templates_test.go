package writeapi_test

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"netsim/events"
	"netsim/infra/devissuer"
	"netsim/internal/servicetest"
	"netsim/simulator/presets"
)

const templates = "/api/v1/templates"

// aTemplate returns a public template of one rack.
func aTemplate(name string) object {
	body := oneRack(name)
	body["visibility"] = "public"
	body["description"], body["category"] = "Eight servers on one switch", "what-if"
	return body
}

// documentOf returns the members that a configuration and its clone have in common.
func documentOf(c object) object {
	d := object{}
	for _, member := range []string{"components", "containers", "applications", "links", "topology", "globalParameters"} {
		d[member] = c[member]
	}
	return d
}

func TestCreateTemplate(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, servicetest.NewAccount())

	made := user.Post(templates, aTemplate("one rack"), key("k")).Want(201)
	template := made.Object()
	id := template["id"].(string)
	if made.Header.Get("Location") != templates+"/"+id || made.Header.Get("ETag") != `"1"` {
		t.Errorf("got the headers %v, want the Location and the entity tag of the new resource", made.Header)
	}
	if template["name"] != "one rack" || template["category"] != "what-if" || template["description"] != "Eight servers on one switch" {
		t.Errorf("got the template %v", template)
	}
	c := template["configuration"].(object)
	if c["id"] != id || c["workspaceId"] != events.TemplateWorkspace || c["status"] != "draft" || c["version"] != 1.0 || c["activeTraceset"] != nil {
		t.Errorf("got the configuration %v, want draft 1 in the template workspace", c)
	}

	stranger := p.User(t, servicetest.NewAccount())
	if diff := gocmp.Diff(template, stranger.Get(templates+"/"+id).Want(200).Object()); diff != "" {
		t.Errorf("another account reads a different template (-created +read):\n%s", diff)
	}
	again := user.Post(templates, aTemplate("one rack"), key("k")).Want(201).Object()
	if diff := gocmp.Diff(template, again); diff != "" {
		t.Errorf("the repetition gets another response (-first +second):\n%s", diff)
	}
	user.Post(templates, aTemplate("another"), key("k")).Refused(422, "UNPROCESSABLE_ENTITY")

	// A template is a configuration that can be validated but not changed.
	if report := stranger.Post(configurations+"/"+id+"/validate", nil).Want(200).Object(); report["status"] != "error" {
		t.Errorf("got the report %v, want an error because there is no traceset", report)
	}
	user.Delete(configurations+"/"+id).Refused(400, "VALIDATION_ERROR")
	user.Post(simulations, object{"configurationId": id, "name": "x", "duration": "1s"}).Refused(400, "VALIDATION_ERROR")
}

// TestTemplatesAreTheAccountsUnlessPublic: another account sees only public
// templates, and can delete none.
func TestTemplatesAreTheAccountsUnlessPublic(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	user, stranger := p.User(t, account), p.User(t, servicetest.NewAccount())
	make := func(visibility string) string {
		body := aTemplate("rack of " + account)
		delete(body, "visibility")
		if visibility != "" {
			body["visibility"] = visibility
		}
		made := user.Post(templates, body).Want(201).Object()
		if want := cmp.Or(visibility, "account"); made["visibility"] != want {
			t.Errorf("visibility %v, want %s", made["visibility"], want)
		}
		return made["id"].(string)
	}
	listed := func(c *servicetest.Client) (ids []string) {
		for _, item := range c.Get(templates + "?search=" + account).Want(200).Object()["templates"].([]any) {
			ids = append(ids, item.(object)["id"].(string))
		}
		return ids
	}
	own, open, narrow := make(""), make("public"), make("account")
	if diff := gocmp.Diff([]string{narrow, open, own}, listed(user)); diff != "" {
		t.Errorf("the account's list (-want +got):\n%s", diff)
	}
	if diff := gocmp.Diff([]string{open}, listed(stranger)); diff != "" {
		t.Errorf("another account's list (-want +got):\n%s", diff)
	}
	for _, hidden := range []string{own, narrow} {
		user.Get(templates + "/" + hidden).Want(200)
		stranger.Get(templates+"/"+hidden).Refused(404, "NOT_FOUND")
		stranger.Get(configurations+"/"+hidden).Refused(404, "NOT_FOUND")
		stranger.Post(configurations+"/"+hidden+"/validate", nil).Refused(404, "NOT_FOUND")
		stranger.Post(templates+"/"+hidden+"/clone", object{"name": "x"}).Refused(404, "NOT_FOUND")
		stranger.Delete(templates+"/"+hidden).Refused(404, "NOT_FOUND")
	}
	first := stranger.Get(templates + "?limit=1").Want(200).Object()["templates"].([]any)[0].(object)
	if first["visibility"] != "public" {
		t.Errorf("got %v first in the list, want a public template", first)
	}
	stranger.Delete(templates+"/"+first["id"].(string)).Refused(403, "FORBIDDEN") // built in
	stranger.Delete(templates+"/"+open).Refused(403, "FORBIDDEN")
	clone := stranger.Post(templates+"/"+open+"/clone", object{"name": "x"}).Want(201).Object()["id"].(string)

	user.Delete(templates+"/"+open, key("k")).Want(204)
	user.Delete(templates+"/"+open, key("k")).Want(204)
	user.Delete(templates+"/"+open).Refused(404, "NOT_FOUND")
	stranger.Get(templates+"/"+open).Refused(404, "NOT_FOUND")
	stranger.Get(configurations + "/" + clone).Want(200)
	user.Delete(templates+"/config_x").Refused(400, "VALIDATION_ERROR")
	if diff := gocmp.Diff([]string{narrow, own}, listed(user)); diff != "" {
		t.Errorf("after the deletion (-want +got):\n%s", diff)
	}
}

// TestATemplateIsAnsweredAsItWasMade: the response shows the template as it was created,
// even if other clients validate or delete it in the meantime.
func TestATemplateIsAnsweredAsItWasMade(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	user := p.User(t, account)
	made := make(chan servicetest.Reply, 1)
	const rounds = 8
	for n := range rounds {
		name := fmt.Sprintf("raced-%s-%d", account, n)
		go func() { made <- user.Post(templates, aTemplate(name), key(name)) }()
		var reply servicetest.Reply
		for reply.Status == 0 {
			found := user.Get(templates + "?limit=2&search=" + url.QueryEscape(name)).Object()["templates"].([]any)
			for _, item := range found {
				if id := item.(object)["id"].(string); item.(object)["name"] == name {
					user.Post(configurations+"/"+id+"/validate", nil)
					user.Delete(templates + "/" + id)
				}
			}
			select {
			case reply = <-made:
			default:
			}
		}
		got := reply.Want(201).Object()
		if c := got["configuration"].(object); got["name"] != name || c["status"] != "draft" || reply.Header.Get("ETag") != `"1"` {
			t.Errorf("%s: got %s, want draft 1", name, reply.Body)
		}
	}
}

// TestATemplateThatWasDeletedIsNotMadeAgain: repeating the request that created a
// deleted template reports that the template is missing.
func TestATemplateThatWasDeletedIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, servicetest.NewAccount())
	body := aTemplate("made once")
	id := user.Post(templates, body, key("k")).Want(201).Object()["id"].(string)
	user.Delete(templates + "/" + id).Want(204)
	user.Post(templates, body, key("k")).Refused(404, "NOT_FOUND")
}

func TestCreateEmptyTemplate(t *testing.T) {
	t.Parallel()
	user := servicetest.Shared(t).User(t, servicetest.NewAccount())
	made := user.Post(templates, object{"name": strings.Repeat("n", 255), "description": strings.Repeat("d", 2048), "category": "benchmark"}).Want(201)
	c := made.Object()["configuration"].(object)
	empty := []any{}
	want := object{
		"components": empty, "containers": empty, "applications": empty, "links": empty,
		"topology": object{
			"type": "clos", "topologyTiers": 1.0, "components": empty,
			"allowedComponents": []any{"switch", "layer", "pod", "rack"},
		},
	}
	got := documentOf(c)
	if got["globalParameters"] == nil {
		t.Error("got no global parameters, want the defaults")
	}
	delete(got, "globalParameters")
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
}

func TestTemplateRefusals(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, servicetest.NewAccount())
	for name, c := range map[string]struct {
		body any
		want string
	}{
		"no name":        {object{"description": "", "category": "benchmark"}, "name is required"},
		"no description": {object{"name": "x", "category": "benchmark"}, "description is required"},
		"no category":    {object{"name": "x", "description": ""}, "category is required"},
		"empty name":     {with(aTemplate(""), nil), "name must"},
		"long name":      {aTemplate(strings.Repeat("x", 256)), "name must"},
		"long text":      {with(aTemplate("x"), object{"description": strings.Repeat("x", 2049)}), "at most 2048 characters, got 2049"},
		"category":       {with(aTemplate("x"), object{"category": "other"}), "category must be one of"},
		"unknown member": {with(aTemplate("x"), object{"workspaceId": events.DefaultWorkspace}), "workspaceId is unknown"},
		"traceset":       {with(aTemplate("x"), object{"activeTraceset": object{"id": events.NewID(events.TracesetPrefix)}}), "activeTraceset is unknown"},
		"a name twice":   {with(aTemplate("x"), object{"containers": []object{{"type": "rack", "model": "leaf-rack-v1", "version": "1.0.0", "name": "leaf"}}}), "'leaf' is taken"},
		"tiers":          {with(aTemplate("x"), object{"topology": object{"type": "clos", "topologyTiers": 4, "components": []object{}}}), "topology.topologyTiers must"},
		"not an object":  {[]byte(`[]`), "object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			user := p.User(t, servicetest.NewAccount())
			if message := user.Post(templates, c.body).Refused(400, "VALIDATION_ERROR"); !strings.Contains(message, c.want) {
				t.Errorf("got the message %q, want %q in it", message, c.want)
			}
		})
	}
	p.Bearer(t, "").Post(templates, aTemplate("x")).Refused(401, "UNAUTHORIZED")
	p.Client(t, devissuer.Options{Service: true, User: "robot", Account: "*"}).Post(templates, aTemplate("x")).Refused(403, "FORBIDDEN")
	user.Post(templates, aTemplate("x"), servicetest.Header{Name: "Content-Type", Value: "text/plain"}).Refused(415, "UNSUPPORTED_MEDIA_TYPE")
	user.Post(templates, []byte(`{"name":"`+strings.Repeat("x", 9<<20)+`"}`)).Refused(413, "PAYLOAD_TOO_LARGE")
}

func TestCloneTemplate(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	id := p.User(t, servicetest.NewAccount()).Post(templates, aTemplate("original")).Want(201).Object()["id"].(string)
	account := servicetest.NewAccount()
	workspace := newWorkspace(t, p.Service(t, account), "mine")
	user := p.User(t, account)
	path := templates + "/" + id + "/clone"

	made := user.Post(path, object{"name": "copy", "workspaceId": workspace}, key("k")).Want(201)
	copied := made.Object()
	if made.Header.Get("Location") != configurations+"/"+copied["id"].(string) || made.Header.Get("ETag") != `"1"` {
		t.Errorf("got the headers %v, want the Location and the entity tag of the new resource", made.Header)
	}
	if copied["name"] != "copy" || copied["workspaceId"] != workspace || copied["status"] != "draft" ||
		copied["version"] != 1.0 || copied["parentConfigurationId"] != id || copied["id"] == id {
		t.Errorf("got %v, want draft 1 in the requested workspace", copied)
	}
	original := user.Get(configurations + "/" + id).Want(200).Object()
	if diff := gocmp.Diff(documentOf(original), documentOf(copied)); diff != "" || original["componentCount"] != copied["componentCount"] {
		t.Errorf("got %v components, want %v; document (-original +clone):\n%s", copied["componentCount"], original["componentCount"], diff)
	}
	if again := user.Post(path, object{"name": "copy", "workspaceId": workspace}, key("k")).Want(201).Object(); again["id"] != copied["id"] {
		t.Error("the repetition made another configuration")
	}
	user.Post(path, object{"name": "other", "workspaceId": workspace}, key("k")).Refused(422, "UNPROCESSABLE_ENTITY")
	other := user.Post(templates, aTemplate("original")).Want(201).Object()["id"].(string)
	if elsewhere := user.Post(templates+"/"+other+"/clone", object{"name": "copy", "workspaceId": workspace}, key("k")).Want(201).Object(); elsewhere["id"] == copied["id"] {
		t.Error("the same key on another template returned the first clone")
	}
	if plain := user.Post(path, object{"name": "copy"}).Want(201).Object(); plain["workspaceId"] != events.DefaultWorkspace {
		t.Errorf("got the workspace %v, want the default one", plain["workspaceId"])
	}
	// The clone belongs only to its account, and can be changed.
	p.User(t, servicetest.NewAccount()).Get(configurations+"/"+copied["id"].(string)).Refused(404, "NOT_FOUND")
	user.Delete(configurations + "/" + copied["id"].(string)).Want(204)
	user.Get(templates + "/" + id).Want(200)
}

func TestCloneTemplateRefusals(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	user := p.User(t, account)
	path := templates + "/" + user.Post(templates, aTemplate("original")).Want(201).Object()["id"].(string) + "/clone"
	workspace := newWorkspace(t, p.Service(t, account), "mine")
	theirs := newWorkspace(t, p.Service(t, servicetest.NewAccount()), "theirs")
	plain := user.Post(configurations, oneRack("no template")).Want(201).Object()["id"].(string)
	body := object{"name": "copy"}

	for name, c := range map[string]struct {
		body any
		want string
	}{
		"no name":                {object{}, "name is required"},
		"empty name":             {object{"name": ""}, "name must"},
		"long name":              {object{"name": strings.Repeat("x", 256)}, "name must"},
		"unknown member":         {object{"name": "x", "version": 1}, "version is unknown"},
		"malformed workspace":    {object{"name": "x", "workspaceId": "x"}, "workspaceId must"},
		"the template workspace": {object{"name": "x", "workspaceId": events.TemplateWorkspace}, "template workspace"},
	} {
		if message := user.Post(path, c.body).Refused(400, "VALIDATION_ERROR"); !strings.Contains(message, c.want) {
			t.Errorf("%s: got the message %q, want %q in it", name, message, c.want)
		}
	}
	user.Post(templates+"/config_x/clone", body).Refused(400, "VALIDATION_ERROR")
	user.Post(templates+"/"+events.NewID(events.ConfigurationPrefix)+"/clone", body).Refused(404, "NOT_FOUND")
	user.Post(templates+"/"+plain+"/clone", body).Refused(404, "NOT_FOUND")
	user.Post(path, object{"name": "x", "workspaceId": events.NewID(events.WorkspacePrefix)}).Refused(404, "NOT_FOUND")
	user.Post(path, object{"name": "x", "workspaceId": theirs}).Refused(404, "NOT_FOUND")
	p.User(t, account, theirs).Post(path, object{"name": "x", "workspaceId": workspace}).Refused(403, "FORBIDDEN")
	p.Client(t, devissuer.Options{Service: true, User: "robot", Account: "*"}).Post(path, body).Refused(403, "FORBIDDEN")
	p.Bearer(t, "").Post(path, body).Refused(401, "UNAUTHORIZED")
	user.Post(path, body, servicetest.Header{Name: "Content-Type", Value: "text/plain"}).Refused(415, "UNSUPPORTED_MEDIA_TYPE")
	user.Post(path, []byte(`{"name":"`+strings.Repeat("x", 9<<20)+`"}`)).Refused(413, "PAYLOAD_TOO_LARGE")
}

// TestCuratedTemplates: a new account can clone, validate and run every curated
// template. The simulated times differ as the descriptions of the templates say.
func TestCuratedTemplates(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	curated, err := presets.Curated()
	if err != nil {
		t.Fatal(err)
	}
	user := p.User(t, funded(t, p))
	runs := make(map[string]string, len(curated))
	for _, c := range curated {
		runs[c.Name] = startClone(t, user, c)
	}
	took := map[string]time.Duration{}
	for name, id := range runs {
		done := awaitStatus(user, id, "completed", "failed", "invalid")
		if done["status"] != "completed" {
			t.Fatalf("%s: got %v in the end, want completed", name, done)
		}
		text, _ := done["metrics"].(object)["simulatedTime"].(string)
		if took[name], err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	faster := func(names ...string) {
		for _, pair := range slices.Collect(slices.Chunk(names, 2)) {
			if took[pair[0]] == 0 || took[pair[0]] >= took[pair[1]] {
				t.Errorf("%s took %s, want less than %s, which took %s", pair[0], took[pair[0]], pair[1], took[pair[1]])
			}
		}
	}
	faster("Leaf-spine, 64 servers, non-blocking", "Leaf-spine, 64 servers, 2:1 oversubscribed")
	faster("Leaf-spine, 64 servers, 2:1 oversubscribed", "Leaf-spine, 64 servers, 4:1 oversubscribed")
	faster("Leaf-spine, 256 servers, packet spraying", "Leaf-spine, 256 servers")
}

// startClone clones the template, validates the clone and starts it.
func startClone(t *testing.T, user *servicetest.Client, c presets.Template) string {
	t.Helper()
	var found struct {
		Templates []struct{ ID, Name, Description, Category string }
	}
	user.Get(templates + "?limit=100&category=" + c.Category).Want(200).Into(&found)
	i := slices.IndexFunc(found.Templates, func(f struct{ ID, Name, Description, Category string }) bool {
		return f.Name == c.Name && f.Description == c.Description
	})
	if i < 0 {
		t.Fatalf("the template %s is not in the list %+v", c.Name, found)
	}
	copied := user.Post(templates+"/"+found.Templates[i].ID+"/clone", object{"name": c.Name}).Want(201).Object()
	if copied["activeTraceset"].(object)["name"] != c.Workload.Name {
		t.Errorf("%s: got the traceset %v", c.Name, copied["activeTraceset"])
	}
	id := copied["id"].(string)
	report := user.Post(configurations+"/"+id+"/validate", nil).Want(200).Object()
	if report["status"] != "valid" {
		t.Errorf("%s: got the report %v, want valid", c.Name, report)
	}
	return user.Post(simulations, object{"configurationId": id, "name": "curated", "duration": "10s"}).Want(201).Object()["id"].(string)
}

// TestPublicTracesets: every account can attach the traceset of a curated template
// to a configuration of its own.
func TestPublicTracesets(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, servicetest.NewAccount())
	var found struct{ Templates []struct{ ID string } }
	user.Get(templates + "?search=single%20rack").Want(200).Into(&found)
	traceset := user.Get(templates + "/" + found.Templates[0].ID).Want(200).Object()["configuration"].(object)["activeTraceset"].(object)["id"]
	mine := user.Post(configurations, with(oneRack("mine"), object{"activeTraceset": object{"id": traceset}})).Want(201).Object()
	if report := user.Post(configurations+"/"+mine["id"].(string)+"/validate", nil).Want(200).Object(); report["valid"] != true {
		t.Errorf("got the report %v, want valid", report)
	}
}
